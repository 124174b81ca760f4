// A multipart body with the boundary "xyz": however it is cut, its parts are the same.

#include <string>

#include "tests/fuzz/in_pieces.h"
#include "tests/fuzz/target.h"
#include "tools/superfluidd/upload/multipart.h"

namespace superfluid::fuzz {
namespace {

// What a parser has told, as a text: the bytes of one thing may come in several calls.
class Parts final : public daemon::PartSink {
 public:
  bool OnPart(const daemon::PartInfo& part) override {
    told += "<" + part.name + "|" + part.filename + (part.is_file ? "|file>" : ">");
    return true;
  }
  bool OnData(std::string_view bytes) override {
    told += bytes;
    return true;
  }
  bool OnPartEnd() override {
    told += "</>";
    return true;
  }
  std::string told;
};

}  // namespace

void FuzzOne(std::string_view bytes) {
  RequireSame([bytes](size_t piece) {
    Parts parts;
    daemon::MultipartParser parser("xyz", parts, {.header_bytes = 200, .parts = 8});
    bool good = true;
    FeedInPieces(bytes, piece, [&](std::string_view part) { good = parser.Feed(part); });
    Require(good || !parser.error().empty());
    // What came before the fault depends on the pieces.
    return good ? parts.told + (parser.done() ? "|done" : "") : "wrong";
  });
  const auto boundary = daemon::BoundaryOf(bytes);
  Require(!boundary.has_value() || (!boundary->empty() && boundary->size() <= 70));
  (void)daemon::ParseDisposition(bytes);
}

}  // namespace superfluid::fuzz
