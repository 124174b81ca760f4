#ifndef SUPERFLUID_PROTOCOL_MESSAGES_SAMPLING_CALLS_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_SAMPLING_CALLS_H_

#include <string>
#include <vector>

#include "protocol/messages/ids.h"

// State sync calls about what steers sampling: grammars and logit biases.
namespace superfluid::linkw {

struct CreateGrammar {
  std::string json_schema;
  bool operator==(const CreateGrammar&) const = default;
};
struct CreateGrammarStructural {
  std::string tag_json;
  bool operator==(const CreateGrammarStructural&) const = default;
};
struct CreateGrammarResult {  // of both ways to create one
  GrammarHandle grammar_handle{};
  bool operator==(const CreateGrammarResult&) const = default;
};

struct FreeGrammar {
  GrammarHandle grammar_handle{};
  bool operator==(const FreeGrammar&) const = default;
};
struct FreeGrammarResult {
  bool operator==(const FreeGrammarResult&) const = default;
};

// As many values as tokens.
struct CreateLogitBias {
  std::vector<Token> tokens;
  std::vector<float> values;
  bool operator==(const CreateLogitBias&) const = default;
};
struct CreateLogitBiasResult {
  LogitBiasHandle handle{};
  bool operator==(const CreateLogitBiasResult&) const = default;
};

struct FreeLogitBias {
  LogitBiasHandle handle{};
  bool operator==(const FreeLogitBias&) const = default;
};
struct FreeLogitBiasResult {
  bool operator==(const FreeLogitBiasResult&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_SAMPLING_CALLS_H_
