#include "shm/ring.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "shm/segment.h"
#include "shm/shared_word.h"

namespace superfluid {
namespace {

constexpr RingSpec kSpec = {7, 16 + 8 * 4, 4};  // 4 slots of 8 words

// A ring, its two ends, and its memory as somebody writes it who keeps no rules.
struct TestRing {
  explicit TestRing(const RingSpec& spec)
      : raw(*Segment::Create(*RingBytes(spec), "ring-test")),
        writer(*RingWriter::Open(AttachAgain(SegmentAccess::kReadWrite), spec)),
        reader(*RingReader::Open(AttachAgain(SegmentAccess::kReadOnly), spec)) {}

  Segment AttachAgain(SegmentAccess access) const {
    return *Segment::Attach(*raw.DuplicateFd(), raw.size(), access);
  }

  std::byte* Slot(uint32_t slot) const {
    return raw.data() + size_t{slot} * writer.spec().slot_bytes;
  }

  Segment raw;
  RingWriter writer;
  RingReader reader;
};

class RingTest : public ::testing::Test {
 protected:
  SpanRef Write(uint32_t slot, const std::vector<uint32_t>& words, uint32_t flags = 0) {
    const absl::StatusOr<SpanRef> span = ring_.writer.Write(slot, words, flags);
    EXPECT_TRUE(span.ok()) << span.status();
    return *span;
  }

  absl::StatusCode CodeOfRead(const SpanRef& span) {
    std::vector<uint32_t> out(std::min<size_t>(span.count, 1000));
    return ring_.reader.Read(span, absl::MakeSpan(out)).status().code();
  }

  void ExpectWords(const SpanRef& span, const std::vector<uint32_t>& words) {
    std::vector<uint32_t> out(span.count);
    const absl::StatusOr<uint32_t> flags = ring_.reader.Read(span, absl::MakeSpan(out));
    ASSERT_TRUE(flags.ok()) << flags.status();
    EXPECT_EQ(out, words);
  }

