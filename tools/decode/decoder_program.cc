#include "tools/decode/decoder_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace superfluid::decode {
namespace {

constexpr char kProgram[] = "superfluid_decode";
constexpr char kInRunfiles[] = "/superfluid/tools/decode/superfluid_decode";

std::vector<std::string> Places() {
  if (const char* named = std::getenv("SUPERFLUID_DECODER")) return {named};
  std::vector<std::string> places;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.push_back((self.parent_path() / kProgram).string());
    places.push_back(absl::StrCat(self.string(), ".runfiles", kInRunfiles));
  }
  if (const char* runfiles = std::getenv("RUNFILES_DIR")) {
    places.push_back(absl::StrCat(runfiles, kInRunfiles));
  }
  return places;
}

}  // namespace

absl::StatusOr<std::string> FindDecoder() {
  const std::vector<std::string> places = Places();
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return absl::NotFoundError(absl::StrCat("there is no ", kProgram, " (looked for ",
                                          absl::StrJoin(places, ", "),
                                          "); SUPERFLUID_DECODER may name it"));
}

}  // namespace superfluid::decode
