#include "cli/load_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "cli/load_variant.h"
#include "cli/trace_plans.h"
#include "experiment/completion.h"
#include "experiment/evaluation.h"
#include "experiment/words.h"
#include "store/completion_json.h"
#include "store/trial_folder.h"
#include "sys/source.h"
#include "trace/rocprof_counters/rocprof_counters.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using experiment::Completion;
using experiment::TrialRecord;

// Decode, as far as it is known: its window on the profiler's clock, and the tokens in it.
struct Decode {
  std::optional<trace::CountWindow> window;
  std::optional<base::Tokens> tokens;
};

// Tokens arrive a little after they are made, the first as the last: what one end of the window has
// of a step too much, the other lacks.
Decode DecodeOf(const std::optional<Completion>& completion, const CountOptions& options) {
  const bool known = completion && completion->clock == base::NamedClock::kBoottime &&
                     completion->arrivals.size() > 1 && Count(completion->generated) > 1;
  if (!known || options.whole) return {};
  return {trace::CountWindow{completion->arrivals.front(), completion->arrivals.back()},
          base::Tokens(Count(completion->generated) - 1)};
}

Result<trace::CounterSet> ReadCounters(const std::string& path, const Decode& decode) {
  const auto source = sys::Source::Open(path);
  if (!source) return Fail(source.error());
  return trace::rocprof_counters::Read(*source, decode.window);
}

Result<analysis::Counted> LoadFile(const std::string& argument, const CountOptions& options,
                                   const analysis::RuleSet& rules) {
  const VariantArgument variant = ParseVariant(argument);
  if (variant.untraced_ms || variant.untraced_file) {
    return Fail(ErrorCode::kUsage, "counters stand beside no time", argument);
  }
  if (store::IsRunDirectory(variant.path)) {
    return Fail(ErrorCode::kUsage, "is a run directory, which has counters of each variant",
                variant.path, "give it to --read alone");
  }
  auto files = store::FindTrialFiles(variant.path);
  if (!files) return Fail(std::move(files.error()));
  if (!options.request_file.empty()) files->request = options.request_file;
  std::optional<Completion> completion;
  if (files->request && !options.whole) {
    auto read = store::ReadCompletionFile(*files->request);
    if (!read) return Fail(std::move(read.error()));
    completion = *std::move(read);
  }
  const Decode decode = DecodeOf(completion, options);
  auto set = ReadCounters(files->trace, decode);
  if (!set) return Fail(std::move(set.error()));
  return analysis::CountVariant(variant.label, {&*set, 1}, decode.tokens, rules);
}

// The last valid trial of an arm that counted this; null without one.
const TrialRecord* TrialOf(const store::RunDirectory& run, std::size_t arm,
                           const CounterPass& pass) {
  const TrialRecord* found = nullptr;
  for (const TrialRecord& trial : run.counters()) {
    const bool fits = trial.valid() && trial.trace && trial.counters == pass;
    if (fits && experiment::ArmOf(run.spec(), trial) == arm) found = &trial;
  }
  return found;
}

// Passes that a run was asked for, and those that it has all the same.
std::vector<CounterPass> PassesOf(const store::RunDirectory& run) {
  std::vector<CounterPass> passes = run.info().counter_passes;
  for (const TrialRecord& trial : run.counters()) {
    const bool known = std::ranges::find(passes, trial.counters) != passes.end();
    if (trial.valid() && !known) passes.push_back(trial.counters);
  }
  return passes;
}

// ArmLoader reads the passes of one arm of a run.
class ArmLoader {
 public:
  ArmLoader(const store::RunDirectory& run, std::size_t arm, const CountOptions& options,
            LoadedCounters& loaded)
      : run_(run),
        arm_(arm),
        label_(experiment::LabelOf(run.spec(), arm)),
        options_(options),
        loaded_(loaded) {}

  void Load(const analysis::RuleSet& rules) {
    for (const CounterPass& pass : PassesOf(run_)) LoadPass(pass);
    if (sets_.empty()) return;
    loaded_.variants.push_back(analysis::CountVariant(label_, sets_, tokens_, rules));
  }

 private:
  void LoadPass(const CounterPass& pass) {
    const std::string names = fmt::format("{}", fmt::join(pass, ", "));
    const TrialRecord* trial = TrialOf(run_, arm_, pass);
    if (trial == nullptr) {
      loaded_.missing.push_back(fmt::format("{} has no counts of {}", label_, names));
      return;
    }
    const Decode decode = DecodeOf(trial->completion, options_);
    auto set = ReadCounters(run_.FilesOf(*trial).trace, decode);
    if (!set) {
      loaded_.missing.push_back(fmt::format("{}: {}", label_, set.error().Text()));
      return;
    }
    sets_.push_back(*std::move(set));
    tokens_ = decode.tokens;
    const auto note = [&](report::Note::Level level, const char* id, const std::string& text) {
      loaded_.notes.push_back({level, id, base::Printable(label_ + ": " + text)});
    };
    note(report::Note::Level::kInfo, "how", names + ": " + trial->trace->how);
    for (const std::string& text : trial->trace->notes) {
      note(report::Note::Level::kNotice, "collector", text);
    }
  }

  const store::RunDirectory& run_;
  std::size_t arm_;
  std::string label_;
  const CountOptions& options_;
  LoadedCounters& loaded_;
  std::vector<trace::CounterSet> sets_;
  std::optional<base::Tokens> tokens_;
};

}  // namespace

Result<LoadedCounters> LoadCounterFiles(const std::vector<std::string>& arguments,
                                        const CountOptions& options) {
  if (arguments.size() > 1 && !options.request_file.empty()) {
    return Fail(ErrorCode::kUsage, "--request-file is about one file, and several are given");
  }
  auto rules = LoadRules(options.rules_file);
  if (!rules) return Fail(std::move(rules.error()));
  LoadedCounters loaded;
  for (const std::string& argument : arguments) {
    auto counted = LoadFile(argument, options, *rules);
    if (!counted) return Fail(std::move(counted.error()));
    loaded.variants.push_back(*std::move(counted));
  }
  return loaded;
}

Result<LoadedCounters> LoadRunCounters(const store::RunDirectory& run,
                                       const CountOptions& options) {
  auto rules = LoadRules(options.rules_file);
  if (!rules) return Fail(std::move(rules.error()));
  LoadedCounters loaded;
  for (std::size_t arm = 0; arm < experiment::ArmCount(run.spec()); ++arm) {
    ArmLoader(run, arm, options, loaded).Load(*rules);
  }
  if (!loaded.variants.empty()) return loaded;
  return Fail(ErrorCode::kIncomplete,
              loaded.missing.empty() ? "nothing was counted in it" : loaded.missing.front(),
              run.path(),
              fmt::format("culprit counters --resume {} counts", experiment::AsWord(run.path())));
}

}  // namespace culprit::cli
