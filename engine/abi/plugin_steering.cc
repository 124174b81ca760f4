#include "engine/abi/plugin_generation.h"
#include "engine/abi/text.h"

// Of PluginGeneration: what steers sampling, grammars and biases.
namespace superfluid {

absl::StatusOr<GrammarHandle> PluginGeneration::MakeGrammar(const std::string& name,
                                                            absl::string_view text,
                                                            GrammarFunction function,
                                                            const CallControl& control) {
  const std::string terminated(text);
  const OpenCall open(call_port_, control);
  const absl::StatusOr<uint64_t> made =
      Made(name, grammars_, [&](uint64_t* grammar, sfl_error* error) {
        return function(plugin_.engine, AbiString(terminated), open.abi(), grammar, error);
      });
  if (!made.ok()) return CheckCancelled(name, made.status(), control);
  return GrammarHandle{*made};
}

absl::StatusOr<GrammarHandle> PluginGeneration::CreateGrammar(absl::string_view json_schema,
                                                              const CallControl& control) {
  CheckThread("create_grammar");
  const GrammarFunction function = functions().create_grammar;
  if (function == nullptr) return Generation::CreateGrammar(json_schema, control);
  return MakeGrammar("create_grammar", json_schema, function, control);
}

absl::StatusOr<GrammarHandle> PluginGeneration::CreateStructuralGrammar(
    absl::string_view tag_json, const CallControl& control) {
  CheckThread("create_structural_grammar");
  const GrammarFunction function = functions().create_structural_grammar;
  if (function == nullptr) return Generation::CreateStructuralGrammar(tag_json, control);
  return MakeGrammar("create_structural_grammar", tag_json, function, control);
}

absl::Status PluginGeneration::FreeGrammar(GrammarHandle grammar) {
  CheckThread("free_grammar");
  if (functions().free_grammar == nullptr) return Generation::FreeGrammar(grammar);
  const auto handle = static_cast<uint64_t>(grammar);
  if (absl::Status status = grammars_.CheckLive(handle); !status.ok()) return status;
  grammars_.Remove(handle);
  return InPlugin("free_grammar", [&](sfl_error* error) {
    return functions().free_grammar(plugin_.engine, handle, error);
  });
}

absl::StatusOr<LogitBiasHandle> PluginGeneration::CreateLogitBias(absl::Span<const Token> tokens,
                                                                  absl::Span<const float> values) {
  CheckThread("create_logit_bias");
  if (functions().create_logit_bias == nullptr) return Generation::CreateLogitBias(tokens, values);
  if (tokens.size() != values.size()) {
    return absl::InvalidArgumentError("a logit bias needs as many values as tokens");
  }
  if (absl::Status status = CheckTokens(tokens); !status.ok()) return status;
  const absl::StatusOr<uint64_t> made =
      Made("create_logit_bias", biases_, [&](uint64_t* bias, sfl_error* error) {
        return functions().create_logit_bias(plugin_.engine, tokens.data(), values.data(),
                                             tokens.size(), bias, error);
      });
  if (!made.ok()) return made.status();
  return LogitBiasHandle{*made};
}

absl::Status PluginGeneration::FreeLogitBias(LogitBiasHandle bias) {
  CheckThread("free_logit_bias");
  if (functions().free_logit_bias == nullptr) return Generation::FreeLogitBias(bias);
  const auto handle = static_cast<uint64_t>(bias);
  if (absl::Status status = biases_.CheckLive(handle); !status.ok()) return status;
  biases_.Remove(handle);
  return InPlugin("free_logit_bias", [&](sfl_error* error) {
    return functions().free_logit_bias(plugin_.engine, handle, error);
  });
}

}  // namespace superfluid
