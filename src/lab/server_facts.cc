#include "lab/server_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/number_format.h"
#include "base/pattern.h"
#include "sys/sha256.h"

namespace culprit::lab {
namespace {

using experiment::Facts;

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void Set(Facts& facts, const char* key, const std::optional<std::string>& value) {
  if (value && !value->empty()) facts[key] = *value;
}
void Set(Facts& facts, const char* key, const std::optional<std::int64_t>& value) {
  if (value) facts[key] = fmt::format("{}", *value);
}

// The device that a model was put on counts: a server may know several and use the CPU.
void SetBackend(const server::ServerLog& log, Facts& facts) {
  if (!log.devices.empty()) facts["devices"] = Joined(log.devices);
  const bool on_device = log.layers && log.layers->offloaded > 0;
  if (on_device && !log.devices.empty()) {
    // "ROCm0 (Radeon 8060S Graphics)": the name before the parenthesis
    facts["backend"] = log.devices.front().substr(0, log.devices.front().find(' '));
  } else if (!log.backends.empty() || log.layers) {
    facts["backend"] = "CPU";
  }
  if (log.layers) {
    facts["layers_on_device"] = fmt::format("{}/{}", log.layers->offloaded, log.layers->of);
  }
}

}  // namespace

Facts FactsOf(const server::Props& props, const server::ServerLog& log) {
  Facts facts;
  Set(facts, "build", props.build ? props.build : log.build);
  const auto model = props.model_path ? props.model_path : log.model_path;
  if (model) facts["model"] = std::filesystem::path(*model).filename().string();
  Set(facts, "slots", props.slots);
  if (props.context) facts["context_tokens"] = fmt::format("{}", base::Count(*props.context));
  if (props.chat_template) {
    facts["chat_template_sha256"] = sys::Sha256Of(*props.chat_template).substr(0, 16);
  }
  SetBackend(log, facts);
  Set(facts, "threads", log.threads);
  if (const auto mib = log.kv_mib()) facts["kv_cache_mib"] = base::Exact(*mib).value_or("");
  if (!log.contexts.empty()) {
    const server::LogContext& target = log.contexts.front();
    Set(facts, "flash_attention", target.flash_attention);
    if (target.kv && target.kv->k_type) {
      facts["kv_cache_type"] = *target.kv->k_type + "/" + target.kv->v_type.value_or("");
    }
  }
  if (!log.warnings.empty()) facts["backend_warnings"] = Joined(log.warnings);
  // A hostile server must not make a record that is too large to be read.
  constexpr std::size_t kLongest = 1000;
  for (auto& [key, value] : facts) value.resize(std::min(value.size(), kLongest));
  return facts;
}

base::Result<bool> HasLine(std::string_view log, const std::string& pattern,
                           const sys::StopSignal& stop) {
  constexpr std::size_t kLongestLine = 4096;
  const auto compiled = base::Pattern::Compile(pattern);
  if (!compiled) return base::Fail(compiled.error());
  while (!log.empty()) {
    if (stop.requested()) return base::Fail(sys::Interrupted());
    const auto line = log.substr(0, log.find('\n'));
    if (compiled->IsIn(line.substr(0, kLongestLine))) return true;
    log.remove_prefix(std::min(log.size(), line.size() + 1));
  }
  return false;
}

}  // namespace culprit::lab
