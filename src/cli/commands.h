#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "cli/exit_code.h"

namespace culprit::cli {

// Command is what a subcommand does once its options are parsed.
using Command = std::function<ExitCode()>;

// Each adds its subcommand to the program and returns the subcommand with what it does.
struct Subcommand {
  CLI::App* app;
  Command run;
};
Subcommand AddAb(CLI::App& program);
Subcommand AddAnalyze(CLI::App& program);
Subcommand AddCalibrate(CLI::App& program);
Subcommand AddClassify(CLI::App& program);
Subcommand AddCompare(CLI::App& program);
Subcommand AddCounters(CLI::App& program);
Subcommand AddDoctor(CLI::App& program);
Subcommand AddGate(CLI::App& program);
Subcommand AddGuardian(CLI::App& program);
Subcommand AddInit(CLI::App& program);
Subcommand AddPower(CLI::App& program);
Subcommand AddReport(CLI::App& program);
Subcommand AddRestore(CLI::App& program);
Subcommand AddRun(CLI::App& program);
Subcommand AddSummarize(CLI::App& program);
Subcommand AddTrace(CLI::App& program);
Subcommand AddTraceInfo(CLI::App& program);

// AddSubcommands adds all of them, in the order in which help lists them.
std::vector<Subcommand> AddSubcommands(CLI::App& program);

}  // namespace culprit::cli
