#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_UPLOAD_DECODER_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_UPLOAD_DECODER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "protocol/messages/messages.h"
#include "tools/decode/decode_feed.h"
#include "tools/superfluidd/upload/audio_body.h"
#include "tools/superfluidd/upload/upload_budget.h"

namespace superfluid::daemon {

// A recording as samples, in memory.
struct DecodedUpload {
  std::shared_ptr<const AudioBody> samples;
  std::string note;  // for people: what is odd about the recording; mostly empty
};

// Decodes uploads that workers do not read, each in a process of its own that is confined and dies
// with its UploadDecode. Thread-safe.
//
// The samples and a decoder's own memory are counted in the budget of all uploads. A recording may
// take half of it (less, while its request waits), so that one that decodes to more than anybody
// wants costs its own request only.
class UploadDecoder {
 public:
  // Of the budget: a half at most of a recording whose request has a worker, an eighth of another.
  enum class Share { kNeeded, kAhead };

  // `program`: superfluid_decode; empty: there is none, and every decode fails.
  UploadDecoder(std::string program, std::shared_ptr<UploadBudget> budget);

  // Returns whether a worker does not read a recording that begins with these bytes.
  static bool IsFor(const AudioBody& recording);

  // Whether so much of the budget is free that a recording may be decoded whose request waits.
  bool HasRoomAhead() const { return budget_->used() <= budget_->limit() / 2; }

  // The format of all samples.
  static linkw::PcmFormat Format();

 private:
  friend class UploadDecode;

  const std::shared_ptr<UploadBudget> budget_;
  const bool has_program_;
  decode::DecoderPool pool_;
};

// One recording that is being decoded. Destroying it ends its decoder, and waits no longer than
// `done` takes.
class UploadDecode {
 public:
  // Called once on a thread of its own, unless the UploadDecode is destroyed before. Errors, made
  // by linkw::MakeStatus: kInvalidArgument (no recording, damaged, no sound), kTooLarge (more sound
  // or work than is allowed), kUnsupported (there is no decoder here), kOutOfMemory (the budget),
  // kLinkClosed (the decoder was killed, or could not be started), kInternal (it crashed).
  using Done = std::function<void(const absl::StatusOr<DecodedUpload>&)>;

  // Errors: kUnsupported, kOutOfMemory (descriptors).
  static absl::StatusOr<std::unique_ptr<UploadDecode>> Start(std::shared_ptr<UploadDecoder> decoder,
                                                             const AudioBody& recording,
                                                             UploadDecoder::Share share, Done done);
  UploadDecode(const UploadDecode&) = delete;
  UploadDecode& operator=(const UploadDecode&) = delete;

 private:
  UploadDecode(std::shared_ptr<UploadDecoder> decoder, OwnedFd recording,
               const decode::DecodeLimits& limits, Done done);
  void OnEnded(const absl::StatusOr<decode::DecodeSummary>& outcome);

  const std::shared_ptr<UploadDecoder> decoder_;
  const Done done_;
  BudgetShare process_;
  std::shared_ptr<AudioBody> samples_;
  decode::DecodeFeed feed_;  // last: its thread uses the others
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_UPLOAD_DECODER_H_
