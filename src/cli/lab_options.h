#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/ab_options.h"
#include "cli/plan.h"

namespace culprit::cli {

// LabOptions are the flags of the commands that run servers: ab, trace, run and counters.
struct LabOptions {
  SpecOptions spec;
  std::vector<std::string> passes;  // of counters, as written
  std::string into, resume, prompt_file;
  bool dry_run = false, no_wait = false;
};
void AddLabOptions(CLI::App& command, LabOptions& options, Stages stages);

}  // namespace culprit::cli
