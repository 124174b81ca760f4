#include "tools/superfluidd/console/console_reply.h"

#include <string>
#include <string_view>

#include "tools/superfluidd/console/console_files.h"

namespace superfluid::daemon {
namespace {

constexpr std::string_view kFolder = "/console/";

// Everything that the page uses is the daemon's own.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ConsoleFile* FindFile(std::string_view path) {
  std::string_view name;
  if (path == "/") name = "index.html";
  if (path.substr(0, kFolder.size()) == kFolder) name = path.substr(kFolder.size());
  for (const ConsoleFile& file : ConsoleFiles()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

HeaderList HeadersOf(const ConsoleFile& file) {
  return {{"ETag", std::string(file.etag)},
          {"Cache-Control", "no-cache"},  // to be asked about: a new daemon has new files
          {"Content-Security-Policy", kContentPolicy},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Permissions-Policy", "microphone=(self), camera=(), geolocation=()"}};
}

}  // namespace

std::optional<HttpReply> ConsoleReply(const RequestHead& head) {
  const ConsoleFile* file = FindFile(head.path());
  if (file == nullptr) return std::nullopt;
  HttpReply reply = {.status = 200,
                     .content_type = std::string(file->type),
                     .body = {},
                     .headers = HeadersOf(*file)};
  if (head.Header("if-none-match") == file->etag) {
    reply.status = 304;
  } else {
    reply.body = std::string(file->content);
  }
  return reply;
}

}  // namespace superfluid::daemon
