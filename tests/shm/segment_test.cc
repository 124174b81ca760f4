#include "shm/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::CountOpenFds;
using ::superfluid::testing::HasCloseOnExec;
using ::superfluid::testing::MakeMemfd;
using ::superfluid::testing::MakeSocketPair;
using ::superfluid::testing::NoMoreFds;

constexpr uint64_t kBytes = 10000;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

class SegmentTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(CountOpenFds(), fds_before_) << "descriptors leaked"; }

  static Segment CreateSegment(uint64_t bytes = kBytes) {
    absl::StatusOr<Segment> segment = Segment::Create(bytes, "segment-test");
    EXPECT_TRUE(segment.ok()) << segment.status();
    return *std::move(segment);
  }

  static OwnedFd FdOf(const Segment& segment) {
    absl::StatusOr<OwnedFd> fd = segment.DuplicateFd();
    EXPECT_TRUE(fd.ok()) << fd.status();
    return *std::move(fd);
  }

  static absl::StatusCode CodeOfAttach(OwnedFd fd, uint64_t bytes = kBytes,
                                       SegmentAccess access = SegmentAccess::kReadOnly,
                                       const SegmentLimits& limits = {}) {
    return Segment::Attach(std::move(fd), bytes, access, limits).status().code();
  }

  // The same file through a descriptor with less (or more) rights.
  static OwnedFd Reopen(const OwnedFd& fd, int flags) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
    return OwnedFd(open(path.c_str(), flags | O_CLOEXEC));
  }

 private:
  const size_t fds_before_ = CountOpenFds();
};

TEST_F(SegmentTest, CreatedSegmentIsZeroedWritableAndOfTheAskedSize) {
  const Segment segment = CreateSegment();
  ASSERT_EQ(segment.size(), kBytes);
  EXPECT_TRUE(segment.writable());
  EXPECT_TRUE(std::all_of(segment.data(), segment.data() + kBytes,
                          [](std::byte b) { return b == std::byte{0}; }));
  segment.data()[kBytes - 1] = std::byte{7};
}

TEST_F(SegmentTest, BothEndsSeeTheSameBytes) {
  const Segment ours = CreateSegment();
  absl::StatusOr<Segment> theirs = Segment::Attach(FdOf(ours), kBytes, SegmentAccess::kReadWrite);
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  std::strcpy(reinterpret_cast<char*>(ours.data()), "from the creator");
  EXPECT_STREQ(reinterpret_cast<char*>(theirs->data()), "from the creator");
  theirs->data()[0] = std::byte{'F'};
  EXPECT_EQ(ours.data()[0], std::byte{'F'});
}

TEST_F(SegmentTest, AttachesReadOnly) {
  const Segment ours = CreateSegment();
  absl::StatusOr<Segment> theirs = Segment::Attach(FdOf(ours), kBytes, SegmentAccess::kReadOnly);
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  EXPECT_FALSE(theirs->writable());
  EXPECT_DEATH(theirs->data()[0] = std::byte{1}, "");
}

TEST_F(SegmentTest, DescriptorsAreClosedOnExec) {
  EXPECT_TRUE(HasCloseOnExec(FdOf(CreateSegment()).get()));
}

