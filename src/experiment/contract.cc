#include "experiment/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/number_format.h"
#include "experiment/server_flags.h"

namespace culprit::experiment {
namespace {

using base::Tokens;
using Objections = std::vector<Objection>;

std::string Fact(const TrialRecord& trial, const std::string& key) {
  const auto it = trial.facts.find(key);
  return it == trial.facts.end() ? std::string() : it->second;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// What a server says of itself is believed only as far as the client's clock allows: its phases
// cannot have taken longer than the whole request, nor its tokens have come more slowly than it
// generated them. The slack is for what happens on the way.
void CheckTimings(const Completion& completion, const ServerTimings& timings,
                  Objections& objections) {
  constexpr base::NanosF kSlack{50e6};
  const bool decodes = Count(timings.predicted) > 1;
  if (decodes && timings.predicted_time <= base::NanosF(0)) {
    objections.push_back({"no_timings", fmt::format("the server says that {} tokens took no time",
                                                    Count(timings.predicted))});
    return;
  }
  if (!completion.sent || !completion.ended || completion.arrivals.empty()) return;
  const base::NanosF whole = *completion.ended - *completion.sent;
  const base::NanosF stream = completion.arrivals.back() - completion.arrivals.front();
  const base::NanosF claimed = timings.prompt_time + timings.predicted_time;
  const auto object = [&](base::NanosF server, base::NanosF client, std::string_view what) {
    objections.push_back(
        {"timings_disagree", fmt::format("the server says {} ms for {}, its client saw {}",
                                         base::Millis(server), what, base::Millis(client))});
  };
  if (claimed > 1.5 * whole + kSlack) {
    object(claimed, whole, "the request");
  } else if (decodes && stream > 1.5 * timings.predicted_time + kSlack) {
    object(timings.predicted_time, stream, "decode");
  }
}

void CheckTokens(const Completion& completion, const Workload& workload, Objections& objections) {
  if (completion.prompt != workload.prompt) {
    objections.push_back(
        {"prompt_tokens", fmt::format("recalibrate: the prompt had {} tokens instead of {}",
                                      Count(completion.prompt), Count(workload.prompt))});
  }
  const auto& timings = completion.timings;
  const std::int64_t cached = timings && timings->cached ? Count(*timings->cached) : 0;
  if (!workload.cache_prompt && cached > 0) {
    objections.push_back(
        {"cached_prompt", fmt::format("{} prompt tokens came from the cache", cached)});
  }
  if (workload.cache_prompt && cached < Count(workload.prompt) / 2) {
    objections.push_back(
        {"prompt_not_cached", fmt::format("only {} prompt tokens came from the cache", cached)});
  }
  const Tokens generated = timings ? timings->predicted : completion.generated;
  const bool early = completion.finish_reason && *completion.finish_reason != "length";
  if (generated != workload.output || early) {
    objections.push_back(
        {"output_tokens",
         fmt::format("it generated {} tokens instead of {}{}", Count(generated),
                     Count(workload.output),
                     early ? fmt::format(" (finish reason {})", *completion.finish_reason) : "")});
  }
  if (!timings) {
    objections.push_back({"no_timings", "the server sent no timings"});
  } else {
    CheckTimings(completion, *timings, objections);
  }
}

// At its power limit a device runs as fast as it always can; both variants meet the same limit.
// Heat and broken supplies come and go.
bool IsPowerLimit(std::string_view reason) {
  constexpr std::array<std::string_view, 6> kLimits = {"sustained_power", "fast_power",
                                                       "slow_power",      "slow_power_apu",
                                                       "sw_power_cap",    "sync_boost"};
  return std::find(kLimits.begin(), kLimits.end(), reason) != kLimits.end();
}

void CheckMachine(const TrialRecord& trial, Objections& objections) {
  if (trial.gate && !trial.gate->idle) {
    objections.push_back({kNotIdle, fmt::format("the machine was not idle: {}. Stop what uses it; "
                                                "--idle-readings 0 would not wait",
                                                trial.gate->why_not)});
  }
  if (!trial.foreign_processes.empty()) {
    objections.push_back({"foreign_process", fmt::format("the device was also used by {}",
                                                         Joined(trial.foreign_processes))});
  }
  for (const char* phase : {"prefill", "decode"}) {
    const auto it = trial.readings.find(phase);
    if (it == trial.readings.end() || !it->second.throttled) continue;
    std::vector<std::string> reasons;
    std::copy_if(it->second.throttled->begin(), it->second.throttled->end(),
                 std::back_inserter(reasons), [](const auto& name) { return !IsPowerLimit(name); });
    if (reasons.empty()) continue;
    objections.push_back(
        {"throttled", fmt::format("the device throttled during {}: {}", phase, Joined(reasons))});
  }
}

// A variant is one thing: a trial in which it is another cannot be put beside its others.
void CheckIdentity(const TrialRecord& trial, const TrialRecord& earlier, Objections& objections) {
  for (const char* key : {"backend", "layers_on_device", "build", "model"}) {
    const std::string now = Fact(trial, key), before = Fact(earlier, key);
    if (now == before || now.empty() || before.empty()) continue;
    objections.push_back(
        {"server_changed",
         fmt::format("{} was \"{}\" in trial {} and is \"{}\" now", key, before, earlier.id, now)});
  }
  // Which libraries are loaded may differ (a driver's compiler comes only when its cache is cold),
  // but not what one and the same file is.
  for (const auto& [path, hash] : trial.objects) {
    const auto before = earlier.objects.find(path);
    if (before == earlier.objects.end() || before->second == hash) continue;
    objections.push_back(
        {"server_changed", fmt::format("{} is not the file it was in trial {}", path, earlier.id)});
  }
}

const Variant* FindVariant(const Spec& spec, const std::string& label) {
  for (const Variant& variant : spec.variants) {
    if (variant.label == label) return &variant;
  }
  return nullptr;
}

// A variant that asks for another placement gets it compared; otherwise a server that fell back to
// the CPU, or put fewer layers on the device, is compared with something else than was meant.
void CheckPlacement(const Spec& spec, const TrialRecord& baseline, const TrialRecord& candidate,
                    Objections& objections) {
  const Variant* a = FindVariant(spec, baseline.variant);
  const Variant* b = FindVariant(spec, candidate.variant);
  const bool asked =
      a != nullptr && b != nullptr && a->arguments != b->arguments &&
      (Uses(Option::kPlacement, a->arguments) || Uses(Option::kPlacement, b->arguments));
  const bool other_binary = a != nullptr && b != nullptr && a->binary != b->binary;
  if (asked) return;
  const std::string layers_a = Fact(baseline, "layers_on_device");
  const std::string layers_b = Fact(candidate, "layers_on_device");
  if (layers_a != layers_b) {
    objections.push_back(
        {"layers_differ", fmt::format("{} has {} layers on the device, {} has {}", baseline.variant,
                                      layers_a.empty() ? "no" : layers_a, candidate.variant,
                                      layers_b.empty() ? "no" : layers_b)});
  }
  const std::string backend_a = Fact(baseline, "backend"), backend_b = Fact(candidate, "backend");
  const bool one_on_cpu = (backend_a == "CPU") != (backend_b == "CPU");
  if (backend_a != backend_b && (one_on_cpu || !other_binary)) {
    objections.push_back({"backend_differs", fmt::format("{} ran on {}, {} on {}", baseline.variant,
                                                         backend_a, candidate.variant, backend_b)});
  }
}

void CheckAcceptance(const TrialRecord& baseline, const TrialRecord& candidate,
                     Objections& objections) {
  const auto a = baseline.completion->acceptance(), b = candidate.completion->acceptance();
  if (!a || !b) return;
  const auto& text = baseline.completion->text;
  const auto& ids = baseline.completion->token_ids;
  // A text that nobody recorded may be any.
  const bool same_text = (text || !ids.empty()) && text == candidate.completion->text &&
                         ids == candidate.completion->token_ids;
  constexpr double kMaterial = 0.01;
  if (same_text || std::abs(a->value() - b->value()) <= kMaterial) return;
  objections.push_back(
      {"acceptance_differs",
       fmt::format("speculation accepted {} of its drafts for {} and {} for {}, and the texts "
                   "{}: the rate alone proves nothing",
                   base::Percent(*a), baseline.variant, base::Percent(*b), candidate.variant,
                   !text && ids.empty() ? "are not known" : "differ")});
}

}  // namespace

Objections ObjectTo(const TrialRecord& trial, const Workload& workload,
                    const TrialRecord* earlier) {
  Objections objections;
  if (trial.completion) CheckTokens(*trial.completion, workload, objections);
  CheckMachine(trial, objections);
  if (trial.completion && earlier != nullptr) CheckIdentity(trial, *earlier, objections);
  return objections;
}

Objections ObjectToPair(const Spec& spec, const TrialRecord& baseline,
                        const TrialRecord& candidate) {
  Objections objections;
  CheckPlacement(spec, baseline, candidate, objections);
  CheckAcceptance(baseline, candidate, objections);
  return objections;
}

bool Temporary(const Objection& objection) {
  constexpr std::array<std::string_view, 6> kTemporary = {
      kNotIdle, "foreign_process", "throttled", "output_tokens", "prompt_not_cached", "port_taken"};
  return std::find(kTemporary.begin(), kTemporary.end(), objection.id) != kTemporary.end();
}

}  // namespace culprit::experiment
