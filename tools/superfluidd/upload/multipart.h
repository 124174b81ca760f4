#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_MULTIPART_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_MULTIPART_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace superfluid::daemon {

// What the header of a part says about it.
struct PartInfo {
  std::string name;
  std::string filename;
  bool is_file = false;  // it has a filename, if only an empty one
};

// Takes the parts of a multipart body as they come. A function that returns false ends the parsing.
class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual bool OnPart(const PartInfo& part) = 0;
  // The next bytes of the part that OnPart announced last.
  virtual bool OnData(std::string_view bytes) = 0;
  virtual bool OnPartEnd() = 0;
};

// Reads multipart/form-data (RFC 7578) from a body that arrives in pieces of any size. Of what it
// is given it keeps no more than a part's header or a delimiter needs; the contents of parts pass
// through.
//
//   preamble -> [after delimiter -> part header -> contents]... -> epilogue
//
// Threads: one. Never throws for what the bytes are.
class MultipartParser {
 public:
  struct Limits {
    size_t header_bytes = 4096;  // of a part
    size_t parts = 64;
  };

  // REQUIRES: `boundary` has 1 to 70 bytes (BoundaryOf sees to it); `sink` outlives the parser.
  MultipartParser(std::string_view boundary, PartSink& sink, const Limits& limits);

  // Takes the next piece of the body. Returns false if the body is wrong or the sink refused; all
  // later calls do then.
  bool Feed(std::string_view piece);

  // Returns whether the closing delimiter was seen.
  bool done() const { return state_ == State::kEpilogue; }
  // For people; empty while nothing is wrong or the sink has a reason of its own.
  const std::string& error() const { return error_; }

 private:
  enum class State { kPreamble, kAfterDelimiter, kHeader, kContents, kEpilogue, kFailed };
  // How a step went on: it wants more bytes, may be called again, or the parsing is over.
  enum class Step { kMore, kAgain, kFailed };

  size_t Consume(std::string_view bytes);
  Step StepOnce(std::string_view bytes, size_t* used);
  Step StepPreamble(std::string_view bytes, size_t* used);
  Step StepAfterDelimiter(std::string_view bytes, size_t* used);
  Step StepHeader(std::string_view bytes, size_t* used);
  Step StepContents(std::string_view bytes, size_t* used);
  Step Fail(std::string_view why);

  const std::string delimiter_;  // with the line break before it
  PartSink& sink_;
  const Limits limits_;
  State state_ = State::kPreamble;
  PartInfo part_;
  size_t parts_ = 0;
  size_t header_seen_ = 0;  // bytes of the current part's header
  std::string kept_;        // bytes that are not decided yet
  std::string error_;
};

// Returns the boundary that a Content-Type of multipart/form-data names; nullopt if the type is
// another one, or the boundary is missing or no boundary.
std::optional<std::string> BoundaryOf(std::string_view content_type);

// Returns what a part's header line "Content-Disposition: ..." says; nullopt for any other line.
std::optional<PartInfo> ParseDisposition(std::string_view line);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_MULTIPART_H_
