// Sealed state: every byte of it.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/conformance/envelope.h"
#include "tests/conformance/families.h"
#include "tests/conformance/ops.h"

namespace superfluid::conformance {
namespace {

using View8 = EnvelopeView;

const std::vector<std::string>& Ops() {
  static const auto* const kCalls = new std::vector<std::string>{
      "tick", "state_ops", "export_size", "snapshot_boundary", "create_sequence", "free_sequence"};
  return *kCalls;
}

// A sequence, the sealed state of one of its spaces, and a buffer to put changed copies of it in.
class Sealed {
 public:
  Sealed(Driver& driver, const linkw::StateSpaceDescriptor& space)
      : driver_(driver),
        space_(space),
        prompt_(driver.Prompt(driver.Boundary())),
        sequence_(driver.Start(prompt_)) {
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): needs what is above
    boundary_ = BoundaryOf(driver, sequence_, space.space_id);
    size_ = SizeOf(driver, sequence_, space.space_id, {0, boundary_});
    original_ = SnapshotInto(driver, sequence_, space.space_id, boundary_);
    copy_ = driver.AttachBuffer(original_.segment.size());
  }

  // The copy's buffer with the original's bytes in it.
  std::byte* Fresh() {
    std::copy_n(original_.segment.data(), original_.segment.size(), copy_.segment.data());
    return copy_.segment.data();
  }
  size_t bytes() const { return original_.segment.size(); }
  linkw::Restore RestoreCopy() const {
    return {.sequence = sequence_, .space_id = space_.space_id, .buf_id = copy_.id};
  }
  void ExpectRefused(std::string_view what) {
    MustFail(driver_, RestoreCopy(), {Status::kEnvelopeMismatch}, what);
  }
  void ExpectGoesOn() {
    ExpectEq(driver_.Draw(sequence_, 5), driver_.Plain(prompt_, 5), "the sequence, afterwards");
  }
  uint64_t boundary() const { return boundary_; }
  const linkw::ExportSizeResult& size() const { return size_; }
  SequenceId sequence() const { return sequence_; }

 private:
  Driver& driver_;
  const linkw::StateSpaceDescriptor& space_;
  Tokens prompt_;
  SequenceId sequence_;
  uint64_t boundary_ = 0;
  linkw::ExportSizeResult size_;
  Link::Buffer original_;
  Link::Buffer copy_;
};

void IsAsWritten(Context& context) {
  Driver driver(context);
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    Sealed sealed(driver, space);
    std::byte* bytes = sealed.Fresh();
    const EnvelopeView view(bytes);
    Expect(std::memcmp(bytes, "SFLSTATE", 8) == 0, "the magic");
    ExpectEq(view.U32(View8::kVersion), 1u, "version");
    ExpectEq(view.U32(View8::kHeaderBytes), 160u, "header_bytes");
    Expect(std::memcmp(bytes + View8::kCompatKey, space.compat_key.data(), 32) == 0,
           "compat_key is not the one announced");
    ExpectEq(view.U32(View8::kSpace), static_cast<uint32_t>(space.space_id), "space_id");
    ExpectEq(view.U32(View8::kEncoding), 0u, "encoding");
    ExpectEq(view.U64(View8::kRangeStart), uint64_t{0}, "range_start");
    ExpectEq(view.U64(View8::kRangeEnd), sealed.boundary(), "range_end");
    ExpectEq(view.U64(View8::kPayloadLen), sealed.size().required_bytes, "payload_len");
    ExpectEq(view.U64(View8::kPayloadHash), view.HashOfPayload(), "the payload's checksum");
    for (size_t at = View8::kReserved; at < View8::kHash; at += 8) {
      ExpectEq(view.U64(at), uint64_t{0}, "a reserved word");
    }
    ExpectEq(view.U64(View8::kHash), view.HashOfHeader(), "the envelope's checksum");
  }
}

void SameStateSameProvenance(Context& context) {
  Driver driver(context);
  const linkw::StateSpaceDescriptor& space = driver.spaces()[0];
  const Tokens prompt = driver.Prompt(driver.Boundary());
  std::vector<std::string> provenances;
  for (int i = 0; i < 2; ++i) {
    const SequenceId sequence = driver.Start(prompt);
    const Link::Buffer buffer = SnapshotInto(driver, sequence, space.space_id,
                                             BoundaryOf(driver, sequence, space.space_id));
    provenances.emplace_back(
        reinterpret_cast<const char*>(buffer.segment.data() + View8::kProvenance), 32);
  }
  ExpectEq(provenances[0], provenances[1], "provenance of the same tokens");
  const SequenceId other = driver.Start(driver.Prompt(driver.Boundary()));
  const Link::Buffer buffer =
      SnapshotInto(driver, other, space.space_id, BoundaryOf(driver, other, space.space_id));
  Expect(std::memcmp(buffer.segment.data() + View8::kProvenance, provenances[0].data(), 32) != 0,
         "other tokens have the same provenance");
}

