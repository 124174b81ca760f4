#include "tests/conformance/runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

// The same on every machine and in every build, unlike std::hash.
uint64_t SeedOf(uint64_t seed, const std::string& name) {
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return seed;
}

bool IsOf(const Check& check, const std::string& id) {
  const std::vector<std::string> ids = IdsOf(check);
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Runner::Runner(Worker* plain, Worker* slow, Settings settings, uint64_t seed)
    : plain_{.worker = plain}, slow_{.worker = slow}, settings_(std::move(settings)), seed_(seed) {}

const Facts& Runner::FactsOf(Known& known) {
  known.worker->EnsureRunning();
  if (!known.facts) {
    Context context(*known.worker, settings_, seed_, Clock::now() + std::chrono::seconds(20));
    try {
      known.facts = ReadFacts(Link(context, linkw::Role::kObserver).ack());
    } catch (const Failed& failed) {
      known.unreadable = failed.what();
      throw;
    }
  }
  return *known.facts;
}

std::string Runner::WhyMeaningless(const Known& known, const Check& check) const {
  if (!known.unreadable.empty()) {
    return absl::StrCat("not run: nothing can be said about a worker whose HELLO fails: ",
                        known.unreadable);
  }
  if (!wrong_capabilities_.empty() && !check.calls.empty()) {
    return absl::StrCat("not run: it asks for what the capabilities list, and ",
                        wrong_capabilities_, " failed");
  }
  return "";
}

void Runner::RunIn(Known& known, const Check& check) {
  const Facts& facts = FactsOf(known);
  for (const std::string& call : check.calls) {
    if (!facts.Has(call)) Skip(absl::StrCat("the engine does not list \"", call, "\""));
  }
  Context context(*known.worker, settings_, SeedOf(seed_, check.title),
                  Clock::now() + std::chrono::seconds(check.limit_s));
  context.set_facts(facts);
  check.run(context);
  ExpectServing(context);
}

std::set<std::string> Runner::Calls() {
  if (!plain_.unreadable.empty()) return {};
  try {
    return FactsOf(plain_).calls;
  } catch (const Failed&) {
    return {};
  }
}

Result Runner::Run(const Check& check) {
  Result result{.check = &check};
  const auto start = Clock::now();
  Known& known = check.pace == Pace::kSlow ? slow_ : plain_;
  try {
    if (known.worker == nullptr) Skip("it needs a worker whose work takes time (--slow)");
    if (std::string why = WhyMeaningless(known, check); !why.empty()) Skip(std::move(why));
    RunIn(known, check);
  } catch (const Failed& failed) {
    result.verdict = Verdict::kFail;
    result.text = failed.what();
  } catch (const Skipped& skipped) {
    result.verdict = Verdict::kSkip;
    result.text = skipped.what();
  }
  if (known.worker != nullptr) {
    if (const std::string end = known.worker->Died(); !end.empty()) {
      result.verdict = Verdict::kFail;
      result.text = absl::StrCat("[ALWAYS-3] the worker ended (", end, ") ", result.text);
    }
  }
  if (result.verdict == Verdict::kFail && IsOf(check, "HELLO-12")) {
    wrong_capabilities_ = NameOf(check);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace superfluid::conformance
