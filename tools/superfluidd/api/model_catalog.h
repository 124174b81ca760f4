#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_MODEL_CATALOG_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_MODEL_CATALOG_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace superfluid::daemon {

// The models that clients may name. A value.
class ModelCatalog {
 public:
  struct Model {
    std::string name;
    std::vector<std::string> aliases;  // other names; "*" stands for any
  };

  ModelCatalog() = default;
  explicit ModelCatalog(std::vector<Model> models) : models_(std::move(models)) {}

  const std::vector<Model>& models() const { return models_; }

  // Returns the name of the model that a client means; the first model if it names none. nullopt:
  // there is no such model.
  std::optional<std::string> Resolve(const std::string& wanted) const {
    if (models_.empty()) return std::nullopt;
    if (wanted.empty()) return models_.front().name;
    for (const Model& model : models_) {
      if (model.name == wanted || Has(model.aliases, wanted)) return model.name;
    }
    for (const Model& model : models_) {
      if (Has(model.aliases, "*")) return model.name;
    }
    return std::nullopt;
  }

 private:
  static bool Has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::vector<Model> models_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_MODEL_CATALOG_H_
