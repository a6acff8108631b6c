#include "experiment/residue.h"

#include <algorithm>
#include <map>

#include "experiment/server_flags.h"

namespace culprit::experiment {
namespace {

// What a user can make different, and the facts that follow from it. An argument stands for all of
// its spellings' facts; a variable of the environment may change anything.
struct Consequence {
  std::string_view cause;  // "kv", "binary", "model", or a server argument
  std::vector<std::string_view> facts;
};
const std::vector<Consequence>& Consequences() {
  static const std::vector<Consequence> all = {
      {"kv", {"kv_cache_mib", "kv_cache_type"}},
      {"binary", {"build", "backend", "devices", "backend_warnings", "flash_attention"}},
      {"model", {"model", "layers_on_device", "kv_cache_mib", "chat_template_sha256"}},
      {"-t", {"threads"}},
      {"--threads", {"threads"}},
      {"-c", {"context_tokens", "kv_cache_mib"}},
      {"--ctx-size", {"context_tokens", "kv_cache_mib"}},
      {"-np", {"slots", "context_tokens"}},
      {"--parallel", {"slots", "context_tokens"}},
      {"-fa", {"flash_attention"}},
      {"--flash-attn", {"flash_attention"}},
      {"-ctk", {"kv_cache_mib", "kv_cache_type"}},
      {"--cache-type-k", {"kv_cache_mib", "kv_cache_type"}},
      {"-ctv", {"kv_cache_mib", "kv_cache_type"}},
      {"--cache-type-v", {"kv_cache_mib", "kv_cache_type"}},
      {"-ngl", {"layers_on_device", "backend", "devices"}},
      {"--n-gpu-layers", {"layers_on_device", "backend", "devices"}},
      {"-dev", {"layers_on_device", "backend", "devices"}},
      {"--device", {"layers_on_device", "backend", "devices"}},
      {"-md", {"kv_cache_mib", "devices"}},
      {"--model-draft", {"kv_cache_mib", "devices"}},
      {"--spec-draft-model", {"kv_cache_mib", "devices"}},
      {"--spec-type", {"kv_cache_mib", "devices"}},
      {"--chat-template", {"chat_template_sha256"}},
      {"--chat-template-file", {"chat_template_sha256"}}};
  return all;
}

bool FollowsFrom(std::string_view fact, const Variant& a, const Variant& b) {
  if (a.environment != b.environment) return true;
  return std::any_of(Consequences().begin(), Consequences().end(), [&](const Consequence& one) {
    const bool about = std::find(one.facts.begin(), one.facts.end(), fact) != one.facts.end();
    if (!about) return false;
    if (one.cause == "kv") return a.kv != b.kv;
    if (one.cause == "binary") return a.binary != b.binary;
    if (one.cause == "model") return a.model != b.model;
    return FlagValues(a.arguments, one.cause) != FlagValues(b.arguments, one.cause);
  });
}

// How a trial went, which says nothing of its server.
bool OfTheTrial(std::string_view fact) { return fact == "prompt_from" || fact == "stopped"; }

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
