#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/token_worker.h"

// snapshot and restore.
namespace superfluid::ctl {
namespace {

using linkw::DriverMessage;
using linkw::Status;
using testing::HasSubstr;
using testing::StartsWith;

using Tokens = std::vector<linkw::Token>;

class SnapshotCommandTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    folder_ = testing::TempDir() + "/snapshot-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/talk.sfl";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string Text(const Tokens& tokens) { return {tokens.begin(), tokens.end()}; }

  // A snapshot of "hello" and `drawn` tokens after it.
  void Snapshot(int drawn = 0) {
    TokenWorker worker;
    ASSERT_EQ(RunWith(worker,
                      {"snapshot", path_, "--text", "hello", "--max-tokens", absl::StrCat(drawn)}),
              ExitCode::kOk)
        << err_.text;
  }

  // What follows "hello".
  static Tokens Continuation(size_t count) {
    return TokenWorker::Draw({'h', 'e', 'l', 'l', 'o'}, count);
  }

  std::string folder_;
  std::string path_;
};

// ---- Snapshot

TEST_F(SnapshotCommandTest, SaysWhatItWrote) {
  Snapshot();
  EXPECT_EQ(out_.text, absl::StrCat(path_, ": 5 tokens (4 in the state), 2 state spaces, 352 B\n"));
  EXPECT_EQ(err_.text, "");
}

TEST_F(SnapshotCommandTest, ASnapshotWhosePlaceWasTakenStaysBesideIt) {
  TokenWorker::Script script;
  script.change_sealed = [this](std::string&) { std::ofstream(path_) << "somebody else's"; };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"snapshot", path_, "--text", "hello"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("exists; the whole snapshot is in "));
  const size_t name = err_.text.find(path_ + ".");
  ASSERT_NE(name, std::string::npos);
  const std::string beside = err_.text.substr(name, err_.text.find(';', name) - name);
  EXPECT_EQ(Run({"restore", beside, "--show"}), ExitCode::kOk) << err_.text;
}

TEST_F(SnapshotCommandTest, AFolderThatTakesNoFileIsFoundBeforeTheWork) {
  EXPECT_EQ(Run({"--connect", "/nowhere", "snapshot", folder_ + "/none/x", "--text", "hello"}),
            ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("/none/x: No such file or directory"));
}

TEST_F(SnapshotCommandTest, SaysItAsJson) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"snapshot", path_, "--prompt", "1,2,3,4", "--json"}), ExitCode::kOk)
      << err_.text;
  EXPECT_EQ(LastLine()["tokens"], 4);
  EXPECT_EQ(LastLine()["position"], 4);
  EXPECT_EQ(LastLine()["sealed_bytes"], 2 * (160 + 16));
  EXPECT_EQ(LastLine()["tokens_are_bytes"], false);
}

TEST_F(SnapshotCommandTest, UsesMemoryOfTheWorkersAndReleasesIt) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"snapshot", path_, "--prompt", "1,2,3,4"}), ExitCode::kOk);
  worker.worker.WaitForDisconnect();
  int allocated = 0;
  int released = 0;
  for (const DriverMessage& message : worker.worker.messages()) {
    if (std::holds_alternative<linkw::BufAlloc>(message)) ++allocated;
    if (std::holds_alternative<linkw::BufRelease>(message)) ++released;
  }
  EXPECT_EQ(allocated, 2);
  EXPECT_EQ(released, 2);
}

TEST_F(SnapshotCommandTest, DoesNotReplaceAFileUnlessForced) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(Run({"--connect", "/nowhere", "snapshot", path_, "--prompt", "1"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("talk.sfl exists; --force replaces it"));
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"snapshot", path_, "--prompt", "1,2,3,4", "--force"}), ExitCode::kOk);
}