void EveryByteOfTheEnvelope(Context& context) {
  Driver driver(context);
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    Sealed sealed(driver, space);
    for (size_t at = 0; at < kEnvelopeBytes; ++at) {
      EnvelopeView(sealed.Fresh()).Flip(at);
      sealed.ExpectRefused(absl::StrCat("byte ", at, " of the envelope changed"));
    }
    sealed.ExpectGoesOn();
  }
}

void BytesOfThePayload(Context& context) {
  Driver driver(context);
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    Sealed sealed(driver, space);
    const size_t payload = sealed.bytes() - kEnvelopeBytes;
    std::vector<size_t> places = {0, payload - 1};
    for (int i = 0; i < 60; ++i) places.push_back(context.Random(payload));
    for (const size_t place : places) {
      EnvelopeView(sealed.Fresh()).Flip(kEnvelopeBytes + place);
      sealed.ExpectRefused(absl::StrCat("byte ", place, " of the payload changed"));
    }
    std::fill_n(sealed.Fresh() + kEnvelopeBytes, payload, std::byte{0});
    sealed.ExpectRefused("a payload of zeros");
    std::fill_n(sealed.Fresh(), sealed.bytes(), std::byte{0});
    sealed.ExpectRefused("a buffer of zeros");
    sealed.ExpectGoesOn();
  }
}

void CutOff(Context& context) {
  Driver driver(context);
  Sealed sealed(driver, driver.spaces()[0]);
  const std::byte* original = sealed.Fresh();
  for (const size_t bytes :
       {size_t{1}, size_t{100}, size_t{159}, size_t{160}, sealed.bytes() - 1}) {
    const Link::Buffer cut = driver.AttachBuffer(bytes);
    std::copy_n(original, bytes, cut.segment.data());
    linkw::Restore restore = sealed.RestoreCopy();
    restore.buf_id = cut.id;
    MustFail(driver, restore, {Status::kEnvelopeMismatch},
             absl::StrCat("the first ", bytes, " bytes"));
  }
  sealed.ExpectGoesOn();
}

// With a right checksum over wrong fields.
void WrongFields(Context& context) {
  Driver driver(context);
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    Sealed sealed(driver, space);
    const auto refused = [&sealed](size_t at, uint64_t value, bool wide, std::string_view what) {
      EnvelopeView view(sealed.Fresh());
      if (wide) {
        view.Set64(at, value);
      } else {
        view.Set32(at, static_cast<uint32_t>(value));
      }
      view.Seal();
      sealed.ExpectRefused(what);
    };
    refused(0, 0, true, "another magic");
    for (const uint64_t version : {uint64_t{0}, uint64_t{2}, uint64_t{0xffffffff}}) {
      refused(View8::kVersion, version, false, "another version");
    }
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{159}, uint64_t{161}, uint64_t{0xffffffff}}) {
      refused(View8::kHeaderBytes, bytes, false, "another header_bytes");
    }
    refused(View8::kCompatKey, 0x1234, true, "another compat_key");
    refused(View8::kSpace, 4000, false, "another space");
    for (const uint32_t encoding : {1u, 5u, 63u, 64u, ~0u}) {
      if (encoding < 64 && (space.encodings >> encoding & 1) != 0) continue;
      refused(View8::kEncoding, encoding, false, absl::StrCat("encoding ", encoding));
    }
    refused(View8::kRangeStart, sealed.boundary() + 1, true, "a reversed range");
    refused(View8::kRangeStart, ~uint64_t{0}, true, "a range from 2^64 - 1");
    refused(View8::kRangeEnd, uint64_t{1} << 63, true, "a range to 2^63");
    refused(View8::kPayloadHash, 1, true, "another checksum of the payload");
    for (size_t at = View8::kReserved; at < View8::kHash; at += 8) {
      refused(at, 1, true, "a reserved word that is not 0");
    }
    sealed.ExpectGoesOn();
  }
}

