#include "tools/superfluidd/upload/upload_form.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid::daemon {

std::string UploadForm::Field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second.back();
}

std::vector<std::string> UploadForm::All(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::vector<std::string>{} : found->second;
}

FormReader::FormReader(std::string_view boundary, std::shared_ptr<UploadBudget> budget,
                       const Limits& limits)
    : limits_(limits), budget_(std::move(budget)), parser_(boundary, *this, limits.multipart) {}

absl::Status FormReader::Feed(std::string_view piece) {
  if (!status_.ok()) return status_;
  if (parser_.Feed(piece)) return absl::OkStatus();
  if (status_.ok()) status_ = absl::InvalidArgumentError(parser_.error());
  return status_;
}

absl::StatusOr<UploadForm> FormReader::Finish() {
  if (!status_.ok()) return status_;
  if (!parser_.done()) {
    return absl::InvalidArgumentError("the body ends before its closing boundary");
  }
  form_.file = std::move(file_);
  return std::move(form_);
}

bool FormReader::OnPart(const PartInfo& part) {
  field_ = nullptr;
  in_file_ = part.name == "file";
  if (in_file_) {
    if (file_ != nullptr) return Refuse(absl::InvalidArgumentError("there are two files"));
    file_ = std::make_shared<AudioBody>(budget_);
    form_.filename = part.filename;
    return true;
  }
  // A file of another name is passed over, as an unknown field is.
  if (!part.is_file) field_ = &form_.fields[part.name].emplace_back();
  return true;
}

bool FormReader::OnData(std::string_view bytes) {
  if (in_file_) {
    absl::Status status = file_->Append(bytes);
    return status.ok() || Refuse(std::move(status));
  }
  if (field_ == nullptr) return true;
  if (field_->size() + bytes.size() > limits_.field_bytes) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat("a field has more than ", limits_.field_bytes, " bytes")));
  }
  field_->append(bytes);
  return true;
}

bool FormReader::OnPartEnd() { return true; }

bool FormReader::Refuse(absl::Status status) {
  status_ = std::move(status);
  return false;
}

}  // namespace superfluid::daemon
