#include "engine/loader/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/engine/loader/temp_folder.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TempFolder;

TEST(ResolveEngineTest, APathIsItself) {
  EXPECT_EQ(*ResolveEngine("/no/such/file.so", {}), "/no/such/file.so");
  EXPECT_EQ(*ResolveEngine("./x.so", {}), "./x.so");
}

TEST(ResolveEngineTest, TheFolderOfAnEngineIsToldWhatToTypeInstead) {
  const TempFolder folder;
  folder.Write("a/libsuperfluid_mine.so", "");
  const absl::Status status = ResolveEngine(folder.Path("a"), {}).status();
  EXPECT_EQ(status, absl::InvalidArgumentError(
                        "'" + folder.Path("a") +
                        "' is a folder, which holds mine. Give --engine the path of a library, or "
                        "name the folder with --engine-dir and the engine with --engine."));
}

TEST(ResolveEngineTest, ANameIsTheFirstLibraryFound) {
  const TempFolder folder;
  folder.Write("b/libsuperfluid_sim.so", "");
  folder.Write("c/libsuperfluid_sim.so", "");
  // A folder of that name is no library.
  std::filesystem::create_directories(folder.Path("a/libsuperfluid_sim.so"));
  EXPECT_EQ(*ResolveEngine(
                "sim", {folder.Path("none"), folder.Path("a"), folder.Path("b"), folder.Path("c")}),
            folder.Path("b/libsuperfluid_sim.so"));
}

TEST(ResolveEngineTest, AnUnknownNameListsWhatThereIs) {
  const TempFolder folder;
  folder.Write("a/libsuperfluid_zeta.so", "");
  folder.Write("b/libsuperfluid_alpha.so", "");
  folder.Write("b/libsuperfluid_zeta.so", "");
  folder.Write("b/libother.so", "");
  EXPECT_EQ(ResolveEngine("sim", {folder.Path("a"), folder.Path("b")}).status(),
            absl::NotFoundError("no engine named 'sim'; there are alpha, zeta. To load another, "
                                "name its folder with --engine-dir or in $SUPERFLUID_ENGINE_PATH, "
                                "or give --engine the path of its library."));
}

TEST(ResolveEngineTest, AnUnknownNameListsWhereItLookedIfThereAreNone) {
  const TempFolder folder;
  const std::string a = folder.Path("a");
  const std::string b = folder.Path("b");
  EXPECT_EQ(ResolveEngine("sim", {a, b}).status(),
            absl::NotFoundError(
                "no engine named 'sim'; looked for libsuperfluid_sim.so in " + a + ", " + b +
                ". To load another, name its folder with --engine-dir or in "
                "$SUPERFLUID_ENGINE_PATH, or give --engine the path of its library."));
}

TEST(ResolveEngineTest, AnUnknownNameWithNowhereToLook) {
  EXPECT_EQ(
      ResolveEngine("sim", {}).status(),
      absl::NotFoundError("no engine named 'sim'; looked for libsuperfluid_sim.so in no "
                          "folder. To load another, name its folder with --engine-dir or in "
                          "$SUPERFLUID_ENGINE_PATH, or give --engine the path of its library."));
}

TEST(ResolveEngineTest, RefusesANameThatCannotBeOne) {
  for (const std::string name : {"", "a b", "..", "sim.so", "caf\xC3\xA9", "a\n"}) {
    EXPECT_EQ(ResolveEngine(name, {"."}).status().code(), absl::StatusCode::kInvalidArgument)
        << name;
  }
}

TEST(ListEnginesTest, IgnoresWhatIsNoEngine) {
  const TempFolder folder;
  folder.Write("libsuperfluid_a.so", "");
  folder.Write("libsuperfluid_.so", "");
  folder.Write("libsuperfluid_b.so.1", "");
  folder.Write("superfluid_c.so", "");
  folder.Write("libsuperfluid_d.e.so", "");
  EXPECT_THAT(ListEngines({folder.Path(""), folder.Path("none")}), ElementsAre("a"));
}

class EngineDirsTest : public ::testing::Test {
 protected:
  std::vector<std::string> Dirs(const char* engine_path, const char* runfiles_dir) {
    return EngineDirsFor({engine_path, runfiles_dir, folder_.Path("bin/worker")});
  }
  TempFolder folder_;
};

TEST_F(EngineDirsTest, NoneOfNothing) { EXPECT_THAT(Dirs(nullptr, nullptr), IsEmpty()); }

TEST_F(EngineDirsTest, TheVariableComesFirstAndIsKept) {
  folder_.Write("bin/engines/x", "");
  EXPECT_THAT(Dirs("/one::/two:/one", nullptr),
              ElementsAre("/one", "/two", folder_.Path("bin/engines")));
}

TEST_F(EngineDirsTest, AnInstallationHasThemBesideTheFolderOfTheProgram) {
  folder_.Write("lib/superfluid/engines/x", "");
  EXPECT_THAT(Dirs(nullptr, nullptr), ElementsAre(folder_.Path("lib/superfluid/engines")));
}

TEST_F(EngineDirsTest, RunfilesHaveOneFolderAnEngine) {
  folder_.Write("bin/worker.runfiles/superfluid/engine/sim/libsuperfluid_sim.so", "");
  folder_.Write("bin/worker.runfiles/superfluid/engine/abi/header.h", "");
  folder_.Write("other/superfluid/engine/ps/libsuperfluid_ps.so", "");
  EXPECT_THAT(Dirs(nullptr, folder_.Path("other").c_str()),
              ElementsAre(folder_.Path("bin/worker.runfiles/superfluid/engine/sim"),
                          folder_.Path("other/superfluid/engine/ps")));
}

TEST(DefaultEngineDirsTest, TheProgramIsFoundWithoutProc) {
  EXPECT_EQ(resolve_internal::ExecutableWithoutProc(),
            std::filesystem::read_symlink("/proc/self/exe").string());
}

// This test's own runfiles have the sim engine.
TEST(DefaultEngineDirsTest, FindsAnEngineInTheRunfiles) {
  const auto path = ResolveEngine("sim", DefaultEngineDirs());
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_TRUE(std::filesystem::exists(*path));
}

}  // namespace
}  // namespace superfluid
