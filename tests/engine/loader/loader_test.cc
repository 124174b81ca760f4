#include "engine/loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/engine/loader/temp_folder.h"

namespace superfluid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempFolder;

constexpr char kSim[] = "engine/sim/libsuperfluid_sim.so";

TEST(LoadEngineTest, LoadsAnEngine) {
  const auto engine = LoadEngine(kSim, {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->info().name, "sim");
}

TEST(LoadEngineTest, LoadsAFileInTheCurrentFolder) {
  const TempFolder folder;
  std::filesystem::copy_file(kSim, folder.Path("libsuperfluid_here.so"));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.Path(""));
  const auto engine = LoadEngine("libsuperfluid_here.so", {});
  std::filesystem::current_path(before);
  EXPECT_TRUE(engine.ok()) << engine.status();
}

TEST(LoadEngineTest, SaysWhatTheEngineSays) {
  EngineConfig config;
  config.options = {{"bogus", "1"}};
  const absl::Status status = LoadEngine(kSim, config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("engine 'engine/sim/libsuperfluid_sim.so': create: "),
                    HasSubstr("no option \"bogus\"")));
}

TEST(LoadEngineTest, MissingFile) {
  EXPECT_EQ(LoadEngine("/no/such/engine.so", {}).status(),
            absl::NotFoundError("no engine at '/no/such/engine.so': no such file"));
}

TEST(LoadEngineTest, PathThroughAFile) {
  const TempFolder folder;
  const std::string path = folder.Write("file", "") + "/engine.so";
  EXPECT_EQ(LoadEngine(path, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST(LoadEngineTest, NotARegularFile) {
  const TempFolder folder;
  const std::string fifo = folder.Path("fifo.so");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // Must not wait for somebody to write into it.
  for (const std::string& path : {fifo, folder.Path("")}) {
    EXPECT_EQ(LoadEngine(path, {}).status(),
              absl::InvalidArgumentError("'" + path + "' is no engine: not a regular file"));
  }
}

TEST(LoadEngineTest, NotALibrary) {
  const TempFolder folder;
  const std::string text =
      folder.Write("text.so", "This is no library, whatever its name.\n" + std::string(1000, '.'));
  const std::string empty = folder.Write("empty.so", "");
  for (const std::string& path : {text, empty}) {
    const absl::Status status = LoadEngine(path, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot load engine '" + path + "': "));
  }
}

TEST(LoadEngineTest, TruncatedLibrary) {
  const TempFolder folder;
  const std::string path = folder.Path("cut.so");
  std::filesystem::copy_file(kSim, path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(path, 200);
  EXPECT_EQ(LoadEngine(path, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LoadEngineTest, LibraryThatIsNoEngine) {
  const absl::Status status =
      LoadEngine("tests/engine/abi/plugins/libsuperfluid_bad_no_symbol.so", {}).status();
  EXPECT_EQ(status,
            absl::InvalidArgumentError("'tests/engine/abi/plugins/libsuperfluid_bad_no_symbol.so' "
                                       "is no engine: it has no symbol superfluid_engine_entry"));
}

}  // namespace
}  // namespace superfluid
