#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/number_format.h"
#include "experiment/words.h"
#include "report/ab_report.h"
#include "report/gate_report.h"
#include "store/noise_floors.h"

namespace culprit::cli {
namespace {

using experiment::Evaluation;
using store::AaSession;

// Only runs of one setting have the same noise.
std::string SettingOf(const store::RunDirectory& run) {
  const auto& workload = run.spec().workload;
  const auto device = run.info().machine.find("device");
  const auto& variant = run.spec().variants.front();
  return fmt::format("{} | {} | {} | {} + {}{}",
                     device == run.info().machine.end() ? "" : device->second,
                     std::filesystem::path(variant.model.value_or("")).filename().string(),
                     experiment::Name(workload.endpoint), Count(workload.prompt),
                     Count(workload.output), workload.cache_prompt ? " cached" : "");
}

std::optional<AaSession::Metric> MetricOf(const experiment::Judgement& judgement) {
  if (!judgement.comparison) return std::nullopt;
  const auto& comparison = *judgement.comparison;
  AaSession::Metric metric{.log_ratio = comparison.log_ratio, .half_width = {}};
  if (const auto& interval = comparison.interval) {
    metric.half_width = (interval->high - interval->low) / 2;
  }
  return metric;
}

}  // namespace

experiment::NoiseFloors FloorsFor(const store::RunDirectory& run, const std::string& state_folder) {
  const auto sessions = store::ReadAaSessions(state_folder, SettingOf(run));
  const auto floor = [&](std::optional<AaSession::Metric> AaSession::*metric) {
    std::vector<double> log_ratios, half_widths;
    for (const AaSession& session : sessions) {
      if (!(session.*metric)) continue;
      log_ratios.push_back((session.*metric)->log_ratio);
      if (const auto width = (session.*metric)->half_width) half_widths.push_back(*width);
    }
    return stats::NoiseFloor(log_ratios, half_widths);
  };
  return {floor(&AaSession::decode), floor(&AaSession::prefill)};
}

void RememberFloor(const store::RunDirectory& run, const std::string& state_folder) {
  const auto known = store::ReadAaSessions(state_folder, SettingOf(run));
  const bool again = std::any_of(known.begin(), known.end(), [&](const AaSession& session) {
    return session.when == run.info().created;
  });
  if (again) return;  // a run that was gone on with for its traces
  const auto evaluation = experiment::Evaluate(run.spec(), run.trials());
  AaSession session{.setting = SettingOf(run), .when = run.info().created};
  const auto& candidate = evaluation.candidates.front();
  if (candidate.decode.pairs.size() < kFloorPairs) {
    Say(fmt::format("{} pairs tell too little of this machine's noise to be remembered: {} do",
                    candidate.decode.pairs.size(), kFloorPairs));
    return;
  }
  session.decode = MetricOf(candidate.decode);
  session.prefill = MetricOf(candidate.prefill);
  if (auto added = store::AppendAaSession(state_folder, session); !added) {
    Say("the noise of this machine is not remembered: " + added.error().Text());
    return;
  }
  const auto floors = FloorsFor(run, state_folder);
  const auto text = [](const std::optional<base::Fraction>& floor) {
    return floor ? base::Percent(*floor) : std::string("unknown");
  };
  Say(fmt::format("noise floor of this machine: decode {}, prefill {}", text(floors.decode),
                  text(floors.prefill)));
}

std::string LogOf(const store::RunDirectory& run, const experiment::TrialRecord& trial) {
  return run.FilesOf(trial).log.value_or("");
}

Evaluation EvaluateRun(const store::RunDirectory& run) {
  return experiment::Evaluate(run.spec(), run.trials(), run.info().floors);
}

report::Report VerdictReport(const store::RunDirectory& run, const Evaluation& evaluation,
                             const std::string& command) {
  report::AbContext context{
      .where = run.path(), .notes = run.info().notes, .is_run = true, .command = command};
  context.finished = evaluation.finished;
  if (evaluation.ended_by_void) context.log = LogOf(run, run.trials().back());
  return report::AbReport(run.spec(), evaluation, context);
}

void AddGateTo(const store::RunDirectory& run, report::Report& report) {
  const auto& spec = run.spec();
  if (run.gate()) {
    report::AddGate(*run.gate(), report);
    const auto verdicts = gate::JudgeRun(*run.gate());
    if (Decide(verdicts) != gate::Decision::kPassed) {
      report.advice.insert(report.advice.begin(),
                           "culprit gate --read " + experiment::AsWord(run.path()) +
                               " shows where the answers part, position by position");
    }
  } else if (!spec.gate.wanted) {
    report::AddNoGate("--no-gate", report);
  } else if (spec.variants.size() > 1) {
    report::AddNoGate("this run has none", report);
  }
}

}  // namespace culprit::cli
