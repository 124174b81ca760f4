// A confined process cannot do what decoding does not need.

#include "tools/decode/sandbox.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace superfluid::decode {
namespace {

// The error number of `call` in a confined process, 0 if it succeeds there; -1: it could not be
// confined.
int ErrorInside(const std::function<bool()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    if (!Confine({}).ok()) _exit(255);
    errno = 0;
    _exit(call() ? 0 : errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return -2;
  return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

TEST(SandboxTest, LetsMemoryBeUsed) {
  EXPECT_EQ(ErrorInside([] {
              std::string large(10 << 20, 'x');
              return large[5 << 20] == 'x';
            }),
            0);
}

TEST(SandboxTest, OpensNoFile) {
  EXPECT_EQ(ErrorInside([] { return open("/etc/passwd", O_RDONLY) >= 0; }), EPERM);
}

TEST(SandboxTest, LooksAtNoFile) {
  struct stat about = {};
  EXPECT_EQ(ErrorInside([&about] { return stat("/etc/passwd", &about) == 0; }), EPERM);
}

TEST(SandboxTest, MakesNoSocket) {
  EXPECT_EQ(ErrorInside([] { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }), EPERM);
  EXPECT_EQ(ErrorInside([] { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }), EPERM);
}

TEST(SandboxTest, MakesNoProcessAndRunsNoProgram) {
  EXPECT_EQ(ErrorInside([] { return fork() >= 0; }), EPERM);
  EXPECT_EQ(ErrorInside([] { return execl("/bin/true", "true", nullptr) == 0; }), EPERM);
}

TEST(SandboxTest, SendsNoSignal) {
  EXPECT_EQ(ErrorInside([] { return kill(getppid(), 0) == 0; }), EPERM);
}

TEST(SandboxTest, ReadsNothingButItsRecording) {
  EXPECT_EQ(ErrorInside([] {
              char byte = 0;
              return read(0, &byte, 1) >= 0;
            }),
            EPERM);
  EXPECT_EQ(ErrorInside([] { return write(2, "", 0) >= 0; }), EPERM);
}

TEST(SandboxTest, HasNoExecutableMemoryOfItsOwn) {
  EXPECT_EQ(ErrorInside([] {
              return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                          0) != MAP_FAILED;
            }),
            EPERM);
}

TEST(SandboxTest, HasAnEndToItsMemory) {
  EXPECT_EQ(ErrorInside([] {
              return mmap(nullptr, size_t{1} << 30, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
            }),
            ENOMEM);
}

}  // namespace
}  // namespace superfluid::decode