void WrongLengths(Context& context) {
  Driver driver(context);
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    Sealed sealed(driver, space);
    const uint64_t length = sealed.size().required_bytes;
    for (const uint64_t wrong :
         {length + 1, length * 2, uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0},
          ~uint64_t{0} - 159, ~uint64_t{0} - 160, uint64_t{0}, length - 1}) {
      EnvelopeView view(sealed.Fresh());
      view.Set64(View8::kPayloadLen, wrong);
      view.Seal();
      sealed.ExpectRefused(absl::StrCat("payload_len ", wrong, " for ", length));
    }
    for (const uint64_t end : {~uint64_t{0}, uint64_t{1} << 40}) {
      EnvelopeView view(sealed.Fresh());
      view.Set64(View8::kRangeEnd, end);
      view.Seal();
      MustFail(driver, sealed.RestoreCopy(), {Status::kEnvelopeMismatch, Status::kInvalidArgument},
               absl::StrCat("range_end ", end));
    }
    sealed.ExpectGoesOn();
  }
}

void StateOfAnotherSpace(Context& context) {
  Driver driver(context);
  if (driver.spaces().size() < 2) Skip("the engine has one state space");
  Sealed sealed(driver, driver.spaces()[0]);
  sealed.Fresh();
  linkw::Restore restore = sealed.RestoreCopy();
  restore.space_id = driver.spaces()[1].space_id;
  MustFail(driver, restore, {Status::kEnvelopeMismatch}, "the state of another space");
  sealed.ExpectGoesOn();
}

void PromoteOfSomethingElse(Context& context) {
  Driver driver(context);
  const linkw::StateSpaceDescriptor& space = driver.spaces()[0];
  const uint64_t boundary = driver.Boundary();
  const Tokens prompt = driver.Prompt(boundary * 2);
  const SequenceId sequence = driver.Start(prompt);
  const SequenceId other = driver.Start(driver.Prompt(boundary * 2));
  const uint64_t end = BoundaryOf(driver, sequence, space.space_id);
  const auto demote = [&](SequenceId of) {
    const auto size = SizeOf(driver, of, space.space_id, {0, end});
    Link::Buffer buffer = driver.AttachBuffer(kEnvelopeBytes + size.required_bytes);
    MustRun(driver,
            linkw::Demote{.sequence = of,
                          .space_id = space.space_id,
                          .range = {0, end},
                          .buf_id = buffer.id,
                          .sizing_gen = size.sizing_gen},
            "a demote");
    return buffer;
  };
  const Link::Buffer mine = demote(sequence);
  const Link::Buffer others = demote(other);
  const auto promote = [&](linkw::BufId id, linkw::TokenRange range) {
    return linkw::Promote{
        .sequence = sequence, .space_id = space.space_id, .range = range, .buf_id = id};
  };
  MustFail(driver, promote(others.id, {0, end}), {Status::kEnvelopeMismatch},
           "the state of another sequence");
  MustFail(driver, promote(mine.id, {0, end + 1}),
           {Status::kEnvelopeMismatch, Status::kInvalidArgument}, "another range");
  for (size_t at = 0; at < kEnvelopeBytes; at += 7) {
    EnvelopeView view(mine.segment.data());
    view.Flip(at);
    MustFail(driver, promote(mine.id, {0, end}), {Status::kEnvelopeMismatch},
             absl::StrCat("byte ", at, " of the envelope changed"));
    view.Flip(at);
  }
  MustRun(driver, promote(mine.id, {0, end}), "a promote of what was demoted");
  ExpectEq(driver.Draw(sequence, 5), driver.Plain(prompt, 5), "the promoted sequence");
}

}  // namespace

void AddEnvelopeChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, Ops(), Pace::kAny, 60});
  };
  add("ENV-1", "an export is as the layout says", IsAsWritten);
  add("ENV-1", "provenance names what the state is of", SameStateSameProvenance);
  add("ENV-2 OP-9", "every byte of the envelope", EveryByteOfTheEnvelope);
  add("ENV-3 OP-9", "bytes of the payload", BytesOfThePayload);
  add("ENV-3", "sealed state that is cut off", CutOff);
  add("ENV-4", "wrong fields under a right checksum", WrongFields);
  add("ENV-4 ALWAYS-3", "lengths that overflow or exceed the buffer", WrongLengths);
  add("ENV-4", "the state of another space", StateOfAnotherSpace);
  add("ENV-5 ENV-2", "a promote of something else", PromoteOfSomethingElse);
}

}  // namespace superfluid::conformance
