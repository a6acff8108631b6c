#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace culprit::experiment {

// Endpoint is where a request goes: kChat is /v1/chat/completions, through the chat template;
// kCompletion is llama-server's own /completion.
enum class Endpoint { kChat, kCompletion };
std::string_view Name(Endpoint endpoint);  // "chat", "completion"
base::Result<Endpoint> EndpointByName(std::string_view name);

// Workload is the one request that every trial measures: temperature 0, a fixed seed, a prompt of
// exactly `prompt` tokens (the chat template included) and exactly `output` tokens out.
struct Workload {
  base::Tokens prompt{20'000};
  base::Tokens output{512};
  Endpoint endpoint = Endpoint::kChat;
  std::int64_t seed = 42;
  // The prompt is warmed once and its KV cache kept: a trial measures decode alone.
  bool cache_prompt = false;
  bool operator==(const Workload&) const = default;

  // name is "screening", "trace-matched" or "sustained" by its output tokens, else "custom".
  [[nodiscard]] std::string_view name() const;
  // A short run flatters: what a screening says is never proof.
  [[nodiscard]] bool screening() const;
};

// OutputTokensOf is the length that a workload's name stands for; fails with kUsage.
base::Result<base::Tokens> OutputTokensOf(std::string_view name);

}  // namespace culprit::experiment
