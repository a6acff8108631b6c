#include "cli/ab_options.h"

#include <fmt/format.h>

#include "cli/borrow.h"
#include "cli/percentage.h"
#include "experiment/words.h"
#include "gate/level.h"
#include "lab/variant_files.h"
#include "sys/environment.h"
#include "sys/text_file.h"

namespace culprit::cli {
namespace {

using base::Fail;
using base::Result;
using base::Status;
using base::Tokens;
using experiment::Spec;
using experiment::Variant;

void AddWorkloadOptions(CLI::App& command, SpecOptions& options) {
  command.add_flag("--aa", options.same_variant,
                   "Compare one variant with itself: the noise of this machine");
  command.add_option("--workload", options.workload, "How many tokens: 128, 512 or 1024")
      ->check(CLI::IsMember({"screening", "trace-matched", "sustained"}));
  command.add_option("--tokens", options.output_tokens, "Tokens to generate")->type_name("N");
  command.add_flag("--cache-prompt", options.cache_prompt,
                   "Keep the prompt's KV cache: measure decode alone");
  command
      .add_option("--pairs", options.pairs,
                  "Run N pairs; without it, look after 4, 6, 8 and 10 and stop when it is clear")
      ->type_name("N");
  command.add_option("--seed", options.seed, "Decides which variant runs first [drawn]")
      ->type_name("N");
  command
      .add_option("--margin", options.margin, "A change in decode smaller than this is none [1%]")
      ->type_name("PERCENT");
}

constexpr int kNoisePairs = 6;

Result<experiment::SpecFlags> FlagsOf(const SpecOptions& options) {
  auto words = experiment::SplitWords(options.arguments);
  if (!words) return Fail(std::move(words.error()).In("--arguments"));
  experiment::SpecFlags flags{
      .model = options.model, .arguments = *std::move(words), .variants = {}};
  for (const std::string& text : options.variants) {
    auto variants = experiment::ParseVariant(text);
    if (!variants) return Fail(std::move(variants.error()));
    for (Variant& variant : *variants) flags.variants.push_back(std::move(variant));
  }
  return flags;
}

// Without a file the flags say all.
Result<Spec> ReadFile(const std::string& file, const experiment::SpecFlags& flags) {
  if (file.empty()) return experiment::ParseSpec("", "", flags);
  auto text = sys::ReadText(file);
  if (!text) return Fail(std::move(text.error()));
  return experiment::ParseSpec(*text, file, flags);
}

Status SetWorkload(const SpecOptions& options, experiment::Workload& workload) {
  if (!options.workload.empty()) {
    auto tokens = experiment::OutputTokensOf(options.workload);
    if (!tokens) return Fail(std::move(tokens.error()));
    workload.output = *tokens;
  }
  if (options.output_tokens) workload.output = Tokens(*options.output_tokens);
  if (options.prompt_tokens) workload.prompt = Tokens(*options.prompt_tokens);
  if (!options.endpoint.empty()) workload.endpoint = *experiment::EndpointByName(options.endpoint);
  workload.cache_prompt |= options.cache_prompt;
  return {};
}

void Append(const std::vector<std::string>& from, std::vector<std::string>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void SetMachine(const SpecOptions& options, Spec& spec) {
  Append(options.stop_services, spec.machine.stop_services);
  Append(options.stop_user_services, spec.machine.stop_user_services);
  auto& health = spec.machine.health;
  health.insert(health.end(), options.health.begin(), options.health.end());
  if (!options.power_profile.empty()) spec.machine.power_profile = options.power_profile;
  if (options.port) spec.port = *options.port;
  if (options.load_timeout_s) spec.limits.load = std::chrono::seconds(*options.load_timeout_s);
  if (options.request_timeout_s) {
    spec.limits.request = std::chrono::seconds(*options.request_timeout_s);
  }
  if (options.health_timeout_s) {
    spec.limits.health = std::chrono::seconds(*options.health_timeout_s);
  }
  if (options.idle_readings) spec.limits.idle_readings = *options.idle_readings;
  if (options.idle_tries) spec.limits.idle_tries = *options.idle_tries;
}

Status SetGate(const SpecOptions& options, experiment::GateWish& gate) {
  if (options.gate_level) gate.level = *options.gate_level;
  if (options.gate_positions) gate.positions = Tokens(*options.gate_positions);
  if (!options.gate_prompts.empty()) gate.prompts.clear();
  for (const std::int64_t prompt : options.gate_prompts) gate.prompts.push_back(Tokens(prompt));
  if (!options.gate_ubatches.empty()) gate.ubatches = options.gate_ubatches;
  if (options.no_gate) gate.wanted = false;
  const auto level = gate::ParseLevel(gate.level);
  return level ? Status() : Fail(level.error());
}

Status CheckFiles(const Spec& spec) {
  for (const Variant& variant : spec.variants) {
    for (const auto check : {lab::CheckFolder, lab::CheckBinary, lab::CheckModel}) {
      if (auto there = check(variant); !there) {
        return Fail(std::move(there.error()).In(variant.label));
      }
    }
  }
  return {};
}

}  // namespace

void AddVariantOptions(CLI::App& command, SpecOptions& options) {
  command.add_option("experiment", options.file, "An experiment file (culprit init writes one)")
      ->type_name("FILE");
  command
      .add_option("--variant", options.variants,
                  "LABEL=BINARY, followed by any of |model=PATH |kv=TYPE |env=VAR=VALUE "
                  "|extra=ARGS |cwd=DIR |expect-log=REGEX |expect-symbol=TEXT "
                  "|answers=approximate; the first is the "
                  "baseline; may be repeated")
      ->type_name("VARIANT")
      ->allow_extra_args(false);
  command.add_option("--model", options.model, "The model of variants that name none")
      ->type_name("PATH");
  command.add_option("--arguments", options.arguments, "Server arguments of every variant")
      ->type_name("ARGS");
}

void AddPromptOptions(CLI::App& command, SpecOptions& options) {
  command.add_option("--prompt-tokens", options.prompt_tokens, "Tokens of the prompt [20000]")
      ->type_name("N");
  command.add_option("--endpoint", options.endpoint, "Where requests go [chat]")
      ->check(CLI::IsMember({"chat", "completion"}));
}

void AddMachineOptions(CLI::App& command, SpecOptions& options) {
  command
      .add_option("--stop-service", options.stop_services,
                  "A systemd unit to stop meanwhile; may be repeated")
      ->type_name("UNIT")
      ->allow_extra_args(false);
  command
      .add_option("--stop-user-service", options.stop_user_services,
                  "The same, a unit of yours (systemctl --user)")
      ->type_name("UNIT")
      ->allow_extra_args(false);
  command
      .add_option("--health", options.health,
                  "A port whose /health must answer again at the end; may be repeated")
      ->type_name("PORT")
      ->allow_extra_args(false);
  command
      .add_option("--health-timeout", options.health_timeout_s,
                  "They must answer by then: a large model takes long to load [600]")
      ->type_name("S");
  command.add_option("--power-profile", options.power_profile, "Power profile to set meanwhile")
      ->type_name("NAME");
  command.add_option("--port", options.port, "First port to try for servers [8101]")
      ->type_name("PORT");
  command.add_option("--load-timeout", options.load_timeout_s, "A server must be healthy by then")
      ->type_name("S");
  command.add_option("--request-timeout", options.request_timeout_s, "A request must end by then")
      ->type_name("S");
}

void AddIdleOptions(CLI::App& command, SpecOptions& options) {
  command
      .add_option("--idle-readings", options.idle_readings,
                  "Idle readings in a row, a second apart, before each trial [10]; 0: do not wait")
      ->type_name("N");
  command.add_option("--idle-tries", options.idle_tries, "Readings at most [300]")->type_name("N");
}

void AddGateOptions(CLI::App& command, SpecOptions& options) {
  command
      .add_option("--gate", options.gate_level,
                  "What passes as the same answer: default, strict, cosine=X, kl=X (nats) or ppl=X "
                  "(share) [default]")
      ->type_name("LEVEL");
  command
      .add_option("--positions", options.gate_positions,
                  "Tokens whose probabilities are compared behind each prompt [128]")
      ->type_name("N");
  command
      .add_option("--gate-prompts", options.gate_prompts,
                  "Lengths of the prompts to compare behind, between commas [--prompt-tokens]")
      ->delimiter(',')
      ->type_name("N[,N]")
      ->allow_extra_args(false);
  command
      .add_option("--gate-ubatch", options.gate_ubatches,
                  "Compare once more with these sizes of ubatches, between commas")
      ->delimiter(',')
      ->type_name("N[,N]")
      ->allow_extra_args(false);
}

void AddSpecOptions(CLI::App& command, SpecOptions& options) {
  AddVariantOptions(command, options);
  AddPromptOptions(command, options);
  AddWorkloadOptions(command, options);
  AddMachineOptions(command, options);
  AddIdleOptions(command, options);
}

Result<Spec> ReadSpec(const SpecOptions& options) {
  const auto flags = FlagsOf(options);
  if (!flags) return Fail(flags.error());
  auto parsed = ReadFile(options.file, *flags);
  if (!parsed) return parsed;
  Spec spec = *std::move(parsed);
  if (auto set = SetWorkload(options, spec.workload); !set) return Fail(std::move(set.error()));
  if (options.pairs) spec.design.pairs = *options.pairs;
  if (options.seed) spec.design.seed = *options.seed;
  // A/A is there to measure noise, and stops at no early look.
  if (options.same_variant && !spec.design.pairs) spec.design.pairs = kNoisePairs;
  if (!options.margin.empty()) {
    const auto margin = ParsePercentage(options.margin, "--margin");
    if (!margin) return Fail(margin.error());
    spec.design.decode_margin = *margin;
  }
  spec.design.same_variant |= options.same_variant;
  // Of several variants in a file, A/A takes the baseline.
  if (options.same_variant && spec.variants.size() > 1) spec.variants.resize(1);
  if (auto set = SetGate(options, spec.gate); !set) return Fail(std::move(set.error()));
  SetMachine(options, spec);
  if (!options.collector.empty()) spec.collector = options.collector;
  for (Variant& variant : spec.variants) {
    const auto program = sys::FindProgram(variant.binary, sys::OwnEnvironment());
    if (program) variant.binary = *program;
  }
  return spec;
}

Result<Spec> SpecOf(const SpecOptions& options) {
  auto spec = ReadSpec(options);
  if (!spec) return spec;
  if (auto fits = experiment::CheckSpec(*spec); !fits) return Fail(std::move(fits.error()));
  if (auto fits = CheckBorrowing(*spec); !fits) return Fail(std::move(fits.error()));
  if (auto there = CheckFiles(*spec); !there) return Fail(std::move(there.error()));
  return spec;
}

}  // namespace culprit::cli
