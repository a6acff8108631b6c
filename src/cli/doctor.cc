#include "lab/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/printable.h"
#include "cli/ab_options.h"
#include "cli/borrow.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "report/analysis_notes.h"
#include "sys/stop_signal.h"

namespace culprit::cli {
namespace {

using lab::Symptom;
using report::Note;
using report::Report;
using Level = lab::Symptom::Level;

struct Options {
  SpecOptions spec;
  std::string into;
  bool json = false;
  OutputOptions output;
};

Note::Level NoteLevel(Level level) {
  switch (level) {
    case Level::kProblem:
      return Note::Level::kError;
    case Level::kWarning:
      return Note::Level::kWarning;
    case Level::kNotice:
      return Note::Level::kNotice;
    case Level::kOk:
      break;
  }
  return Note::Level::kInfo;
}

std::string Counted(std::ptrdiff_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Report DoctorReport(const std::vector<Symptom>& symptoms) {
  const auto count = [&](Level level) {
    return std::count_if(symptoms.begin(), symptoms.end(),
                         [level](const Symptom& symptom) { return symptom.level == level; });
  };
  const auto problems = count(Level::kProblem), warnings = count(Level::kWarning);
  Report report{.kind = "doctor", .title = "This machine"};
  report.headline.push_back(
      problems == 0
          ? fmt::format("Nothing would stop a run here; {}.", Counted(warnings, "warning"))
          : fmt::format("{} would stop a run here; {}.", Counted(problems, "problem"),
                        Counted(warnings, "warning")));
  for (const Symptom& symptom : symptoms) {
    const std::string text =
        symptom.hint.empty() ? symptom.text : symptom.text + "; " + symptom.hint;
    report.notes.push_back({NoteLevel(symptom.level), symptom.id, base::Printable(text)});
  }
  report::SortNotes(report.notes);
  return report;
}

ExitCode Run(const Options& options) {
  const auto spec = ReadSpec(options.spec);
  if (!spec) return PrintError(spec.error());
  if (auto fits = experiment::CheckValues(*spec); !fits) return PrintError(fits.error());
  if (auto fits = CheckBorrowing(*spec); !fits) return PrintError(fits.error());
  const sys::StopSignal never;
  const auto facts = lab::InspectMachine(
      *spec, {.run_folder = options.into,
              .pause = [&] { static_cast<void>(never.SleepFor(std::chrono::milliseconds(500))); }});
  const auto symptoms = lab::Examine(facts);
  OutputOptions output = options.output;
  if (options.json) output.format = "json";
  if (auto emitted = Emit(DoctorReport(symptoms), output); !emitted) {
    return PrintError(emitted.error());
  }
  const bool sick = std::any_of(symptoms.begin(), symptoms.end(), [](const Symptom& symptom) {
    return symptom.level == Level::kProblem;
  });
  return sick ? ExitCode::kEnvironment : ExitCode::kDone;
}

}  // namespace

Subcommand AddDoctor(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("doctor", "What would stop a run here, and how to mend it");
  AddVariantOptions(*app, options->spec);
  AddMachineOptions(*app, options->spec);
  AddIdleOptions(*app, options->spec);
  app->add_flag("--cache-prompt", options->spec.cache_prompt, "Look for room for KV caches, too");
  app->add_option("--into", options->into, "Where the run directory will be")->type_name("DIR");
  app->add_flag("--json", options->json, "The same as --format json");
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
