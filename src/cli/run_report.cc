#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/number_format.h"
#include "report/ab_report.h"
#include "store/noise_floors.h"

namespace culprit::cli {
namespace {

using experiment::Evaluation;

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

bool HasRegression(const Evaluation& evaluation) {
  return std::any_of(evaluation.candidates.begin(), evaluation.candidates.end(),
                     [](const auto& candidate) {
                       return candidate.decode.verdict == stats::Verdict::kRegression ||
                              candidate.prefill.verdict == stats::Verdict::kRegression;
                     });
}

}  // namespace

experiment::NoiseFloors FloorsFor(const store::RunDirectory& run, const std::string& state_folder) {
  std::vector<double> decode, prefill;
  for (const auto& session : store::ReadAaSessions(state_folder, SettingOf(run))) {
    if (session.decode) decode.push_back(*session.decode);
    if (session.prefill) prefill.push_back(*session.prefill);
  }
  return {stats::NoiseFloor(decode), stats::NoiseFloor(prefill)};
}

void RememberFloor(const store::RunDirectory& run, const std::string& state_folder) {
  const auto evaluation = experiment::Evaluate(run.spec(), run.trials());
  store::AaSession session{.setting = SettingOf(run), .when = run.info().created};
  const auto& candidate = evaluation.candidates.front();
  if (candidate.decode.pairs.size() < kFloorPairs) {
    Say(fmt::format("{} pairs tell too little of this machine's noise to be remembered: {} do",
                    candidate.decode.pairs.size(), kFloorPairs));
    return;
  }
  if (candidate.decode.comparison) session.decode = candidate.decode.comparison->log_ratio;
  if (candidate.prefill.comparison) session.prefill = candidate.prefill.comparison->log_ratio;
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
  const std::string log = run.FolderOf(trial) + "/server.log";
  return std::filesystem::exists(log) ? log : "";
}

ExitCode PrintRun(const store::RunDirectory& run, const OutputOptions& output,
                  const std::string& fail_on) {
  const auto evaluation = experiment::Evaluate(run.spec(), run.trials(), run.info().floors);
  report::AbContext context{.where = run.path(), .notes = run.info().notes};
  context.finished = evaluation.finished;
  if (evaluation.ended_by_void) context.log = LogOf(run, run.trials().back());
  const auto report = report::AbReport(run.spec(), evaluation, context);
  if (auto emitted = Emit(report, output); !emitted) return PrintError(emitted.error());
  if (!evaluation.compared()) return ExitCode::kInvalid;
  const bool regression = fail_on == "regression" && HasRegression(evaluation);
  return regression ? ExitCode::kRegression : ExitCode::kDone;
}

}  // namespace culprit::cli