TEST_F(SnapshotCommandTest, ReplacesRegularFilesOnly) {
  const std::string precious = folder_ + "/precious";
  const std::string fifo = folder_ + "/fifo";
  const std::string link = folder_ + "/link";
  const std::string dangling = folder_ + "/dangling";
  std::ofstream(precious) << "precious";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_symlink(precious, link);
  std::filesystem::create_symlink(folder_ + "/none", dangling);
  for (const std::string& path : {fifo, link, dangling, folder_}) {
    for (const bool force : {false, true}) {
      std::vector<std::string> arguments = {"--connect", "/nowhere", "snapshot",
                                            path,        "--prompt", "1"};
      if (force) arguments.emplace_back("--force");
      EXPECT_EQ(Run(arguments), ExitCode::kFailed);
      EXPECT_THAT(err_.text, StartsWith("superfluidctl: " + path + " is not a regular file"));
      EXPECT_THAT(err_.text, testing::Not(HasSubstr("--force")));
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_symlink(dangling));
  EXPECT_EQ(std::filesystem::file_size(precious), 8u);
}

TEST_F(SnapshotCommandTest, ReportsUsageErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {path_},
                                             {"", "--prompt", "1"},
                                             {path_, "--prompt", "1", "--text", "a"},
                                             {path_, "--prompt", "x"},
                                             {path_, "--prompt", "1", "--top-p", "7"}}) {
    std::vector<std::string> all = {"--connect", "/nowhere", "snapshot"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(Run(all), ExitCode::kUsage) << testing::PrintToString(all);
  }
}

TEST_F(SnapshotCommandTest, ExplainsThatASequenceCannotBeNamed) {
  EXPECT_EQ(Run({"--connect", "/nowhere", "snapshot", "17", path_, "--prompt", "1"}),
            ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("belongs to the link that made it"));
  EXPECT_EQ(Run({"snapshot", "--help"}), ExitCode::kOk);
  EXPECT_THAT(out_.text, HasSubstr("'snapshot SEQ FILE'"));
}

TEST_F(SnapshotCommandTest, WritesNothingIfTheWorkerFails) {
  struct Case {
    TokenWorker::Script script;
    std::string says;
  };
  std::vector<Case> cases(4);
  cases[0].script.instead = [](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (!std::holds_alternative<linkw::StateOpSubmit>(message)) return false;
    link.Send(linkw::StateOpAccepted{Status::kBusy, "16 are open", {}}, seq);
    return true;
  };
  cases[0].says = "snapshot: BUSY: 16 are open";
  cases[1].script.instead = [](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (!std::holds_alternative<linkw::BufAlloc>(message)) return false;
    link.Send(linkw::BufAlloced{Status::kOutOfMemory, "no more", {}, 0}, seq);
    return true;
  };
  cases[1].says = "snapshot: OUT_OF_MEMORY: no more";
  cases[2].script.change_sealed = [](std::string& sealed) { sealed[20] ^= 1; };
  cases[2].says = "the envelope is damaged";
  cases[3].script.change_sealed = [](std::string& sealed) { sealed.back() ^= 1; };
  cases[3].says = "the payload is damaged";
  for (const Case& test : cases) {
    TokenWorker worker(test.script);
    EXPECT_EQ(RunWith(worker, {"snapshot", path_, "--prompt", "1,2,3,4"}), ExitCode::kFailed);
    EXPECT_THAT(err_.text, HasSubstr(test.says));
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }
}

TEST_F(SnapshotCommandTest, NeedsAnEngineWithState) {
  TokenWorker worker;
  worker.hello().state_space_descriptors.clear();
  EXPECT_EQ(RunWith(worker, {"snapshot", path_, "--prompt", "1"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("no state that can be saved"));
}

// ---- Restore

TEST_F(SnapshotCommandTest, RestoreGoesOnInAnotherWorker) {
  Snapshot(/*drawn=*/9);
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"restore", path_, "--max-tokens", "30"}), ExitCode::kOk) << err_.text;
  const Tokens all = Continuation(39);
  EXPECT_EQ(out_.text, Text(Tokens(all.begin() + 9, all.end())) + "\n");
  EXPECT_THAT(err_.text, StartsWith("30 tokens in "));
  EXPECT_EQ(worker.Plans()[0].lanes[0].input.count, 2u) << "14 tokens, 12 in the state";
}

TEST_F(SnapshotCommandTest, RestoreNeedsNoInputIfTheStateHasAll) {
  TokenWorker first;
  EXPECT_EQ(RunWith(first, {"snapshot", path_, "--prompt", "1,2,3,4"}), ExitCode::kOk);
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"restore", path_, "--max-tokens", "3", "--json", "--no-stream"}),
            ExitCode::kOk);
  EXPECT_EQ(LastLine()["lanes"][0]["tokens"], Json(TokenWorker::Draw({1, 2, 3, 4}, 3)));
  EXPECT_EQ(worker.Plans()[0].lanes[0].input, linkw::TokenSpan{});
}

