#include "engine/audio/promised_length.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace superfluid {
namespace {

// Programs that write into a pipe cannot come back to fill in the length. They leave 0 or about the
// largest number that fits, with or without a sign bit and less some header.
constexpr int64_t kUnknownFrom = 0x7FFF0000;

// Chunks to look through before the samples; files have a handful.
constexpr int kMostChunks = 1000;

// At most `count` bytes; fewer at the end of the file.
std::string Bytes(ByteSource& bytes, int64_t offset, size_t count) {
  if (offset < 0 || offset >= bytes.size()) return {};
  std::string read(std::min(count, static_cast<size_t>(bytes.size() - offset)), '\0');
  read.resize(bytes.ReadAt(offset, read.data(), read.size()));
  return read;
}

// An unsigned number, of eight bytes at most; 0 if the text ends before.
uint64_t Number(std::string_view text, size_t offset, size_t count, bool big_endian) {
  uint64_t number = 0;
  if (text.size() < offset + count) return 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = offset + (big_endian ? i : count - 1 - i);
    number = number << 8U | static_cast<unsigned char>(text[at]);
  }
  return number;
}

// A chunk is an identification, its length, and so many bytes, padded.
struct ChunkFormat {
  std::string_view samples;  // how the chunk with the samples is called
  int64_t first;             // where the chunks begin
  size_t id_bytes;
  size_t length_bytes;
  bool big_endian;
  bool counts_itself;  // the length includes the identification and itself
  int64_t padded_to;
};

constexpr ChunkFormat kRiff = {"data", 12, 4, 4, false, false, 2};
constexpr ChunkFormat kRifx = {"data", 12, 4, 4, true, false, 2};
constexpr ChunkFormat kAiff = {"SSND", 12, 4, 4, true, false, 2};
constexpr ChunkFormat kW64 = {"data", 40, 16, 8, false, true, 8};

struct Samples {
  int64_t promised_bytes = 0;
  int64_t bytes_there = 0;
};

std::optional<Samples> FindSamples(ByteSource& bytes, const ChunkFormat& format) {
  const size_t header_bytes = format.id_bytes + format.length_bytes;
  int64_t offset = format.first;
  uint64_t long_length = 0;  // of the samples, in RF64's chunk for lengths that need 64 bits
  for (int i = 0; i < kMostChunks; ++i) {
    const std::string header = Bytes(bytes, offset, header_bytes);
    if (header.size() < header_bytes) break;
    uint64_t length = Number(header, format.id_bytes, format.length_bytes, format.big_endian);
    if (format.counts_itself) length -= std::min<uint64_t>(length, header_bytes);
    offset += static_cast<int64_t>(header_bytes);
    if (header.starts_with("ds64")) long_length = Number(Bytes(bytes, offset, 16), 8, 8, false);
    if (header.starts_with(format.samples)) {
      if (length == 0xFFFFFFFF && long_length > 0) {
        length = long_length;
      } else if (length == 0 || (format.length_bytes == 4 && length >= kUnknownFrom)) {
        break;
      }
      const auto most = static_cast<uint64_t>(INT64_MAX);
      return Samples{static_cast<int64_t>(std::min(length, most)), bytes.size() - offset};
    }
    if (length > static_cast<uint64_t>(bytes.size())) break;
    const auto padding = static_cast<uint64_t>(format.padded_to);
    offset += static_cast<int64_t>((length + padding - 1) / padding * padding);
  }
  return std::nullopt;
}

std::optional<Samples> FindAuSamples(ByteSource& bytes) {
  const std::string header = Bytes(bytes, 0, 12);
  const auto offset = static_cast<int64_t>(Number(header, 4, 4, true));
  const auto length = static_cast<int64_t>(Number(header, 8, 4, true));
  if (length == 0 || length >= kUnknownFrom || offset >= bytes.size()) return std::nullopt;
  return Samples{length, bytes.size() - offset};
}

