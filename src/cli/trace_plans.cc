#include "cli/trace_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "collect/registry.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

constexpr std::string_view kAsk =
    "rocprofv3-avail list --pmc, or rocprofv3 --list-avail, names them";

// Both are defined for every architecture from gfx9 to gfx11 (counter_defs.yaml of
// rocprofiler-sdk), and each is in a block of its own, so that they fit one pass: how many waves a
// launch makes, and for how many clocks the GPU is active.
const CounterPass& DefaultPass() {
  static const CounterPass kPass = {"SQ_WAVES", "GRBM_GUI_ACTIVE"};
  return kPass;
}

// "SQ_WAVES", "TCC_HIT[0]", "SQ_WAVES:device=0". A flag would be taken for one of rocprofv3's.
bool MayBeCounter(std::string_view name) {
  return std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("_[]:=.").find(c) != std::string_view::npos;
         });
}

Result<CounterPass> ParsePass(std::string_view text) {
  CounterPass pass;
  constexpr std::string_view kBetween = ", \t\n";
  while (true) {
    const auto begin = text.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) break;
    const auto end = std::min(text.find_first_of(kBetween, begin), text.size());
    std::string name(text.substr(begin, end - begin));
    text.remove_prefix(end);
    if (!MayBeCounter(name)) {
      return Fail(ErrorCode::kUsage, base::Printable(name) + " is no name of a counter", "--pmc",
                  std::string(kAsk));
    }
    if (std::ranges::find(pass, name) == pass.end()) pass.push_back(std::move(name));
  }
  if (!pass.empty()) return pass;
  return Fail(ErrorCode::kUsage, "no counter is named", "--pmc", std::string(kAsk));
}

// What a run directory says is as foreign as what a user types: a name may become a flag, and no
// name at all would make a trace.
base::Status CheckPass(const CounterPass& pass, const std::string& run) {
  for (const std::string& name : pass) {
    if (!name.empty() && MayBeCounter(name)) continue;
    return Fail(ErrorCode::kBadRequest,
                "\"counter_passes\" holds " + base::Printable(name) + ", which is no counter",
                run + "/run.json");
  }
  if (!pass.empty()) return {};
  return Fail(ErrorCode::kBadRequest, "\"counter_passes\" holds a pass without counters",
              run + "/run.json");
}

// Without a wish, the kernels' own profiler where there is one for the device.
std::string CollectorFor(gpu::Vendor vendor) {
  return std::string(vendor == gpu::Vendor::kAmd ? collect::kRocprofv3 : collect::kGgmlOps);
}

Result<lab::TracePlan> PlanOfTraces(const store::RunDirectory& run, gpu::Vendor vendor,
                                    const std::string& prompt) {
  const std::string& wanted = run.spec().collector;
  const std::string name = wanted.empty() ? CollectorFor(vendor) : wanted;
  if (auto known = collect::MakeCollector(name); !known) return Fail(std::move(known.error()));
  return lab::TracePlan{.spec = run.spec(),
                        .prompt = prompt,
                        .earlier = run.traces(),
                        .timed = run.trials(),
                        .collector = [name] { return *collect::MakeCollector(name); }};
}

lab::TracePlan PlanOfCounters(const store::RunDirectory& run, const CounterPass& pass,
                              const std::string& prompt) {
  return {.spec = run.spec(),
          .prompt = prompt,
          .earlier = run.counters(),
          .timed = run.trials(),
          .collector = [pass] { return collect::MakeCounterCollector(pass); },
          .counters = pass};
}

}  // namespace

Result<std::vector<CounterPass>> ParsePasses(std::span<const std::string> given) {
  std::vector<CounterPass> passes;
  for (const std::string& text : given) {
    auto pass = ParsePass(text);
    if (!pass) return Fail(std::move(pass.error()));
    if (std::ranges::find(passes, *pass) == passes.end()) passes.push_back(*std::move(pass));
  }
  return passes;
}

std::vector<CounterPass> PassesWith(std::vector<CounterPass> kept, std::vector<CounterPass> given) {
  for (CounterPass& pass : given) {
    if (std::ranges::find(kept, pass) == kept.end()) kept.push_back(std::move(pass));
  }
  if (kept.empty()) kept.push_back(DefaultPass());
  return kept;
}

Result<std::vector<lab::TracePlan>> TracePlans(const store::RunDirectory& run, Stages stages,
                                               gpu::Vendor vendor,
                                               std::span<const CounterPass> passes,
                                               const std::string& prompt) {
  std::vector<lab::TracePlan> plans;
  if (stages.trace) {
    auto plan = PlanOfTraces(run, vendor, prompt);
    if (!plan) return Fail(std::move(plan.error()));
    plans.push_back(*std::move(plan));
  }
  if (stages.count) {
    for (const CounterPass& pass : passes) {
      if (auto fits = CheckPass(pass, run.path()); !fits) return Fail(std::move(fits.error()));
      plans.push_back(PlanOfCounters(run, pass, prompt));
    }
  }
  return plans;
}

bool HasAllTraces(const store::RunDirectory& run, Stages stages,
                  std::span<const CounterPass> passes) {
  if (stages.trace && !lab::HasAllTraces(run.spec(), run.traces())) return false;
  return !stages.count || std::ranges::all_of(passes, [&](const CounterPass& pass) {
    return lab::HasAllTraces(run.spec(), run.counters(), pass);
  });
}

}  // namespace culprit::cli
