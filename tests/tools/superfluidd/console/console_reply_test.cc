#include "tools/superfluidd/console/console_reply.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/superfluidd/console/console_files.h"

namespace superfluid::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string HeaderOf(const HttpReply& reply, std::string_view name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "";
}

HttpReply Get(const std::string& target, HeaderList headers = {}) {
  const std::optional<HttpReply> reply =
      ConsoleReply({.method = "GET", .target = target, .headers = std::move(headers)});
  EXPECT_TRUE(reply.has_value()) << target;
  return reply.value_or(HttpReply{});
}

TEST(ConsoleReplyTest, IsThePageAtTheRoot) {
  const HttpReply reply = Get("/");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("<!doctype html>"));
  EXPECT_EQ(Get("/?theme=dark").body, reply.body);
}

// What the page asks for is there, with a type that a browser takes under nosniff.
TEST(ConsoleReplyTest, HasEveryFileThatAFileNames) {
  for (const ConsoleFile& file : ConsoleFiles()) {
    const std::string text(file.content);
    for (size_t at = 0; (at = text.find("\"/console/", at)) != std::string::npos; ++at) {
      Get(text.substr(at + 1, text.find('"', at + 1) - at - 1));
    }
    for (size_t at = 0; (at = text.find("from \"./", at)) != std::string::npos; ++at) {
      const size_t start = at + 8;
      const HttpReply module = Get("/console/" + text.substr(start, text.find('"', start) - start));
      EXPECT_EQ(module.content_type, "text/javascript; charset=utf-8");
    }
  }
  EXPECT_EQ(Get("/console/style.css").content_type, "text/css; charset=utf-8");
  EXPECT_EQ(Get("/console/icon.png").content_type, "image/png");
  EXPECT_EQ(Get("/console/icon.png").body.substr(1, 3), "PNG");
}

TEST(ConsoleReplyTest, IsNothingForOtherNames) {
  for (const char* target : {"/console", "/console/", "/console/../main.cc", "/console/none.js",
                             "/index.html", "/console/main.js/", "/console//main.js"}) {
    EXPECT_FALSE(ConsoleReply({.method = "GET", .target = target}).has_value()) << target;
  }
}

TEST(ConsoleReplyTest, AllowsNothingFromElsewhere) {
  const HttpReply reply = Get("/");
  const std::string policy = HeaderOf(reply, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, Not(HasSubstr("*")));
  EXPECT_EQ(HeaderOf(reply, "X-Content-Type-Options"), "nosniff");
  for (const ConsoleFile& file : ConsoleFiles()) {
    EXPECT_THAT(std::string(file.content), Not(HasSubstr("://"))) << file.name;
  }
}

// Else the policy would stop it.
TEST(ConsoleReplyTest, HasNoInlineScriptOrStyle) {
  const std::string page = Get("/").body;
  EXPECT_THAT(page, Not(HasSubstr("style=")));
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  EXPECT_THAT(page, Not(HasSubstr("onclick")));
  EXPECT_THAT(page, HasSubstr("<script type=\"module\" src=\"/console/main.js\"></script>"));
}

TEST(ConsoleReplyTest, IsSentOnce) {
  const std::string tag = HeaderOf(Get("/console/main.js"), "ETag");
  ASSERT_GT(tag.size(), 10u);
  const HttpReply again = Get("/console/main.js", {{"If-None-Match", tag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(HeaderOf(again, "ETag"), tag);
  EXPECT_EQ(Get("/console/main.js", {{"If-None-Match", "\"other\""}}).status, 200);
}

}  // namespace
}  // namespace superfluid::daemon