// The promise in proportion, which holds for samples of any size and for packed ones. Headers that
// are wrong by a few bytes are common and harmless: what is less than 10 ms is not held against a
// file.
PromisedLength FromSamples(const std::optional<Samples>& samples, int64_t frames_there,
                           int rate_hz) {
  PromisedLength promised;
  if (!samples.has_value() || samples->bytes_there <= 0 ||
      samples->promised_bytes <= samples->bytes_there) {
    return promised;
  }
  const double share =
      static_cast<double>(samples->promised_bytes) / static_cast<double>(samples->bytes_there);
  const double frames = std::min(static_cast<double>(frames_there) * share, 9e18);
  if (frames - static_cast<double>(frames_there) >= rate_hz / 100.0) {
    promised.frames = static_cast<int64_t>(frames);
  }
  return promised;
}

// Each page begins with "OggS", a version of 0, and flags, of which 4 marks the last page of a
// stream; at 26 is the number of entries of a table, whose sum is the length of the page's body.
// Some writers never mark a last page, so a file that ends with a whole one is taken to be whole.
bool OggEndsEarly(ByteSource& bytes) {
  constexpr int64_t tail_bytes = int64_t{128} << 10;  // a page has 65307 bytes at most
  constexpr size_t header_bytes = 27;
  const std::string tail =
      Bytes(bytes, std::max<int64_t>(bytes.size() - tail_bytes, 0), tail_bytes);
  const size_t begin = tail.rfind(std::string_view("OggS\0", 5));
  if (begin == std::string::npos) return false;
  const std::string_view page = std::string_view(tail).substr(begin);
  if (page.size() < header_bytes) return true;
  const auto entries = static_cast<size_t>(static_cast<unsigned char>(page[26]));
  if (page.size() < header_bytes + entries) return true;
  size_t length = header_bytes + entries;
  for (size_t i = 0; i < entries; ++i) length += static_cast<unsigned char>(page[header_bytes + i]);
  const bool is_last = (static_cast<unsigned char>(page[5]) & 4U) != 0;
  return page.size() < length || (page.size() > length && !is_last);
}

// Whether the first frame of an mp3, which holds no audio then, says how many there are.
bool Mp3SaysItsLength(ByteSource& bytes) {
  const std::string start = Bytes(bytes, AfterId3Tags(bytes), 4096);
  for (size_t at = 0; at + 4 < start.size(); ++at) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(start[at + i]); };
    const bool is_frame = byte(0) == 0xFF && (byte(1) & 0xE6U) == 0xE2 && (byte(2) & 0xF0U) != 0xF0;
    if (!is_frame) continue;
    const std::string_view frame = std::string_view(start).substr(at);
    if (frame.size() > 40 && frame.substr(36, 4) == "VBRI") return true;
    // After the header, perhaps a checksum, and the side information, whose length is one of these.
    for (const size_t side : {9U, 17U, 32U}) {
      for (const size_t at_name : {4 + side, 6 + side}) {
        if (frame.size() < at_name + 8) continue;
        const std::string_view name = frame.substr(at_name, 4);
        const bool has_frames = (frame[at_name + 7] & 1) != 0;
        if ((name == "Xing" || name == "Info") && has_frames) return true;
      }
    }
    return false;
  }
  return false;
}

PromisedLength FromMp3(ByteSource& bytes, int64_t frames_there) {
  // What encoders add at both ends is taken off by the decoder, exactly only where they say how
  // much.
  constexpr int64_t slack_frames = int64_t{4} * 1152;
  PromisedLength promised;
  if (Mp3SaysItsLength(bytes)) promised = {.frames = frames_there, .slack_frames = slack_frames};
  return promised;
}

// What may follow the samples of a wav; their lengths are often wrong.
bool IsKnownChunk(std::string_view id) {
  constexpr std::array<std::string_view, 20> known = {
      "LIST", "id3 ", "ID3 ", "bext", "fact", "cue ", "smpl", "PAD ", "JUNK", "junk",
      "FLLR", "iXML", "axml", "_PMX", "plst", "inst", "PEAK", "DISP", "acid", "cart"};
  return std::find(known.begin(), known.end(), id) != known.end();
}

