#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/ab_options.h"
#include "cli/borrow.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "lab/calibration.h"
#include "sys/source.h"

namespace culprit::cli {
namespace {

using base::Fail;
using base::Result;
using base::Status;
using experiment::Spec;
using store::PromptFile;

struct Options {
  SpecOptions spec;
  std::string text_file, output;
  bool no_wait = false;
};

// Only the baseline's server is asked.
Result<Spec> BaselineOnly(const SpecOptions& options) {
  SpecOptions one = options;
  one.same_variant = true;
  auto spec = SpecOf(one);
  if (spec) spec->workload.cache_prompt = false;
  return spec;
}

Result<std::string> TextOf(const Options& options) {
  if (options.text_file.empty()) return lab::Prose();
  auto bytes = sys::ReadWhole(options.text_file);
  if (!bytes) return Fail(std::move(bytes.error()));
  return std::string(bytes->view());
}

ExitCode Tell(const PromptFile& prompt, const std::string& file) {
  const std::string what =
      fmt::format("a {} prompt of {} tokens, counted by the server in a real request",
                  experiment::Name(prompt.endpoint), base::Grouped(Count(prompt.tokens)));
  const std::string where = file.empty() ? "kept for culprit ab" : base::Printable(file);
  fmt::print("{}: {}\n", where, what);
  const auto written = FlushStdout();
  return written ? ExitCode::kDone : PrintError(written.error());
}

ExitCode Run(const Options& options) {
  const auto spec = BaselineOnly(options.spec);
  if (!spec) return PrintError(spec.error());
  const auto text = TextOf(options);
  if (!text) return PrintError(text.error());
  std::optional<PromptFile> prompt;
  const Loan loan{*spec, "culprit calibrate", !options.no_wait};
  const ExitCode done = WithMachine(loan, [&](lab::Bench& bench, const std::string& state) {
    std::error_code error;
    std::filesystem::remove(state + "/calibration.log", error);
    auto made = MakePrompt({*spec, state, state, bench}, *text);
    if (!made) return Status(Fail(std::move(made.error())));
    prompt = *std::move(made);
    return Status();
  });
  if (done != ExitCode::kDone) return done;
  if (!options.output.empty()) {
    if (auto written = store::WritePromptFile(options.output, *prompt); !written) {
      return PrintError(written.error());
    }
  }
  return Tell(*prompt, options.output);
}

}  // namespace

Subcommand AddCalibrate(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "calibrate", "Make a prompt of exactly N tokens for a server and its model");
  AddVariantOptions(*app, options->spec);
  AddPromptOptions(*app, options->spec);
  app->add_option("--text", options->text_file, "What the prompt is cut from [prose of culprit's]")
      ->type_name("FILE");
  app->add_option("-o,--output", options->output,
                  "Write it to FILE, for ab --prompt; without this, ab finds it by itself")
      ->type_name("FILE");
  app->add_flag("--no-wait", options->no_wait, "Fail when somebody else measures on this machine");
  AddMachineOptions(*app, options->spec);
  AddIdleOptions(*app, options->spec);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
