// A request of HTTP/1.1: however it is cut, its head and its body are the same.

#include <string>

#include "tests/fuzz/in_pieces.h"
#include "tests/fuzz/target.h"
#include "tools/superfluidd/http/request_parser.h"

namespace superfluid::fuzz {
namespace {

// Whether a head that is hardly too large is refused depends on the pieces.
constexpr size_t kNoLimit = size_t{1} << 24;

// A request as it came, and what of the input follows it.
std::string ReadRequest(std::string_view bytes, size_t piece) {
  daemon::RequestParser parser({.head_bytes = kNoLimit, .body_bytes = 2000});
  std::string body;
  std::string kept;
  const auto over = [&] {
    return parser.done() || parser.problem() != daemon::ParseProblem::kNone;
  };
  FeedInPieces(bytes, piece, [&](std::string_view part) {
    kept += part;
    for (bool more = true; more && !over() && !kept.empty();) {
      const bool had_head = parser.head_done();
      const size_t used = parser.Consume(kept, [&](std::string_view of_body) {
        body += of_body;
        return true;
      });
      Require(used <= kept.size());
      kept.erase(0, used);
      more = used > 0 || had_head != parser.head_done();
    }
  });
  Require(body.size() <= 2000);
  Require(parser.problem() == daemon::ParseProblem::kNone || !parser.problem_text().empty());
  // Whether a fault is seen before the line that has it is complete depends on the pieces.
  if (!parser.head_done()) return "no head";
  const daemon::RequestHead& head = parser.head();
  std::string told = head.method + " " + head.target + "\n";
  for (const auto& [name, value] : head.headers) {
    told.append(name).append(": ").append(value).append("\n");
  }
  return parser.done() ? told + body + "|" + kept : told;
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  RequireSame([bytes](size_t piece) { return ReadRequest(bytes, piece); });
}

}  // namespace superfluid::fuzz