// Whether chunks follow at `offset`, up to the end.
bool AreChunks(ByteSource& bytes, int64_t offset, bool big_endian) {
  constexpr int64_t header_bytes = 8;
  for (int i = 0; i < kMostChunks && offset + header_bytes < bytes.size(); ++i) {
    const std::string header = Bytes(bytes, offset, header_bytes);
    const std::string_view id = std::string_view(header).substr(0, 4);
    const bool is_text =
        std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (header.size() < header_bytes || !is_text) return false;
    if (IsKnownChunk(id)) return true;
    const auto length = static_cast<int64_t>(Number(header, 4, 4, big_endian));
    offset += header_bytes + length + length % 2;
  }
  return offset <= bytes.size() + 1;
}

bool IsTag(ByteSource& bytes, int64_t offset) {
  const std::string head = Bytes(bytes, offset, 8);
  const auto begins = [&head](std::string_view magic) { return head.starts_with(magic); };
  return begins("ID3") || begins("TAG") || begins("APETAGEX");
}

}  // namespace

int64_t AfterId3Tags(ByteSource& bytes) {
  int64_t offset = 0;
  for (int i = 0; i < kMostChunks; ++i) {
    const std::string tag = Bytes(bytes, offset, 10);
    if (tag.size() < 10 || !tag.starts_with("ID3")) break;
    int64_t length = 0;
    for (size_t at = 6; at < 10; ++at) length = length << 7 | (tag[at] & 0x7F);
    const bool has_footer = (tag[5] & 0x10) != 0;
    offset += 10 + length + (has_footer ? 10 : 0);
  }
  return offset;
}

std::optional<int64_t> FindUnderstatedLength(ByteSource& bytes) {
  constexpr int64_t few_bytes = 1024;  // that follow are not worth a look
  const std::string head = Bytes(bytes, 0, 4);
  const bool big_endian = head == "RIFX";
  if (head != "RIFF" && !big_endian) return std::nullopt;
  int64_t offset = kRiff.first;
  for (int i = 0; i < kMostChunks; ++i) {
    const std::string header = Bytes(bytes, offset, 8);
    if (header.size() < 8) return std::nullopt;
    const auto length = static_cast<int64_t>(Number(header, 4, 4, big_endian));
    const int64_t end = offset + 8 + length;
    if (header.starts_with("data")) {
      if (end + few_bytes > bytes.size() || IsTag(bytes, end) || IsTag(bytes, end + length % 2) ||
          AreChunks(bytes, end, big_endian) || AreChunks(bytes, end + length % 2, big_endian)) {
        return std::nullopt;
      }
      return offset + 4;
    }
    offset = end + length % 2;
  }
  return std::nullopt;
}

PromisedLength ReadPromisedLength(ByteSource& bytes, int64_t frames_there, int rate_hz) {
  const std::string head = Bytes(bytes, 0, 16);
  const auto begins = [&head](std::string_view magic) { return head.starts_with(magic); };
  const auto samples_in = [&](const ChunkFormat& format) {
    return FromSamples(FindSamples(bytes, format), frames_there, rate_hz);
  };
  if (begins("RIFF") || begins("RF64")) return samples_in(kRiff);
  if (begins("RIFX")) return samples_in(kRifx);
  if (begins("riff")) return samples_in(kW64);
  if (begins("FORM")) return samples_in(kAiff);
  if (begins(".snd")) return FromSamples(FindAuSamples(bytes), frames_there, rate_hz);
  if (begins("OggS")) return {.ends_early = OggEndsEarly(bytes)};
  const bool is_mp3 =
      begins("ID3") || (head.size() > 1 && head[0] == '\xFF' && (head[1] & 0xE6) == 0xE2);
  return is_mp3 ? FromMp3(bytes, frames_there) : PromisedLength{};
}

}  // namespace superfluid
