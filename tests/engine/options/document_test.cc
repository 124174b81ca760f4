// The tables of engine options in README.md are those that the engines parse.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/llama/llama_options.h"
#include "engine/pocketsphinx/options.h"
#include "engine/sim/sim_options.h"
#include "engine/whisper/options.h"

namespace superfluid {
namespace {

struct Documented {
  std::string engine;
  std::vector<OptionRow> rows;
};

template <class Options>
Documented Of(const OptionTable<Options>& table) {
  return {table.engine(), table.Rows()};
}

std::vector<Documented> Engines() {
  return {Of(WhisperOptionTable()), Of(LlamaOptionTable()), Of(PocketsphinxOptionTable()),
          Of(SimOptionTable())};
}

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// `readme` with the engine's table in place of what stands between the two marks.
std::string WithTable(const std::string& readme, const Documented& engine) {
  const std::string begin = absl::StrCat("<!-- options of ", engine.engine, " -->\n");
  const std::string end = absl::StrCat("<!-- end of the options of ", engine.engine, " -->");
  const size_t from = readme.find(begin);
  const size_t to = readme.find(end);
  if (from == std::string::npos || to == std::string::npos) {
    ADD_FAILURE() << "README.md has no marks for the options of " << engine.engine;
    return readme;
  }
  return absl::StrCat(readme.substr(0, from + begin.size()), MarkdownTable(engine.rows),
                      readme.substr(to));
}

// To bring README.md up to date, run this with $SUPERFLUID_UPDATE_README naming it.
TEST(DocumentTest, TheTablesInTheReadmeAreThoseOfTheEngines) {
  const char* const update = std::getenv("SUPERFLUID_UPDATE_README");
  const std::string readme = Read(update == nullptr ? "README.md" : update);
  std::string right = readme;
  for (const Documented& engine : Engines()) right = WithTable(right, engine);
  if (update != nullptr) {
    std::ofstream(update) << right;
    return;
  }
  EXPECT_EQ(readme, right) << "run this test with SUPERFLUID_UPDATE_README=.../README.md";
}

}  // namespace
}  // namespace superfluid
