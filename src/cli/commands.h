#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/exit_code.h"

namespace culprit::cli {

// Command is what a subcommand does once its options are parsed.
using Command = std::function<ExitCode()>;

// Each adds its subcommand to the program and returns the subcommand with what it does.
struct Subcommand {
  CLI::App* app;
  Command run;
};
Subcommand AddAnalyze(CLI::App& program);
Subcommand AddCompare(CLI::App& program);
Subcommand AddClassify(CLI::App& program);
Subcommand AddSummarize(CLI::App& program);
Subcommand AddTraceInfo(CLI::App& program);
Subcommand AddPower(CLI::App& program);
Subcommand AddRestore(CLI::App& program);
Subcommand AddGuardian(CLI::App& program);

}  // namespace culprit::cli
