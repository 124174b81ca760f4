#include "tools/superfluidd/config_file.h"

#include <stdexcept>

// toml++ 3.3 asserts on some damaged files. A failed assertion is an error here, as with NDEBUG.
// (In a noexcept function it would still end the process; 300,000 mutations found none.)
#define TOML_ASSERT(holds) \
  (static_cast<bool>(holds) ? void() : throw std::logic_error("the file is damaged"))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"
#include <toml++/toml.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace superfluid::daemon {
namespace {

constexpr size_t kHashDigits = 64;
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kMostMiB = int64_t{1} << 24;
constexpr int64_t kDayMs = 86'400'000;
constexpr int kMostCpus = 1024;

// The first thing that is wrong.
class Problem {
 public:
  explicit Problem(std::string name) : name_(std::move(name)) {}
  void Note(const toml::node& node, const std::string& what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(PlaceOf(node), what));
  }
  const absl::Status& status() const { return status_; }

 private:
  std::string PlaceOf(const toml::node& node) const {
    const toml::source_position& at = node.source().begin;
    return absl::StrCat(name_, ":", at.line, ":", at.column, ": ");
  }
  std::string name_;
  absl::Status status_;
};

using Reader = std::function<void(const toml::node&)>;
using Keys = std::map<std::string, Reader>;

// Gives each key of the table to its reader.
void ReadTable(const toml::table& table, const Keys& keys, Problem& problem) {
  for (const auto& [key, node] : table) {
    const auto found = keys.find(std::string(key.str()));
    if (found == keys.end()) {
      problem.Note(node, absl::StrCat("there is no key '", std::string(key.str()), "'"));
    } else {
      found->second(node);
    }
  }
}

Reader Text(std::string& target, Problem& problem) {
  return [&](const toml::node& node) {
    const auto value = node.value_exact<std::string>();
    if (!value.has_value()) return problem.Note(node, "this is to be a text");
    target = *value;
  };
}

Reader Choice(std::string& target, const std::vector<std::string>& choices, Problem& problem) {
  return [&target, choices, &problem](const toml::node& node) {
    const auto value = node.value_exact<std::string>();
    if (value.has_value() && std::find(choices.begin(), choices.end(), *value) != choices.end()) {
      target = *value;
    } else {
      problem.Note(node, absl::StrCat("this is to be one of ", absl::StrJoin(choices, ", ")));
    }
  };
}

Reader Whole(int64_t min, int64_t max, std::function<void(int64_t)> set, Problem& problem) {
  return [min, max, set = std::move(set), &problem](const toml::node& node) {
    const auto value = node.value_exact<int64_t>();
    if (!value.has_value() || *value < min || *value > max) {
      return problem.Note(node,
                          absl::StrCat("this is to be a whole number from ", min, " to ", max));
    }
    set(*value);
  };
}

Reader Texts(std::vector<std::string>& target, Problem& problem) {
  return [&](const toml::node& node) {
    const toml::array* values = node.as_array();
    if (values == nullptr) return problem.Note(node, "this is to be a list of texts");
    target.clear();
    for (const toml::node& value : *values) Text(target.emplace_back(), problem)(value);
  };
}

// Calls `read` for each table of an array of tables.
Reader Tables(std::function<void(const toml::table&)> read, Problem& problem) {
  return [read = std::move(read), &problem](const toml::node& node) {
    const toml::array* tables = node.as_array();
    if (tables == nullptr) return problem.Note(node, "this is to be a list of tables");
    for (const toml::node& table : *tables) {
      if (table.is_table()) {
        read(*table.as_table());
      } else {
        problem.Note(table, "this is to be a table");
      }
    }
  };
}

Reader Section(Keys keys, Problem& problem) {
  return [keys = std::move(keys), &problem](const toml::node& node) {
    if (!node.is_table()) return problem.Note(node, "this is to be a table");
    ReadTable(*node.as_table(), keys, problem);
  };
}

// The options of an engine: texts, numbers and truth values, as the command line takes them.
Reader EngineOptions(std::vector<std::pair<std::string, std::string>>& target, Problem& problem) {
  return [&](const toml::node& node) {
    if (!node.is_table()) return problem.Note(node, "this is to be a table");
    for (const auto& [key, value] : *node.as_table()) {
      std::string text;
      if (const auto word = value.value_exact<std::string>()) {
        text = *word;
      } else if (const auto number = value.value_exact<int64_t>()) {
        text = absl::StrCat(*number);
      } else if (const auto real = value.value_exact<double>()) {
        text = absl::StrCat(*real);
      } else if (const auto truth = value.value_exact<bool>()) {
        text = *truth ? "1" : "0";
      } else {
        problem.Note(value, "an option is a text, a number or a truth value");
      }
      target.emplace_back(std::string(key.str()), text);
    }
  };
}

