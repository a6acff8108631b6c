#include "experiment/residue.h"

#include <algorithm>
#include <map>

#include "experiment/server_flags.h"

namespace culprit::experiment {
namespace {

using FactNames = std::vector<std::string_view>;

bool Has(const FactNames& names, std::string_view fact) {
  return std::find(names.begin(), names.end(), fact) != names.end();
}

// FactsBehind are those that follow from an option of the server.
const std::map<Option, FactNames>& FactsBehind() {
  static const std::map<Option, FactNames> all = {
      {Option::kThreads, {"threads"}},
      {Option::kContext, {"context_tokens", "kv_cache_mib"}},
      {Option::kSlots, {"slots", "context_tokens"}},
      {Option::kFlashAttention, {"flash_attention"}},
      {Option::kKvTypes, {"kv_cache_mib", "kv_cache_type"}},
      {Option::kPlacement, {"layers_on_device", "backend", "devices"}},
      {Option::kDraftModel, {"kv_cache_mib", "devices"}},
      {Option::kSpeculation, {"kv_cache_mib", "devices"}},
      {Option::kModel, {"model", "layers_on_device", "kv_cache_mib", "chat_template_sha256"}},
      {Option::kChatTemplate, {"chat_template_sha256"}}};
  return all;
}

// FollowsFrom tells whether a fact may differ because of what a user made different. A variable of
// the environment may change anything.
bool FollowsFrom(std::string_view fact, const Variant& a, const Variant& b) {
  static const FactNames kBinary = {"build", "backend", "devices", "backend_warnings",
                                    "flash_attention"};
  if (a.environment != b.environment) return true;
  if (a.binary != b.binary && Has(kBinary, fact)) return true;
  if (a.kv != b.kv && Has(FactsBehind().at(Option::kKvTypes), fact)) return true;
  if (a.model != b.model && Has(FactsBehind().at(Option::kModel), fact)) return true;
  return std::any_of(FactsBehind().begin(), FactsBehind().end(), [&](const auto& entry) {
    const auto& [option, facts] = entry;
    return Has(facts, fact) && Differs(option, a.arguments, b.arguments);
  });
}

// How a trial went, which says nothing of its server.
bool OfTheTrial(std::string_view fact) {
  return fact == "prompt_from" || fact == "stopped" || fact == "left_behind";
}

}  // namespace

std::vector<FactDifference> Differences(const Variant& a, const Variant& b,
                                        const TrialRecord& baseline, const TrialRecord& candidate) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [key, value] : baseline.facts) both[key].first = value;
  for (const auto& [key, value] : candidate.facts) both[key].second = value;
  std::vector<FactDifference> differences;
  for (const auto& [key, values] : both) {
    if (values.first == values.second || OfTheTrial(key)) continue;
    differences.push_back({key, values.first, values.second, FollowsFrom(key, a, b)});
  }
  return differences;
}

}  // namespace culprit::experiment
