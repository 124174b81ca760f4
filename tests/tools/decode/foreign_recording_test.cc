#include "tools/decode/foreign_recording.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace superfluid::decode {
namespace {

TEST(ForeignRecordingTest, TellsWhatTheWorkerDoesNotRead) {
  std::string transport(200, 'x');
  transport[0] = transport[188] = 'G';
  for (const std::string_view foreign :
       {std::string_view("\0\0\0\x20"
                         "ftypM4A ",
                         12),
        std::string_view("\x1A\x45\xDF\xA3 webm"), std::string_view("#!AMR\n"),
        std::string_view("\x30\x26\xB2\x75\x8E\x66\xCF\x11 asf"),
        std::string_view("RIFF1234AVI LIST"), std::string_view("\xFF\xF1 adts"),
        std::string_view(transport)}) {
    EXPECT_TRUE(IsForeignRecording(foreign)) << foreign;
  }
  for (const std::string_view ours :
       {std::string_view("RIFF1234WAVEfmt "), std::string_view("fLaC"), std::string_view("OggS"),
        std::string_view("ID3\x03"), std::string_view("\xFF\xFB mp3"), std::string_view(),
        std::string_view("\xFF"), std::string_view("GG"), std::string_view("samples")}) {
    EXPECT_FALSE(IsForeignRecording(ours)) << ours;
  }
}

}  // namespace
}  // namespace superfluid::decode