  TestRing ring_{kSpec};
};

TEST(RingSpecTest, StandardRingsHaveTheSizesOfLinkW) {
  EXPECT_EQ(kTokenInRing.WordsPerSlot(), 4096u);
  EXPECT_EQ(kTokenOutRing.WordsPerSlot(), 1024u);
  EXPECT_EQ(kLogitsRing.WordsPerSlot(), 64u);
  EXPECT_EQ(*RingBytes(kTokenInRing), (16u + 4096 * 4) * 64);
  EXPECT_EQ(*RingBytes(kTokenOutRing), (16u + 1024 * 4) * 256);
  EXPECT_EQ(*RingBytes(kLogitsRing), (16u + 64 * 4) * 32);
}

TEST(RingSpecTest, RefusesImpossibleGeometry) {
  constexpr uint32_t max = std::numeric_limits<uint32_t>::max();
  for (const RingSpec& bad : {RingSpec{1, 24, 0}, RingSpec{1, 0, 1}, RingSpec{1, 16, 1},
                              RingSpec{1, 20, 1}, RingSpec{1, max, 1}}) {
    EXPECT_EQ(RingBytes(bad).status().code(), absl::StatusCode::kInvalidArgument)
        << bad.slot_bytes << " " << bad.slots;
  }
  EXPECT_EQ(RingSpec{}.WordsPerSlot(), 0u);
}

TEST(RingSpecTest, LargestRingDoesNotOverflow) {
  EXPECT_EQ(*RingBytes({1, 0xFFFFFFF8, 0xFFFFFFFF}), 0xFFFFFFF8ull * 0xFFFFFFFFull);
  EXPECT_EQ(
      RingReader::Open(*Segment::Create(4096, "x"), {1, 0xFFFFFFF8, 0xFFFFFFFF}).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(RingSpecTest, EndsRefuseASegmentThatIsTooSmallOrReadOnly) {
  const uint64_t bytes = *RingBytes(kSpec);
  EXPECT_EQ(RingReader::Open(*Segment::Create(bytes - 1, "x"), kSpec).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RingWriter::Open(*Segment::Create(bytes - 1, "x"), kSpec).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RingWriter::Open(Segment(), kSpec).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RingWriter::Open(*Segment::Create(bytes, "x"), {1, 20, 1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const Segment whole = *Segment::Create(bytes, "x");
  Segment read_only = *Segment::Attach(*whole.DuplicateFd(), bytes, SegmentAccess::kReadOnly);
  EXPECT_EQ(RingWriter::Open(std::move(read_only), kSpec).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RingTest, ReadsWhatWasWritten) {
  const SpanRef span = Write(3, {10, 20, 30}, 0xF1A6);
  EXPECT_EQ(span, (SpanRef{.ring = 7, .slot = 3, .generation = 2, .offset = 0, .count = 3}));
  std::vector<uint32_t> out(3);
  const absl::StatusOr<uint32_t> flags = ring_.reader.Read(span, absl::MakeSpan(out));
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(*flags, 0xF1A6u);
  EXPECT_EQ(out, (std::vector<uint32_t>{10, 20, 30}));
}

TEST_F(RingTest, SlotHasTheDocumentedBytes) {
  Write(1, {0x11223344, 5}, 9);
  const std::byte* slot = ring_.raw.data() + kSpec.slot_bytes;
  EXPECT_EQ(LoadShared<uint64_t>(slot), 2u);
  EXPECT_EQ(LoadShared<uint32_t>(slot + 8), 2u);
  EXPECT_EQ(LoadShared<uint32_t>(slot + 12), 9u);
  EXPECT_EQ(LoadShared<uint32_t>(slot + 16), 0x11223344u);
  EXPECT_EQ(LoadShared<uint32_t>(slot + 20), 5u);
}

TEST_F(RingTest, ReadsAPartOfASlot) {
  SpanRef span = Write(0, {1, 2, 3, 4, 5, 6, 7, 8});
  span.offset = 3;
  span.count = 5;
  ExpectWords(span, {4, 5, 6, 7, 8});
  span.count = 0;
  span.offset = 8;
  ExpectWords(span, {});
}

TEST_F(RingTest, SlotsAreIndependent) {
  const SpanRef first = Write(0, {1, 1});
  const SpanRef last = Write(3, {2, 2});
  Write(1, {3, 3});
  ExpectWords(first, {1, 1});
  ExpectWords(last, {2, 2});
}

TEST_F(RingTest, RewrittenSlotMakesOldSpansStale) {
  const SpanRef old_span = Write(2, {1, 2});
  const SpanRef new_span = Write(2, {3, 4});
  EXPECT_EQ(new_span.generation, old_span.generation + 2);
  EXPECT_EQ(CodeOfRead(old_span), absl::StatusCode::kFailedPrecondition);
  ExpectWords(new_span, {3, 4});
}

TEST_F(RingTest, SpanOfTheFutureIsStaleToo) {
  SpanRef span = Write(2, {1, 2});
  span.generation += 2;
  EXPECT_EQ(CodeOfRead(span), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RingTest, SlotBeingWrittenIsStale) {
  const SpanRef span = Write(2, {1, 2});
  StoreShared<uint64_t>(ring_.Slot(2), span.generation + 1);
  EXPECT_EQ(CodeOfRead(span), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RingTest, NeitherAFreshNorAPunchedNorAHalfWrittenSlotIsAVersion) {
  EXPECT_EQ(CodeOfRead({7, 0, 0, 0, 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfRead({7, 0, 1, 0, 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfRead({7, 0, 2, 0, 0}), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RingTest, ReaderRefusesForeignAndImpossibleSpans) {
  const SpanRef good = Write(0, {1, 2, 3});
  constexpr uint32_t max = std::numeric_limits<uint32_t>::max();
  const std::vector<std::pair<SpanRef, absl::StatusCode>> bad = {
      {{8, 0, good.generation, 0, 3}, absl::StatusCode::kInvalidArgument},
      {{7, 4, good.generation, 0, 3}, absl::StatusCode::kOutOfRange},
      {{7, max, good.generation, 0, 3}, absl::StatusCode::kOutOfRange},
      {{7, 0, good.generation, 0, 9}, absl::StatusCode::kOutOfRange},
      {{7, 0, good.generation, 8, 1}, absl::StatusCode::kOutOfRange},
      {{7, 0, good.generation, max, 1}, absl::StatusCode::kOutOfRange},
      {{7, 0, good.generation, max, max}, absl::StatusCode::kOutOfRange},
      {{7, 0, good.generation, 1, 3}, absl::StatusCode::kOutOfRange},  // the slot holds 3
      {{7, 0, good.generation, 3, 1}, absl::StatusCode::kOutOfRange},
  };
  for (const auto& [span, code] : bad) {
    EXPECT_EQ(CodeOfRead(span), code) << span.slot << " " << span.offset << " " << span.count;
  }
  ExpectWords(good, {1, 2, 3});
}

TEST_F(RingTest, ReaderRefusesRoomOfAnotherSize) {
  const SpanRef span = Write(0, {1, 2, 3});
  for (const size_t room : {size_t{2}, size_t{4}}) {
    std::vector<uint32_t> out(room);
    EXPECT_EQ(ring_.reader.Read(span, absl::MakeSpan(out)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(RingTest, CountOfAHostileWriterLeadsNowhere) {
  const SpanRef span = Write(0, {1, 2, 3});
  StoreShared<uint32_t>(ring_.Slot(0) + 8, std::numeric_limits<uint32_t>::max());
  ExpectWords(span, {1, 2, 3});
  StoreShared<uint32_t>(ring_.Slot(0) + 8, 0);
  EXPECT_EQ(CodeOfRead(span), absl::StatusCode::kOutOfRange);
}

TEST_F(RingTest, WriterRefusesSlotsAndSizesThatDoNotExist) {
  const std::vector<uint32_t> nine(9);
  EXPECT_EQ(ring_.writer.Write(4, {}, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ring_.writer.Write(0, nine, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LoadShared<uint64_t>(ring_.Slot(0)), 0u);  // untouched
}

TEST_F(RingTest, WriterKeepsItsOwnGenerations) {
  Write(0, {1});
  StoreShared<uint64_t>(ring_.Slot(0), 999);
  const SpanRef span = Write(0, {2});
  EXPECT_EQ(span.generation, 4u);
  ExpectWords(span, {2});
}

TEST_F(RingTest, ANewWriterMakesTheOldOnesSpansStale) {
  const SpanRef old_span = Write(0, {1});
  const absl::StatusOr<RingWriter> again =
      RingWriter::Open(ring_.AttachAgain(SegmentAccess::kReadWrite), kSpec);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(CodeOfRead(old_span), absl::StatusCode::kFailedPrecondition);
}

// Words whose values tell the version that they belong to.
std::vector<uint32_t> WordsOf(uint64_t generation, size_t count) {
  return std::vector<uint32_t>(count, static_cast<uint32_t>(generation * 2654435761u));
}

TEST(RingRaceTest, NeverReportsATornReadAsGood) {
  constexpr RingSpec big = {1, 16 + 1024 * 4, 1};
  constexpr uint64_t writes = 20000;
  TestRing ring(big);
  std::atomic<uint64_t> written = 0;
  std::thread writing([&] {
    for (uint64_t i = 1; i <= writes; ++i) {
      const absl::StatusOr<SpanRef> span =
          ring.writer.Write(0, WordsOf(2 * i, 1024), static_cast<uint32_t>(i));
      ASSERT_EQ(span->generation, 2 * i);
      written = 2 * i;
    }
  });
  std::vector<uint32_t> out(1024);
  uint64_t good = 0;
  for (uint64_t last = 0; last < 2 * writes;) {
    last = written;
    if (last == 0) continue;
    const absl::StatusOr<uint32_t> flags =
        ring.reader.Read({1, 0, last, 0, 1024}, absl::MakeSpan(out));
    if (!flags.ok()) {
      ASSERT_EQ(flags.status().code(), absl::StatusCode::kFailedPrecondition);
      continue;
    }
    ++good;
    ASSERT_EQ(*flags, last / 2);
    ASSERT_EQ(out, WordsOf(last, 1024));
  }
  writing.join();
  EXPECT_GT(good, 0u);
}

TEST(RingRaceTest, SurvivesAWriterThatKeepsNoRules) {
  constexpr RingSpec small = {1, 16 + 32 * 4, 2};
  TestRing ring(small);
  std::atomic<bool> done = false;
  std::thread scribbling([&] {
    uint64_t random = 88172645463325252;
    for (int i = 0; i < 300000; ++i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      const size_t at = (random >> 32) % (ring.raw.size() / 8) * 8;
      StoreShared<uint64_t>(ring.raw.data() + at, random % 4 == 0 ? 2 : random);
    }
    done = true;
  });
  std::vector<uint32_t> out(32);
  while (!done) {
    // Whatever comes out, it comes out of the ring: the sanitizers watch.
    static_cast<void>(ring.reader.Read({1, 1, 2, 0, 32}, absl::MakeSpan(out)));
  }
  scribbling.join();
}

// Makes the reader stumble in the middle of its copy: the slot's second page is taken away, and the
// fault that this causes rewrites the slot before it gives the page back.
class MidCopyTest : public ::testing::Test {
 protected:
  static constexpr RingSpec kPages = {1, 4 * 4096, 1};
  static constexpr size_t kPage = 4096;

  void SetUp() override {
    current_ = this;
    struct sigaction action = {};
    action.sa_handler = [](int) { current_->OnFault(); };
    ASSERT_EQ(sigaction(SIGSEGV, &action, &old_action_), 0);
  }
  void TearDown() override { sigaction(SIGSEGV, &old_action_, nullptr); }

  void TakePageAway() { ASSERT_EQ(mprotect(Page(), kPage, PROT_NONE), 0); }

  TestRing ring_{kPages};
  bool rewrites_ = true;
  int faults_ = 0;

 private:
  std::byte* Page() { return ring_.reader.segment().data() + kPage; }

  void OnFault() {
    ++faults_;
    if (rewrites_) static_cast<void>(ring_.writer.Write(0, new_words_, 0));
    mprotect(Page(), kPage, PROT_READ);
  }

  const std::vector<uint32_t> new_words_ = std::vector<uint32_t>(kPages.WordsPerSlot(), 2);
  struct sigaction old_action_ = {};
  // NOLINTNEXTLINE(readability-identifier-naming): a member, if a static one
  static inline MidCopyTest* current_ = nullptr;
};

TEST_F(MidCopyTest, NoticesARewriteInTheMiddleOfItsCopy) {
  const std::vector<uint32_t> words(kPages.WordsPerSlot(), 1);
  const SpanRef span = *ring_.writer.Write(0, words, 0);
  std::vector<uint32_t> out(words.size());
  TakePageAway();
  EXPECT_EQ(ring_.reader.Read(span, absl::MakeSpan(out)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(faults_, 1);
  EXPECT_EQ(out.front(), 1u);  // it really was torn
  EXPECT_EQ(out.back(), 2u);
}

TEST_F(MidCopyTest, DoesNotReadAheadOfTheWriter) {
  // A peer sends the span before it has written the slot: if the copy began, the write would end in
  // the middle of it and the generation would look right afterwards.
  const std::vector<uint32_t> words(kPages.WordsPerSlot(), 1);
  SpanRef span = *ring_.writer.Write(0, words, 0);
  span.generation += 2;
  std::vector<uint32_t> out(words.size());
  TakePageAway();
  EXPECT_EQ(ring_.reader.Read(span, absl::MakeSpan(out)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(faults_, 0);
}

TEST_F(MidCopyTest, AFaultWithoutARewriteIsNoError) {
  rewrites_ = false;
  const std::vector<uint32_t> words(kPages.WordsPerSlot(), 1);
  const SpanRef span = *ring_.writer.Write(0, words, 0);
  std::vector<uint32_t> out(words.size());
  TakePageAway();
  EXPECT_TRUE(ring_.reader.Read(span, absl::MakeSpan(out)).ok());
  EXPECT_EQ(faults_, 1);
  EXPECT_EQ(out, words);
}

}  // namespace
}  // namespace superfluid
