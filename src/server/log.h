#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/completion.h"

namespace culprit::server {

// KvCache is what one context keeps of past tokens. mib is the sum over devices, in MiB as printed;
// k_type and v_type are ggml types, "q4_0".
struct KvCache {
  double mib = 0;
  std::optional<std::string> k_type, v_type;
  bool operator==(const KvCache&) const = default;
};

// LogContext is one llama_context: the target's, and then the draft's under speculation.
struct LogContext {
  std::optional<std::int64_t> size;            // in tokens, all slots together
  std::optional<std::string> flash_attention;  // enabled, disabled; auto when never resolved
  std::optional<KvCache> kv;
  bool operator==(const LogContext&) const = default;
};

struct LayersOffloaded {
  std::int64_t offloaded = 0, of = 0;
  bool operator==(const LayersOffloaded&) const = default;
};

// ServerLog is what a llama-server log of any age says.
//
// requests has the timing blocks in the order printed; a block that lacks its second line (the
// log breaks off) is left out. Everything else is absent or empty when the log does not say it:
// builds since 0.7.0 name most of it at -lv 4 only. Texts are hostile until printed.
struct ServerLog {
  std::vector<experiment::ServerTimings> requests;
  std::optional<std::int64_t> vocabulary;    // rows of the target's output head
  std::optional<std::int64_t> experts_used;  // per token
  std::optional<std::string> build;
  std::optional<std::string> model_path, model_name;
  std::vector<LogContext> contexts;
  std::vector<std::string> backends;  // "CPU", "CUDA": those loaded from a file of their own
  std::vector<std::string> devices;   // "ROCm0 (Radeon 8060S Graphics)": those a model was put on
  std::optional<LayersOffloaded> layers;  // the target's
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> graphs_reused;  // by the last request
  std::vector<std::string> warnings;          // of backends that lack something; at most 20

  // kv_mib is the sum over all contexts; absent when the log names none.
  [[nodiscard]] std::optional<double> kv_mib() const;
};

// ParseLog never fails: a text that is no log of llama-server gives an empty ServerLog. Where
// two models are loaded (speculation), the first one printed is the target.
// Source: llama.cpp builds of 2026-05 and 0.7.0; see log_test.cc for the lines.
ServerLog ParseLog(std::string_view text);

}  // namespace culprit::server