TEST_F(SnapshotCommandTest, RestoreMayDrawNothing) {
  Snapshot();
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"restore", path_, "--max-tokens", "0"}), ExitCode::kOk) << err_.text;
  EXPECT_EQ(out_.text, "");
}

TEST_F(SnapshotCommandTest, ShowsAFileWithoutAWorker) {
  Snapshot();
  EXPECT_EQ(Run({"restore", path_, "--show"}), ExitCode::kOk) << err_.text;
  EXPECT_THAT(out_.text, HasSubstr("5 tokens (4 in the state)"));
  EXPECT_THAT(out_.text, HasSubstr("state space 1: tokens 0 to 4, encoding 0, 16 B\n"
                                   "    compat key 0202020202"));
  EXPECT_EQ(Run({"restore", path_, "--show", "--json"}), ExitCode::kOk);
  EXPECT_EQ(LastLine()["envelopes"][1]["space_id"], 1);
  EXPECT_EQ(LastLine()["token_ids"], Json(Tokens{'h', 'e', 'l', 'l', 'o'}));
}

TEST_F(SnapshotCommandTest, RefusesADamagedFileBeforeItConnects) {
  Snapshot();
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file << '!';
  }
  EXPECT_EQ(Run({"--connect", "/nowhere", "restore", path_}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("is no snapshot: state space 1: no sealed state: the payload"));
  std::filesystem::resize_file(path_, 100);
  EXPECT_EQ(Run({"--connect", "/nowhere", "restore", path_}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("is no snapshot: it is cut"));
  EXPECT_EQ(Run({"--connect", "/nowhere", "restore", folder_ + "/none"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("cannot read"));
}

TEST_F(SnapshotCommandTest, RefusesAnotherModel) {
  Snapshot();
  TokenWorker other;
  other.hello().state_space_descriptors[1].compat_key.fill(0x77);
  EXPECT_EQ(RunWith(other, {"restore", path_}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("was made by another model"));
  TokenWorker fewer;
  fewer.hello().state_space_descriptors.pop_back();
  EXPECT_EQ(RunWith(fewer, {"restore", path_}), ExitCode::kFailed);
  TokenWorker more;
  more.hello().state_space_descriptors.push_back(more.hello().state_space_descriptors[0]);
  more.hello().state_space_descriptors.back().space_id = linkw::SpaceId{8};
  EXPECT_EQ(RunWith(more, {"restore", path_}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("has 2 state spaces, this worker's engine has 3"));
}

TEST_F(SnapshotCommandTest, SaysWhyTheWorkerDoesNotTakeTheState) {
  Snapshot();
  TokenWorker::Script script;
  script.instead = [](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (!std::holds_alternative<linkw::StateOpSubmit>(message)) return false;
    link.Send(linkw::StateOpAccepted{Status::kOk, "", linkw::OpHandle{1}}, seq);
    link.Send(linkw::StateOpDone{linkw::OpHandle{1}, linkw::OpState::kFailed,
                                 Status::kEnvelopeMismatch, "not mine", 0},
              seq);
    return true;
  };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"restore", path_}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("talk.sfl: ENVELOPE_MISMATCH: not mine"));
}

TEST_F(SnapshotCommandTest, SaysWhyTheWorkerDoesNotTakeTheBuffer) {
  Snapshot();
  TokenWorker::Script script;
  script.instead = [](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (std::holds_alternative<linkw::BufAttach>(message)) {
      link.Send(linkw::Error{.status = Status::kOutOfMemory, .message = "too many buffers"}, seq);
      return true;
    }
    if (!std::holds_alternative<linkw::StateOpSubmit>(message)) return false;
    link.Send(linkw::StateOpAccepted{Status::kUnknownHandle, "no such buffer", {}}, seq);
    return true;
  };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"restore", path_}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("OUT_OF_MEMORY: too many buffers"));
}

TEST_F(SnapshotCommandTest, RestoreReportsUsageErrors) {
  EXPECT_EQ(Run({"restore"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"restore", "a", "b"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"restore", "a", "--temperature", "nan"}), ExitCode::kUsage);
}

}  // namespace
}  // namespace superfluid::ctl
