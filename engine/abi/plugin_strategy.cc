#include <utility>

#include "engine/abi/plugin_generation.h"
#include "engine/abi/state_spaces.h"
#include "engine/abi/strategy_spec.h"

// Of PluginGeneration: strategies.
namespace superfluid {
namespace {

constexpr char kName[] = "register_strategy";

// Room for what a plug-in says of a strategy, and its way out.
class TermsRoom {
 public:
  TermsRoom() {
    terms_.get()->certificates = certificates_.abi();
    terms_.get()->identities = identities_.abi();
    terms_.get()->state_spaces = spaces_.abi();
  }

  sfl_strategy_terms* get() { return terms_.get(); }

  // Internal: the plug-in broke a rule.
  absl::StatusOr<StrategyTerms> Take() const {
    if (!terms_.intact() || !certificates_.intact() || !identities_.intact()) {
      return WrotePastTheEnd(kName);
    }
    const sfl_strategy_terms raw = terms_.value();
    StrategyTerms terms;
    terms.slot = StrategySlot{raw.slot};
    terms.reserved_bytes = raw.reserved_bytes;
    if (absl::Status status = TakeCertificates(raw, terms); !status.ok()) return status;
    absl::StatusOr<std::vector<StateSpace>> spaces =
        TakeStateSpaces(kName, spaces_, raw.state_spaces.count);
    if (!spaces.ok()) return spaces.status();
    terms.state_spaces = *std::move(spaces);
    return terms;
  }

 private:
  absl::Status TakeCertificates(const sfl_strategy_terms& raw, StrategyTerms& terms) const {
    if (raw.certificates.count > certificates_.capacity() ||
        raw.identities.count > identities_.capacity()) {
      return BrokenRule(kName, "has ", raw.certificates.count, " certificates with ",
                        raw.identities.count, " identities; the limits are ",
                        certificates_.capacity(), " and ", identities_.capacity());
    }
    const std::vector<sfl_digest> identities = identities_.Take(raw.identities.count);
    size_t used = 0;
    for (const sfl_certificate& certificate : certificates_.Take(raw.certificates.count)) {
      if (certificate.identity_count > SFL_MAX_CERTIFICATE_IDENTITIES ||
          certificate.identity_count > identities.size() - used) {
        return BrokenRule(kName, "has a certificate with ", certificate.identity_count,
                          " identities, more than there are or may be");
      }
      terms.certificates.push_back(Take(
          certificate, absl::MakeConstSpan(identities).subspan(used, certificate.identity_count)));
      used += certificate.identity_count;
    }
    if (used == identities.size()) return absl::OkStatus();
    return BrokenRule(kName, "has identities that are no certificate's");
  }

  static StrategyCertificate Take(const sfl_certificate& raw,
                                  absl::Span<const sfl_digest> identities) {
    StrategyCertificate certificate;
    certificate.cert_id = raw.cert_id;
    certificate.exactness = raw.exactness;
    certificate.sampling_modes = raw.sampling_modes;
    certificate.param_domain = raw.param_domain;
    certificate.grammar_allowed = (raw.flags & SFL_CERTIFICATE_GRAMMAR) != 0;
    certificate.logit_bias_allowed = (raw.flags & SFL_CERTIFICATE_LOGIT_BIAS) != 0;
    certificate.verification_shape_class = raw.verification_shape_class;
    for (const sfl_digest& identity : identities) {
      certificate.admissible_host_identities.push_back(DigestFromAbi(identity));
    }
    return certificate;
  }

  GuardedValue<sfl_strategy_terms> terms_;
  GuardedList<sfl_certificate> certificates_{SFL_MAX_CERTIFICATES};
  GuardedList<sfl_digest> identities_{SFL_MAX_IDENTITIES};
  GuardedList<sfl_state_space> spaces_{SFL_MAX_STATE_SPACES};
};

}  // namespace

absl::StatusOr<StrategyTerms> PluginGeneration::RegisterStrategy(const StrategySpec& strategy) {
  CheckThread(kName);
  if (functions().register_strategy == nullptr) return Generation::RegisterStrategy(strategy);
  const AbiStrategy abi_strategy(strategy);
  TermsRoom room;
  absl::Status status = InPlugin(kName, [&](sfl_error* error) {
    return functions().register_strategy(plugin_.engine, abi_strategy.get(), room.get(), error);
  });
  if (!status.ok()) return status;
  absl::StatusOr<StrategyTerms> terms = room.Take();
  if (!terms.ok()) return terms;
  const auto slot = static_cast<uint64_t>(terms->slot);
  for (const BuiltInStrategy& known : built_in_) {
    if (known.slot == terms->slot) return BrokenRule(kName, "handed out a built-in slot, ", slot);
  }
  if (status = strategies_.Add(kName, slot); !status.ok()) return status;
  return terms;
}

}  // namespace superfluid
