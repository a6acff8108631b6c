#include "cli/exit_rule.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/parse_number.h"

namespace culprit::cli {
namespace {

using experiment::Evaluation;
using experiment::Judgement;

constexpr std::string_view kRegressionWord = "regression";

// "regression" → 0, "regression:2.5" → 2.5; anything else is absent.
std::optional<double> LeastPercent(std::string_view text) {
  if (!text.starts_with(kRegressionWord)) return std::nullopt;
  text.remove_prefix(kRegressionWord.size());
  if (text.empty()) return 0;
  if (text[0] != ':') return std::nullopt;
  const auto percent = base::ParseNumber<double>(text.substr(1));
  if (!percent || !(*percent >= 0 && *percent < 1e6)) return std::nullopt;
  return percent;
}

bool Counts(const Judgement& judgement, double least_percent) {
  return judgement.verdict == stats::Verdict::kRegression && judgement.comparison &&
         100 * judgement.comparison->change().value() >= least_percent;
}

bool HasRegression(const Evaluation& evaluation, double least_percent) {
  return std::any_of(
      evaluation.candidates.begin(), evaluation.candidates.end(), [&](const auto& candidate) {
        if (candidate.same_objects) return false;  // noise, whatever the verdict
        return Counts(candidate.decode, least_percent) || Counts(candidate.prefill, least_percent);
      });
}

// Then each build to come would fail in the same way.
bool BaselineIsBroken(const Evaluation& evaluation) {
  return evaluation.ended_by_void && !evaluation.voided.empty() &&
         evaluation.voided.back().variant == evaluation.baseline.label;
}

bool IsDecided(const Evaluation& evaluation) {
  return std::none_of(evaluation.candidates.begin(), evaluation.candidates.end(),
                      [](const auto& candidate) {
                        return candidate.decode.verdict == stats::Verdict::kInconclusive;
                      });
}

}  // namespace

void AddExitRule(CLI::App& command, ExitRule& rule) {
  command
      .add_option("--fail-on", rule.fail_on,
                  "regression[:PCT]: exit with 1 when a candidate is one, of at least PCT percent")
      ->type_name("WHAT")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return LeastPercent(text) ? "" : text + " is not regression or regression:PERCENT";
          },
          ""));
  command.add_flag("--bisect", rule.bisect,
                   "Exit as git bisect run wants: 0 good, 1 regression, 125 cannot tell, 128 stop");
}

ExitCode Apply(const ExitRule& rule, const Evaluation& evaluation, ExitCode code) {
  if (rule.bisect && BaselineIsBroken(evaluation)) return ExitCode::kStopBisect;
  if (code != ExitCode::kDone) return ApplyWithout(rule, code);
  if (rule.fail_on.empty() && !rule.bisect) return code;
  if (HasRegression(evaluation, LeastPercent(rule.fail_on).value_or(0))) {
    return ExitCode::kRegression;
  }
  return rule.bisect && !IsDecided(evaluation) ? ExitCode::kCannotTell : ExitCode::kDone;
}

ExitCode ApplyWithAttribution(const ExitRule& rule, const Evaluation& evaluation, ExitCode code,
                              bool attributed) {
  const ExitCode verdict = Apply(rule, evaluation, code);
  const bool lacking = verdict == ExitCode::kDone && !attributed && !rule.bisect;
  return lacking ? ExitCode::kInvalid : verdict;
}

ExitCode CodeOf(const gate::GateRun& gate) {
  switch (Decide(gate::JudgeRun(gate))) {
    case gate::Decision::kPassed:
      return ExitCode::kDone;
    case gate::Decision::kFailed:
      return ExitCode::kGateFailed;
    case gate::Decision::kCannotTell:
      return ExitCode::kInvalid;
  }
  return ExitCode::kInvalid;
}

ExitCode AfterGate(const std::optional<gate::GateRun>& gate, ExitCode code) {
  if (!gate || (code != ExitCode::kDone && code != ExitCode::kInvalid)) return code;
  const ExitCode answer = CodeOf(*gate);
  return answer == ExitCode::kDone ? code : answer;
}

// The speed of a build that answers something else says nothing of a bisected regression.
ExitCode ApplyWithout(const ExitRule& rule, ExitCode code) {
  if (!rule.bisect || code == ExitCode::kDone) return code;
  const bool skip = code == ExitCode::kInvalid || code == ExitCode::kGateFailed;
  return skip ? ExitCode::kCannotTell : ExitCode::kStopBisect;
}

}  // namespace culprit::cli
