#include "lab/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/ab_options.h"
#include "cli/borrow.h"
#include "cli/commands.h"
#include "cli/exit_rule.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "lab/second_opinion.h"
#include "report/analysis_notes.h"
#include "report/gate_report.h"
#include "report/second_opinion_table.h"
#include "store/run_directory.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Spec;

struct Options {
  SpecOptions spec;
  OutputOptions output;
  std::string read;
  bool second_opinion = false;
  bool dry_run = false, no_wait = false;
};

Result<Spec> SpecFor(const Options& options) {
  auto spec = SpecOf(options.spec);
  if (!spec) return spec;
  if (spec->variants.size() < 2) {
    return Fail(ErrorCode::kUsage, "one variant alone cannot be compared", "",
                "add a second --variant, which may be the same server under another label");
  }
  return spec;
}

std::string PlanOf(const Spec& spec) {
  std::string text = GateText(spec) + "\n" + CommandsText(spec);
  text += fmt::format(
      "\neach starts once{}, cold, one after the other; {} continues the prompt, and all tell, "
      "twice, the probabilities of what follows each of its tokens",
      spec.gate.ubatches.empty() ? "" : ", and once for each size of ubatches",
      spec.variants.front().label);
  return text + BorrowedText(spec) + "\n";
}

ExitCode PrintGatePlan(const Spec& spec) {
  std::fputs(PlanOf(spec).c_str(), stdout);
  const auto written = FlushStdout();
  return written ? ExitCode::kDone : PrintError(written.error());
}

// What servers say is kept in a folder that is new for each gate; its logs stay until the next.
Result<std::string> MakeFolder(const std::string& state) {
  const std::string folder = state + "/gate";
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(ErrorCode::kUnreadable, "cannot be made: " + error.message(), folder);
  return folder;
}

// A second opinion that cannot be had is no reason against the first one: lacking says why.
struct Opinions {
  std::vector<report::CandidateOpinion> said;
  std::vector<std::string> lacking;
};

struct Answer {
  gate::GateRun run;
  Opinions opinions;
};

Opinions AskOthers(const Spec& spec, const std::string& folder, lab::Bench& bench) {
  Opinions opinions;
  const auto& baseline = spec.variants.front();
  Say("llama-perplexity of " + baseline.label);
  auto base = lab::OpinionBase::Make(baseline, {}, folder, bench);
  for (std::size_t i = 1; base && i < spec.variants.size(); ++i) {
    const auto& candidate = spec.variants[i];
    Say("llama-perplexity of " + candidate.label);
    auto said = lab::AskForSecondOpinion(*base, candidate, bench);
    if (said) {
      opinions.said.push_back({candidate.label, *std::move(said)});
      continue;
    }
    opinions.lacking.push_back(said.error().Text());
    if (said.error().code == ErrorCode::kInterrupted) break;
  }
  if (!base) opinions.lacking.push_back(base.error().Text());
  return opinions;
}

Result<Answer> Ask(const Options& options, const Spec& spec, const std::string& state,
                   lab::Bench& bench) {
  const auto folder = MakeFolder(state);
  if (!folder) return Fail(folder.error());
  auto run = lab::RunGate(spec, *folder, bench, Say);
  if (!run) return Fail(std::move(run.error()));
  Answer answer{*std::move(run), {}};
  if (!options.second_opinion) return answer;
  answer.opinions = AskOthers(spec, *folder, bench);
  return answer;
}

ExitCode Show(const Answer& answer, const OutputOptions& output) {
  report::Report report = report::GateReport(answer.run);
  if (!answer.opinions.said.empty()) {
    report.tables.push_back(report::SecondOpinionTable(answer.run.baseline, answer.opinions.said));
  }
  for (const std::string& why : answer.opinions.lacking) {
    report.notes.push_back({report::Note::Level::kWarning, "no_second_opinion",
                            "there is no second opinion: " + base::Printable(why)});
  }
  report::SortNotes(report.notes);
  const auto emitted = Emit(report, output);
  return emitted ? CodeOf(answer.run) : PrintError(emitted.error());
}

// The gate of a run directory, which kept what it saw.
ExitCode ShowKept(const Options& options) {
  const auto run = store::RunDirectory::Open(options.read);
  if (!run) return PrintError(run.error());
  if (run->gate()) return Show({*run->gate(), {}}, options.output);
  return PrintError({ErrorCode::kIncomplete, "has no gate that came to its end", options.read,
                     "culprit ab --resume runs it, where the run was not begun with --no-gate"});
}

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits) return PrintError(fits.error());
  if (!options.read.empty()) return ShowKept(options);
  const auto spec = SpecFor(options);
  if (!spec) return PrintError(spec.error());
  if (options.dry_run) return PrintGatePlan(*spec);
  std::optional<Answer> answer;
  const Loan loan{*spec, "culprit gate", !options.no_wait};
  const ExitCode done = WithMachine(loan, [&](lab::Bench& bench, const std::string& state) {
    auto asked = Ask(options, *spec, state, bench);
    if (!asked) return Status(Fail(std::move(asked.error())));
    answer = *std::move(asked);
    return Status();
  });
  if (done != ExitCode::kDone) return done;
  return Show(*answer, options.output);
}

}  // namespace

Subcommand AddGate(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "gate", "Whether variants give the same answers, by the probabilities of every token");
  AddVariantOptions(*app, options->spec);
  AddGateOptions(*app, options->spec);
  app->add_option("--prompt-tokens", options->spec.prompt_tokens, "Tokens of the prompt [20000]")
      ->type_name("N");
  CLI::Option* read =
      app->add_option("--read", options->read, "Show the gate of this run directory; run nothing")
          ->type_name("DIR");
  app->add_flag("--second-opinion", options->second_opinion,
                "Ask each build's own llama-perplexity as well, beside its server");
  app->add_flag("--dry-run", options->dry_run, "Print every command; run nothing");
  app->add_flag("--no-wait", options->no_wait, "Fail when somebody else measures on this machine");
  AddMachineOptions(*app, options->spec);
  for (CLI::Option* option : app->get_options()) {
    if (option != read && option->get_single_name() != "help") read->excludes(option);
  }
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