Reader CpuSets(std::vector<std::vector<int>>& target, Problem& problem) {
  return [&](const toml::node& node) {
    const toml::array* sets = node.as_array();
    if (sets == nullptr) return problem.Note(node, "this is to be a list of lists of CPUs");
    for (const toml::node& set : *sets) {
      std::vector<int>& cpus = target.emplace_back();
      const toml::array* numbers = set.as_array();
      if (numbers == nullptr) return problem.Note(set, "this is to be a list of CPUs");
      for (const toml::node& number : *numbers) {
        Whole(
            0, kMostCpus - 1, [&](int64_t cpu) { cpus.push_back(static_cast<int>(cpu)); },
            problem)(number);
      }
    }
  };
}

template <class Target>
std::function<void(int64_t)> Set(Target& target, int64_t factor = 1) {
  return [&target, factor](int64_t value) { target = static_cast<Target>(value * factor); };
}

std::function<void(int64_t)> SetMs(absl::Duration& target) {
  return [&target](int64_t value) { target = absl::Milliseconds(value); };
}

void ReadModel(const toml::table& table, DaemonConfig& config, Problem& problem) {
  ModelConfig& model = config.models.emplace_back();
  constexpr int64_t kMost = 65536;
  ReadTable(table,
            {{"name", Text(model.name, problem)},
             {"aliases", Texts(model.aliases, problem)},
             {"engine", Text(model.engine, problem)},
             {"path", Text(model.path, problem)},
             {"options", EngineOptions(model.options, problem)},
             {"devices", Text(model.devices, problem)},
             {"threads", Whole(0, kMost, Set(model.threads), problem)},
             {"places", Whole(0, kMost, Set(model.places), problem)},
             {"cpus", CpuSets(model.cpus, problem)}},
            problem);
}

bool IsHash(const std::string& text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void ReadKey(const toml::table& table, DaemonConfig& config, Problem& problem) {
  ApiKey& key = config.keys.emplace_back();
  ReadTable(table,
            {{"name", Text(key.name, problem)},
             {"sha256", Text(key.sha256, problem)},
             {"priority", Whole(-1000, 1000, Set(key.priority), problem)}},
            problem);
  if (key.name.empty()) problem.Note(table, "a key has a name");
  if (!IsHash(key.sha256)) {
    problem.Note(table, "sha256 is the key's SHA-256 as 64 hexadecimal digits in lower case");
  }
}

Keys ServerKeys(DaemonConfig& config, Problem& problem) {
  return {{"listen", Texts(config.listen, problem)},
          {"tls_certificate", Text(config.tls_certificate, problem)},
          {"tls_key", Text(config.tls_key, problem)},
          {"worker", Text(config.worker_program, problem)},
          {"engine_dirs", Texts(config.engine_dirs, problem)},
          {"drain_ms", Whole(0, kDayMs, SetMs(config.drain), problem)},
          {"log_level", Choice(config.log_level, LogLevels(), problem)},
          {"log_format", Choice(config.log_format, LogFormats(), problem)}};
}

Keys LimitKeys(DaemonConfig& config, Problem& problem) {
  constexpr int64_t kMostWaiting = 1'000'000;
  return {{"upload_mb", Whole(1, kMostMiB, Set(config.max_upload_bytes, kMiB), problem)},
          {"upload_memory_mb", Whole(1, kMostMiB, Set(config.upload_memory_bytes, kMiB), problem)},
          {"waiting", Whole(0, kMostWaiting, Set(config.max_waiting), problem)},
          {"waiting_of_key", Whole(0, kMostWaiting, Set(config.max_waiting_of_key), problem)},
          {"deadline_ms", Whole(1, kDayMs, SetMs(config.max_deadline), problem)}};
}

void CheckNames(const toml::table& file, const DaemonConfig& config, Problem& problem) {
  std::set<std::string> names;
  for (const ModelConfig& model : config.models) {
    if (!names.insert(NameOf(model)).second) {
      problem.Note(file, absl::StrCat("two models are named ", NameOf(model)));
    }
  }
  if (config.models.empty()) problem.Note(file, "there is no model");
  if (config.listen.empty()) problem.Note(file, "there is no address to listen on");
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    problem.Note(file, "tls_certificate and tls_key go together");
  }
}

}  // namespace

absl::Status ReadConfig(std::string_view text, const std::string& name, DaemonConfig& config) {
  toml::table file;
  try {
    file = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    const std::string_view what = error.description();
    return absl::InvalidArgumentError(
        absl::StrCat(name, ":", at.line, ":", at.column, ": ", std::string(what)));
  } catch (const std::logic_error& error) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", error.what()));
  }
  Problem problem(name);
  if (file.contains("model")) config.models.clear();
  ReadTable(
      file,
      {{"server", Section(ServerKeys(config, problem), problem)},
       {"limits", Section(LimitKeys(config, problem), problem)},
       {"model", Tables([&](const toml::table& t) { ReadModel(t, config, problem); }, problem)},
       {"key", Tables([&](const toml::table& t) { ReadKey(t, config, problem); }, problem)}},
      problem);
  CheckNames(file, config, problem);
  return problem.status();
}

absl::Status ReadConfigFile(const std::string& path, DaemonConfig& config) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::ostringstream text;
  text << file.rdbuf();
  return ReadConfig(text.str(), path, config);
}

}  // namespace superfluid::daemon
