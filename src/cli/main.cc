#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/did_you_mean.h"
#include "cli/commands.h"
#include "cli/exit_rule.h"
#include "cli/help.h"
#include "cli/output.h"

namespace {

using culprit::cli::ExitCode;

int NoSuchCommand(const CLI::App& program, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) names.push_back(command->get_name());  // else it is hidden
  }
  return static_cast<int>(
      culprit::cli::PrintError({culprit::base::ErrorCode::kUsage, "there is no command " + word, "",
                                culprit::base::DidYouMean(word, names)}));
}

// For a flag that is none, the nearest one; absent for other words.
std::optional<culprit::base::Error> NearestFlag(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands()) {
    for (const std::string& word : command->remaining(true)) {
      if (!word.starts_with("--")) continue;
      std::vector<std::string> flags;
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
      }
      const std::vector<std::string_view> known(flags.begin(), flags.end());
      const std::string hint = culprit::base::DidYouMean(word, known);
      if (!hint.starts_with("did you mean")) return std::nullopt;
      return culprit::base::Error{culprit::base::ErrorCode::kUsage,
                                  word + " is no flag of " + command->get_name(), "", hint};
    }
  }
  return std::nullopt;
}

// CLI11's own exit codes and messages are replaced by ours; asking for help is no error.
int ExitAfterParsing(const CLI::App& program, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    program.exit(error);
    const auto written = culprit::cli::FlushStdout();
    return static_cast<int>(written ? ExitCode::kDone : culprit::cli::PrintError(written.error()));
  }
  std::string help = "culprit";
  for (const CLI::App* command : program.get_subcommands()) help += " " + command->get_name();
  if (const auto rest = program.remaining(); help == "culprit" && !rest.empty()) {
    return NoSuchCommand(program, rest.front());
  }
  const culprit::base::Error plain{culprit::base::ErrorCode::kUsage, error.what(), "",
                                   "see " + help + " --help"};
  return static_cast<int>(culprit::cli::PrintError(NearestFlag(program).value_or(plain)));
}

// A command line that was not understood must not pass for a bad build.
int ForGit(bool bisect, int code) {
  const culprit::cli::ExitRule rule{.fail_on = "", .bisect = bisect};
  return static_cast<int>(culprit::cli::ApplyWithout(rule, static_cast<ExitCode>(code)));
}

int Run(int argc, char** argv, bool bisect) {
  CLI::App program("Which kernels made variant B of your LLM server slower than variant A?",
                   "culprit");
  program.formatter(std::make_shared<culprit::cli::HelpFormatter>());
  program.set_version_flag("--version", "culprit " CULPRIT_VERSION);
  program.require_subcommand(1);
  program.footer(
      "Exit codes: 0 done, 1 regression (only with --fail-on or --bisect), 2 usage, 3 comparison "
      "invalid or incomplete, 4 correctness gate failed, 5 environment, 125 and 128 cannot tell "
      "and stop (only with --bisect), 130 interrupted.");
  const auto subcommands = culprit::cli::AddSubcommands(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ForGit(bisect, ExitAfterParsing(program, error));
  }
  for (const auto& subcommand : subcommands) {
    if (subcommand.app->parsed()) return static_cast<int>(subcommand.run());
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  const bool bisect = std::any_of(
      argv, argv + argc, [](const char* word) { return std::string_view(word) == "--bisect"; });
  try {
    return Run(argc, argv, bisect);
  } catch (const std::bad_alloc&) {
    std::fputs("culprit: out of memory\n", stderr);
  } catch (const std::exception& error) {  // of a library: our own code throws nothing
    std::fprintf(stderr, "culprit: %s\n", error.what());
  }
  return ForGit(bisect, static_cast<int>(ExitCode::kEnvironment));
}