TEST_F(SegmentTest, PeerCannotTruncateGrowOrUnseal) {
  const Segment segment = CreateSegment();
  const OwnedFd peer = FdOf(segment);
  EXPECT_EQ(ftruncate(peer.get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(peer.get(), 1 << 20), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fcntl(peer.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(SegmentTest, HolePunchedByPeerReadsAsZeros) {
  const Segment segment = CreateSegment();
  std::memset(segment.data(), 0xAB, kBytes);
  const OwnedFd peer = FdOf(segment);
  ASSERT_EQ(fallocate(peer.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kBytes), 0);
  EXPECT_EQ(segment.data()[0], std::byte{0});
  EXPECT_EQ(segment.data()[kBytes - 1], std::byte{0});
}

TEST_F(SegmentTest, CreateRefusesImpossibleSizes) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}}) {
    EXPECT_EQ(Segment::Create(bytes, "x").status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(SegmentTest, CreateReportsMemoryThatCannotBeMapped) {
  EXPECT_EQ(Segment::Create(uint64_t{1} << 60, "x").status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(SegmentTest, CreateRefusesBadNames) {
  EXPECT_EQ(Segment::Create(1, std::string(201, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Segment::Create(1, std::string_view("a\0b", 3)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Segment::Create(1, std::string(200, 'x')).ok());
}

TEST_F(SegmentTest, ReportsThatNoDescriptorIsLeft) {
  const Segment segment = CreateSegment();
  const NoMoreFds limit;
  EXPECT_EQ(Segment::Create(kBytes, "x").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(segment.DuplicateFd().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(SegmentTest, AttachRefusesAnUnsealedMemfd) {
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, 0)), absl::StatusCode::kInvalidArgument);
}

TEST_F(SegmentTest, AttachRefusesAMemfdSealedAgainstOneDirectionOnly) {
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, F_SEAL_GROW)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, F_SEAL_SHRINK)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, kSizeSeals)), absl::StatusCode::kOk);
}

TEST_F(SegmentTest, AttachRefusesWhatIsNotAMemfd) {
  const std::string path = ::testing::TempDir() + "/segment_test_file";
  OwnedFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(file.get(), kBytes), 0);
  EXPECT_EQ(CodeOfAttach(std::move(file)), absl::StatusCode::kInvalidArgument);
  unlink(path.c_str());

  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  EXPECT_EQ(CodeOfAttach(OwnedFd(pipe_fds[0])), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(OwnedFd(pipe_fds[1])), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeSocketPair().first), absl::StatusCode::kInvalidArgument);
  for (const char* special : {"/dev/zero", "/dev/null", "/proc/self/maps", "/"}) {
    EXPECT_EQ(CodeOfAttach(OwnedFd(open(special, O_RDONLY | O_CLOEXEC))),
              absl::StatusCode::kInvalidArgument)
        << special;
  }
  EXPECT_EQ(CodeOfAttach(OwnedFd()), absl::StatusCode::kInvalidArgument);
}

TEST_F(SegmentTest, AttachRefusesAnUnsealedFileOfATmpfs) {
  // Seals can be asked of it, as of a memfd: it must fail for what they say.
  OwnedFd file(open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_TRUE(file.valid());
  ASSERT_EQ(ftruncate(file.get(), kBytes), 0);
  EXPECT_EQ(CodeOfAttach(std::move(file)), absl::StatusCode::kInvalidArgument);
}

TEST_F(SegmentTest, AttachRefusesHugePages) {
  // Touching one of these is a SIGBUS if the machine has no huge page to spare.
  OwnedFd fd(memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!fd.valid()) return;  // a kernel without them has nothing to refuse
  ASSERT_EQ(ftruncate(fd.get(), 2 << 20), 0);
  ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, kSizeSeals), 0);
  EXPECT_EQ(CodeOfAttach(std::move(fd)), absl::StatusCode::kInvalidArgument);
}

TEST_F(SegmentTest, AttachChecksTheSize) {
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes - 1, kSizeSeals)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeMemfd(0, kSizeSeals)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, kSizeSeals), 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, kSizeSeals), std::numeric_limits<uint64_t>::max()),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SegmentTest, AttachMapsNoMoreThanExpected) {
  absl::StatusOr<Segment> segment =
      Segment::Attach(MakeMemfd(1 << 20, kSizeSeals), kBytes, SegmentAccess::kReadOnly);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ(segment->size(), kBytes);
}

TEST_F(SegmentTest, AttachRefusesAFileOverTheLimit) {
  const SegmentLimits limits = {.max_bytes = kBytes};
  EXPECT_EQ(
      CodeOfAttach(MakeMemfd(kBytes + 1, kSizeSeals), kBytes, SegmentAccess::kReadOnly, limits),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, kSizeSeals), kBytes, SegmentAccess::kReadOnly, limits),
            absl::StatusCode::kOk);
}

TEST_F(SegmentTest, AttachRefusesToWriteWhereASealForbidsIt) {
  for (const int seal : {F_SEAL_WRITE, F_SEAL_FUTURE_WRITE}) {
    EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, kSizeSeals | seal), kBytes, SegmentAccess::kReadWrite),
              absl::StatusCode::kPermissionDenied);
    EXPECT_EQ(CodeOfAttach(MakeMemfd(kBytes, kSizeSeals | seal)), absl::StatusCode::kOk);
  }
}

