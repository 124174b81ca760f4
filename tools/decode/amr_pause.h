#ifndef SUPERFLUID_TOOLS_DECODE_AMR_PAUSE_H_
#define SUPERFLUID_TOOLS_DECODE_AMR_PAUSE_H_

struct AVCodecContext;
struct AVFrame;
struct AVPacket;

namespace superfluid::decode {

// Telephones send less while nobody speaks (DTX), which libav's decoders of AMR take for damage.
// Whether `packet`, of the stream that `decoder` is for, is such a pause.
bool IsAmrPause(const AVCodecContext& decoder, const AVPacket& packet);

// Makes `frame` the 20 ms of silence that a pause stands for, stamped as `packet` is. A negative
// error code of libav if there is no memory.
int MakeAmrPause(const AVCodecContext& decoder, const AVPacket& packet, AVFrame* frame);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_AMR_PAUSE_H_
