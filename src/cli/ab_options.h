#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/spec.h"

namespace culprit::cli {

// SpecOptions are the flags that say what an experiment is. All of them can stand in an experiment
// file as well; a flag wins over the file.
struct SpecOptions {
  std::string file;
  std::vector<std::string> variants;
  std::string model, arguments, workload, endpoint;
  std::optional<std::int64_t> output_tokens, prompt_tokens;
  bool cache_prompt = false;
  std::optional<int> pairs, port, idle_readings, idle_tries;
  std::optional<std::uint64_t> seed;
  std::string margin;  // "0.5%"
  bool same_variant = false;
  std::optional<std::string> gate_level;
  std::optional<std::int64_t> gate_positions;
  std::vector<std::int64_t> gate_prompts, gate_ubatches;
  bool no_gate = false;
  std::vector<std::string> stop_services, stop_user_services;
  std::vector<int> health;
  std::string power_profile, collector;
  std::optional<int> load_timeout_s, request_timeout_s, health_timeout_s;
};
void AddSpecOptions(CLI::App& command, SpecOptions& options);

// Parts of AddSpecOptions, for commands that need no more: the file and --variant; --prompt-tokens
// and --endpoint; what is borrowed of the machine; how trials wait for an idle one.
void AddVariantOptions(CLI::App& command, SpecOptions& options);
void AddPromptOptions(CLI::App& command, SpecOptions& options);
void AddMachineOptions(CLI::App& command, SpecOptions& options);
void AddIdleOptions(CLI::App& command, SpecOptions& options);
// AddGateOptions are those of the correctness gate, but --no-gate.
void AddGateOptions(CLI::App& command, SpecOptions& options);

// ReadSpec reads the experiment file, if one is given, lays the flags over it, and looks binaries
// up in PATH. SpecOf also checks that it is an experiment, that what it borrows can be named, and
// that its files are there. Fail with kUsage, and SpecOf as lab::CheckBinary does.
base::Result<experiment::Spec> ReadSpec(const SpecOptions& options);
base::Result<experiment::Spec> SpecOf(const SpecOptions& options);

}  // namespace culprit::cli
