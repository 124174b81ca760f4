#ifndef SUPERFLUID_ACTORS_MESSAGES_LIMITS_H_
#define SUPERFLUID_ACTORS_MESSAGES_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "protocol/frames/frame.h"

namespace superfluid {

// Every number that bounds what one peer makes the worker hold, beside the sentence of
// protocol/CONTRACT.md that it keeps. Everything that a link holds is counted by one of them.

// ---- Frames that came and have not been let go of (ALWAYS-4)

inline constexpr uint32_t kFrameCredit = 256;                   // CHAN-12: 256 waiting messages
inline constexpr uint32_t kUrgentCredit = 32;                   // PING and cancels, beside those
inline constexpr uint64_t kByteCredit = uint64_t{16} << 20;     // payloads of all of them
inline constexpr size_t kSmallPayloadBytes = size_t{64} << 10;  // larger ones hold credit till used
inline constexpr size_t kDecodeHereBytes = size_t{256} << 10;   // larger ones block `link` too long

// ---- Frames that go out (ALWAYS-4, ALWAYS-5)

inline constexpr uint32_t kUnsentReplies = 64;                 // beyond: requests are not read
inline constexpr uint64_t kUnsentBytes = uint64_t{512} << 20;  // beyond: the link ends
inline constexpr size_t kDroppableBytes = size_t{256} << 10;   // beyond: droppable frames go
inline constexpr uint32_t kSegmentCredit = 16;                 // unwritten, of one transcription

// ---- State of a link

inline constexpr size_t kMaxBuffers = 1024;                      // ALWAYS-4: then OUT_OF_MEMORY
inline constexpr uint64_t kMaxBufferBytes = uint64_t{16} << 30;  // with the copies made of them
inline constexpr uint32_t kOpWindow = 16;                        // OP-2: further ones are BUSY

// ---- State of the worker

inline constexpr uint64_t kLiveAudioBytes = uint64_t{256} << 20;  // STT-16: unread, of all links,
                                                                  // and on its way out of buffers
// Files that a daemon names are copied into memory before the engine reads them (MODEL-9).
inline constexpr uint64_t kMaxAdapterBytes = uint64_t{4} << 30;
inline constexpr uint64_t kMaxMediaBytes = uint64_t{256} << 20;
inline constexpr uint64_t kFileCopyBytes = uint64_t{8} << 30;  // of all copies; beyond: BUSY
inline constexpr size_t kMaxNewLinks = 16;                     // HELLO is not accepted yet
inline constexpr size_t kMaxObservers = 256;                   // ROLE-4
inline constexpr size_t kMaxRoleClaims = 16;                   // that wait for the driver's place

// What one link may use, as the command line of the worker sets it.
struct LinkLimits {
  uint32_t max_frame = linkw::kDefaultMaxFrame;  // HELLO-9
  uint32_t op_window = kOpWindow;
  uint32_t max_open_requests = 1024;  // ALWAYS-4: further ones are answered BUSY
  uint32_t max_transcriptions = 256;  // open on the link, waiting ones included
  uint32_t max_releases = 1024;       // SEED_RELEASEs with the engine; then they hold frame credit
  uint32_t descriptor_credit = 256;   // CHAN-14: received and not claimed
  uint32_t unsent_replies = kUnsentReplies;
  uint64_t unsent_bytes = kUnsentBytes;
  absl::Duration hello_patience = absl::Seconds(5);       // for a HELLO that is accepted
  absl::Duration descriptor_patience = absl::Seconds(5);  // CHAN-13, CHAN-14
  absl::Duration engine_patience = absl::Minutes(10);     // for the engine to let go of a link
  absl::Duration telemetry_period = absl::Seconds(1);     // for a peer that wants telemetry
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_LIMITS_H_
