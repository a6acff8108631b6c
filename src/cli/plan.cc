#include "cli/plan.h"

#include <fmt/format.h>

#include "base/number_format.h"
#include "base/printable.h"
#include "experiment/evaluation.h"
#include "experiment/order.h"
#include "experiment/words.h"
#include "lab/gate.h"
#include "lab/trial.h"
#include "server/command.h"

namespace culprit::cli {

using base::Printable;
using experiment::Spec;

namespace {

std::string OrderText(const Spec& spec) {
  const std::size_t arms = experiment::ArmCount(spec);
  const auto design = experiment::DesignOf(spec.design);
  std::string text =
      fmt::format("\norder, {} {} pairs{}:", spec.design.pairs ? "in" : "in at most", design.cap(),
                  spec.design.seed ? "" : ", or turned round, which is drawn when the run begins");
  std::size_t pair = design.cap();
  for (const auto& slot :
       experiment::OrderOfTrials(arms, design.cap(), spec.design.seed.value_or(0))) {
    if (slot.pair != pair) text += "\n ";
    pair = slot.pair;
    text += " " + (spec.design.same_variant ? std::string(slot.variant == 0 ? "A" : "A'")
                                            : spec.variants[slot.variant].label);
  }
  return text;
}

std::string StagesText(const Spec& spec, Stages stages,
                       std::span<const std::vector<std::string>> passes) {
  std::string text;
  if (stages.gates(spec)) text += "\n" + GateText(spec) + "; then";
  if (stages.measure) text += OrderText(spec);
  if (stages.trace) {
    text += fmt::format("\n{}a trace of each{}", stages.measure ? "then " : "",
                        spec.collector.empty() ? "" : ", by " + spec.collector);
  }
  if (stages.count) {
    for (const auto& pass : passes) {
      text += fmt::format("\neach once under rocprofv3 --pmc {}", fmt::join(pass, " "));
    }
  }
  return text;
}

}  // namespace

std::string GateText(const Spec& spec) {
  std::vector<std::string> prompts;
  for (const base::Tokens prompt : lab::PromptsOf(spec)) {
    prompts.push_back(base::Grouped(Count(prompt)));
  }
  std::string text = fmt::format(
      "the gate, level {}: {} positions behind a prompt of {} tokens", Printable(spec.gate.level),
      base::Grouped(Count(lab::PositionsOf(spec))), fmt::join(prompts, " and one of "));
  if (!spec.gate.ubatches.empty()) {
    text += fmt::format(", and all that in ubatches of {} too",
                        fmt::join(spec.gate.ubatches, " and of "));
  }
  return text;
}

std::string CommandsText(const Spec& spec) {
  std::string text;
  for (const auto& variant : spec.variants) {
    const auto launch =
        lab::LaunchOf(spec, variant, static_cast<std::uint16_t>(spec.port), "slots");
    text += fmt::format("\n{}:\n  {}\n", variant.label,
                        Printable(experiment::JoinWords(server::CommandLine(launch))));
    for (const auto& change : launch.environment) {
      const std::string key = Printable(change.key);
      text += change.value ? fmt::format("  {}={}\n", key, Printable(*change.value))
                           : fmt::format("  without {}\n", key);
    }
  }
  return text;
}

std::string BorrowedText(const Spec& spec) {
  std::string text;
  for (const auto& unit : spec.machine.stop_services)
    text += fmt::format("\nstops {}", Printable(unit));
  for (const auto& unit : spec.machine.stop_user_services) {
    text += fmt::format("\nstops {} (of this user)", Printable(unit));
  }
  if (spec.machine.power_profile) {
    text += fmt::format("\nsets the power profile {}", Printable(*spec.machine.power_profile));
  }
  for (const int port : spec.machine.health) {
    text += fmt::format("\nwaits at the end until 127.0.0.1:{}/health answers again", port);
  }
  return text;
}

std::string PlanText(const Spec& spec, Stages stages,
                     std::span<const std::vector<std::string>> passes) {
  std::string text =
      fmt::format("{}: {} tokens after a prompt of {}, by {}\n", spec.workload.name(),
                  Count(spec.workload.output), base::Grouped(Count(spec.workload.prompt)),
                  experiment::Name(spec.workload.endpoint));
  text += CommandsText(spec);
  text += StagesText(spec, stages, passes);
  text += BorrowedText(spec);
  if (spec.limits.idle_readings > 0) {
    text += fmt::format(
        "\nwaits before each trial for {} idle readings of the machine, a second "
        "apart",
        spec.limits.idle_readings);
  }
  return text + "\n";
}

}  // namespace culprit::cli
