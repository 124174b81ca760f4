#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_GENERATION_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_GENERATION_H_

#include <memory>
#include <utility>

#include "engine/generation/session_generation.h"
#include "engine/llama/llama_token_model.h"

namespace superfluid {

// Token generation by llama.cpp: SessionGeneration over LlamaTokenModel. What is left out (stages;
// media without the option mmproj) answers Unimplemented.
class LlamaGeneration final : public SessionGeneration {
 public:
  // `model` has been warmed up.
  explicit LlamaGeneration(std::unique_ptr<LlamaTokenModel> model)
      : SessionGeneration(std::move(model)) {}

  const LlamaTokenModel& llama() const { return static_cast<const LlamaTokenModel&>(model()); }
  // And that no more cells are used than there are.
  bool CheckInvariants() const {
    return SessionGeneration::CheckInvariants() && llama().cells.used() <= llama().cells.total();
  }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_GENERATION_H_
