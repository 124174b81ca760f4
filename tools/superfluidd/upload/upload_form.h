#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_UPLOAD_FORM_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_UPLOAD_FORM_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/superfluidd/upload/audio_body.h"
#include "tools/superfluidd/upload/multipart.h"
#include "tools/superfluidd/upload/upload_budget.h"

namespace superfluid::daemon {

// The fields of a form that was received, and its file.
struct UploadForm {
  std::map<std::string, std::vector<std::string>> fields;  // a field may come several times
  std::shared_ptr<const AudioBody> file;                   // null: none came
  std::string filename;

  // Returns the last value of a field; empty if it is missing.
  std::string Field(const std::string& name) const;
  bool Has(const std::string& name) const { return fields.count(name) > 0; }
  // Returns all values of a field.
  std::vector<std::string> All(const std::string& name) const;
};

// Receives a multipart/form-data body piece by piece: fields into strings, the one file (the part
// "file") into an AudioBody. Threads: one.
class FormReader final : public PartSink {
 public:
  struct Limits {
    size_t field_bytes = size_t{64} << 10;
    MultipartParser::Limits multipart;
  };

  // REQUIRES: `boundary` as for MultipartParser.
  FormReader(std::string_view boundary, std::shared_ptr<UploadBudget> budget, const Limits& limits);

  // Takes the next piece. Errors, which stay: InvalidArgument (the body is no such form, a field is
  // too long, two files), ResourceExhausted (memory).
  absl::Status Feed(std::string_view piece);

  // Returns what was received. Errors: those of Feed; InvalidArgument if the body ended early.
  absl::StatusOr<UploadForm> Finish();

  bool OnPart(const PartInfo& part) override;
  bool OnData(std::string_view bytes) override;
  bool OnPartEnd() override;

 private:
  bool Refuse(absl::Status status);

  const Limits limits_;
  std::shared_ptr<UploadBudget> budget_;
  MultipartParser parser_;
  UploadForm form_;
  std::shared_ptr<AudioBody> file_;
  std::string* field_ = nullptr;  // that receives; null: the file does, or a part that is ignored
  bool in_file_ = false;
  absl::Status status_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_UPLOAD_FORM_H_