TEST_F(SegmentTest, AttachRefusesToWriteThroughAReadOnlyDescriptor) {
  const OwnedFd fd = MakeMemfd(kBytes, kSizeSeals);
  EXPECT_EQ(CodeOfAttach(Reopen(fd, O_RDONLY), kBytes, SegmentAccess::kReadWrite),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(CodeOfAttach(Reopen(fd, O_RDONLY)), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOfAttach(Reopen(fd, O_WRONLY)), absl::StatusCode::kPermissionDenied);
}

TEST_F(SegmentTest, SlicesWithinBounds) {
  const Segment segment = CreateSegment();
  absl::StatusOr<absl::Span<std::byte>> slice = segment.Slice(100, 50);
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(slice->data(), segment.data() + 100);
  EXPECT_EQ(slice->size(), 50u);
  EXPECT_TRUE(segment.Slice(0, kBytes).ok());
  EXPECT_TRUE(segment.Slice(kBytes, 0).ok());
}

TEST_F(SegmentTest, RefusesSlicesOutOfBoundsEvenIfTheSumWrapsAround) {
  const Segment segment = CreateSegment();
  constexpr uint64_t max = std::numeric_limits<uint64_t>::max();
  const std::vector<std::pair<uint64_t, uint64_t>> bad = {
      {0, kBytes + 1}, {kBytes, 1}, {kBytes + 1, 0}, {1, max}, {max, 1}, {max, max}};
  for (const auto& [offset, length] : bad) {
    EXPECT_EQ(segment.Slice(offset, length).status().code(), absl::StatusCode::kOutOfRange)
        << offset << " " << length;
  }
  EXPECT_EQ(Segment().Slice(0, 1).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(SegmentTest, PrefaultBringsInEveryPageAndKeepsTheBytes) {
  constexpr size_t pages = 64;
  const Segment segment = CreateSegment(pages * 4096);
  segment.data()[5] = std::byte{9};
  std::vector<unsigned char> resident(pages);
  const auto count = [&] {
    EXPECT_EQ(mincore(segment.data(), segment.size(), resident.data()), 0);
    return std::count(resident.begin(), resident.end(), 1);
  };
  ASSERT_EQ(count(), 1);
  ASSERT_TRUE(segment.Prefault().ok());
  EXPECT_EQ(count(), static_cast<ptrdiff_t>(pages));
  EXPECT_EQ(segment.data()[5], std::byte{9});

  absl::StatusOr<Segment> reader = Segment::Attach(FdOf(CreateSegment(size_t{4096} * 4)),
                                                   size_t{4096} * 4, SegmentAccess::kReadOnly);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->Prefault().ok());
  EXPECT_TRUE(Segment().Prefault().ok());
}

TEST_F(SegmentTest, AnAttachedSegmentKeepsNoDescriptor) {
  const Segment made = *Segment::Create(4096, "made");
  OwnedFd fd = *made.DuplicateFd();
  const int number = fd.get();
  const Segment attached = *Segment::Attach(std::move(fd), 4096, SegmentAccess::kReadWrite);
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
  EXPECT_EQ(attached.DuplicateFd().status().code(), absl::StatusCode::kFailedPrecondition);
  attached.data()[7] = std::byte{1};
  EXPECT_EQ(made.data()[7], std::byte{1});
}

TEST_F(SegmentTest, MovesOwnership) {
  Segment first = CreateSegment();
  first.data()[0] = std::byte{3};
  Segment second = std::move(first);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): what is being tested
  EXPECT_EQ(first.DuplicateFd().status().code(), absl::StatusCode::kFailedPrecondition);
  Segment third = CreateSegment(1);
  third = std::move(second);
  EXPECT_EQ(third.size(), kBytes);
  EXPECT_EQ(third.data()[0], std::byte{3});
}

TEST_F(SegmentTest, MappingOutlivesTheDescriptorsOfOthers) {
  absl::StatusOr<Segment> theirs = absl::UnknownError("not attached");
  {
    const Segment ours = CreateSegment();
    ours.data()[1] = std::byte{5};
    theirs = Segment::Attach(FdOf(ours), kBytes, SegmentAccess::kReadOnly);
  }
  ASSERT_TRUE(theirs.ok());
  EXPECT_EQ(theirs->data()[1], std::byte{5});
}

}  // namespace
}  // namespace superfluid
