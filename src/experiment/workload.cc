#include "experiment/workload.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace culprit::experiment {
namespace {

struct Named {
  std::string_view name;
  base::Tokens output;
};
constexpr std::array kNamed = {Named{"screening", base::Tokens(128)},
                               Named{"trace-matched", base::Tokens(512)},
                               Named{"sustained", base::Tokens(1024)}};

}  // namespace

std::string_view Name(Endpoint endpoint) {
  return endpoint == Endpoint::kChat ? "chat" : "completion";
}

base::Result<Endpoint> EndpointByName(std::string_view name) {
  for (const Endpoint endpoint : {Endpoint::kChat, Endpoint::kCompletion}) {
    if (Name(endpoint) == name) return endpoint;
  }
  return base::Fail(base::ErrorCode::kUsage, fmt::format("\"{}\" is no endpoint", name), "",
                    "say chat or completion");
}

std::string_view Workload::name() const {
  for (const Named& named : kNamed) {
    if (named.output == output) return named.name;
  }
  return "custom";
}

bool Workload::screening() const { return output <= kNamed[0].output; }

base::Result<base::Tokens> OutputTokensOf(std::string_view name) {
  for (const Named& named : kNamed) {
    if (named.name == name) return named.output;
  }
  return base::Fail(base::ErrorCode::kUsage, fmt::format("\"{}\" is no workload", name), "",
                    "say screening, trace-matched or sustained, or give the output tokens");
}

}  // namespace culprit::experiment
