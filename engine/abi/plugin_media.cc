#include "engine/abi/plugin_generation.h"
#include "engine/abi/text.h"

// Of PluginGeneration: adapters and media.
namespace superfluid {

absl::StatusOr<AdapterId> PluginGeneration::LoadAdapter(const std::string& path,
                                                        const CallControl& control) {
  CheckThread("load_adapter");
  if (functions().load_adapter == nullptr) return Generation::LoadAdapter(path, control);
  const OpenCall open(call_port_, control);
  const absl::StatusOr<uint64_t> adapter =
      Number("load_adapter", 0, [&](uint64_t* answer, sfl_error* error) {
        return functions().load_adapter(plugin_.engine, AbiString(path), open.abi(), answer, error);
      });
  if (!adapter.ok()) return CheckCancelled("load_adapter", adapter.status(), control);
  return AdapterId{*adapter};
}

absl::Status PluginGeneration::UnloadAdapter() {
  CheckThread("unload_adapter");
  if (functions().unload_adapter == nullptr) return Generation::UnloadAdapter();
  return InPlugin("unload_adapter", [&](sfl_error* error) {
    return functions().unload_adapter(plugin_.engine, error);
  });
}

absl::StatusOr<AdapterId> PluginGeneration::CurrentAdapter() {
  CheckThread("current_adapter");
  if (functions().current_adapter == nullptr) return Generation::CurrentAdapter();
  const absl::StatusOr<uint64_t> adapter =
      Number("current_adapter", ~uint64_t{0}, [&](uint64_t* answer, sfl_error* error) {
        return functions().current_adapter(plugin_.engine, answer, error);
      });
  if (!adapter.ok()) return adapter.status();
  return AdapterId{*adapter};
}

absl::StatusOr<MediaInfo> PluginGeneration::TakeMediaInfo(
    const std::string& name, const GuardedValue<sfl_media_info>& info) const {
  const sfl_media_info raw = info.value();
  if (raw.token_count == 0) return BrokenRule(name, "left its result unset");
  for (const Token token : {raw.image_token, raw.boi_token, raw.eoi_token}) {
    if (token >= vocab_size_) {
      return BrokenRule(name, "names token ", token, ", which is outside the vocabulary");
    }
  }
  return MediaInfo{raw.token_count, raw.image_token, raw.boi_token, raw.eoi_token,
                   raw.preprocess_fp};
}

absl::StatusOr<MediaInfo> PluginGeneration::ProbeMedia(const std::string& path,
                                                       const CallControl& control) {
  CheckThread("probe_media");
  if (functions().probe_media == nullptr) return Generation::ProbeMedia(path, control);
  GuardedValue<sfl_media_info> info;
  const OpenCall open(call_port_, control);
  const absl::Status status = InPlugin("probe_media", [&](sfl_error* error) {
    return functions().probe_media(plugin_.engine, AbiString(path), open.abi(), info.get(), error);
  });
  if (!info.intact()) return WrotePastTheEnd("probe_media");
  if (!status.ok()) return CheckCancelled("probe_media", status, control);
  return TakeMediaInfo("probe_media", info);
}

absl::StatusOr<EncodedMedia> PluginGeneration::EncodeMedia(const std::string& path,
                                                           const CallControl& control) {
  CheckThread("encode_media");
  if (functions().encode_media == nullptr) return Generation::EncodeMedia(path, control);
  GuardedValue<sfl_media_info> info;
  const OpenCall open(call_port_, control);
  const absl::StatusOr<uint64_t> made =
      Made("encode_media", media_, [&](uint64_t* media, sfl_error* error) {
        return functions().encode_media(plugin_.engine, AbiString(path), open.abi(), media,
                                        info.get(), error);
      });
  if (!info.intact()) return WrotePastTheEnd("encode_media");
  if (!made.ok()) return CheckCancelled("encode_media", made.status(), control);
  const absl::StatusOr<MediaInfo> taken = TakeMediaInfo("encode_media", info);
  if (!taken.ok()) return taken.status();
  return EncodedMedia{MediaHandle{*made}, *taken};
}

absl::Status PluginGeneration::ReleaseMedia(MediaHandle media) {
  CheckThread("release_media");
  if (functions().release_media == nullptr) return Generation::ReleaseMedia(media);
  const auto handle = static_cast<uint64_t>(media);
  if (absl::Status status = media_.CheckLive(handle); !status.ok()) return status;
  media_.Remove(handle);
  return InPlugin("release_media", [&](sfl_error* error) {
    return functions().release_media(plugin_.engine, handle, error);
  });
}

absl::Status PluginGeneration::BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset) {
  CheckThread("bind_media");
  if (functions().bind_media == nullptr) return Generation::BindMedia(tag, media, token_offset);
  const auto handle = static_cast<uint64_t>(media);
  if (absl::Status status = media_.CheckLive(handle); !status.ok()) return status;
  return InPlugin("bind_media", [&](sfl_error* error) {
    return functions().bind_media(plugin_.engine, static_cast<uint64_t>(tag), handle, token_offset,
                                  error);
  });
}

}  // namespace superfluid
