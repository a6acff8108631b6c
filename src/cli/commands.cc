#include "cli/commands.h"

namespace culprit::cli {

std::vector<Subcommand> AddSubcommands(CLI::App& program) {
  std::vector<Subcommand> all;
  for (const auto add : {AddInit, AddRun, AddAb, AddTrace, AddGate, AddCalibrate, AddSummarize,
                         AddReport, AddPower, AddDoctor, AddRestore, AddCompare, AddAnalyze,
                         AddCounters, AddTraceInfo, AddClassify, AddGuardian}) {
    all.push_back(add(program));
  }
  return all;
}

}  // namespace culprit::cli
