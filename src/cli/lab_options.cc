#include "cli/lab_options.h"

#include <fmt/format.h>

#include "collect/registry.h"

namespace culprit::cli {

void AddLabOptions(CLI::App& command, LabOptions& options, Stages stages) {
  AddSpecOptions(command, options.spec);
  if (stages.trace) {
    std::string names;
    for (const auto name : collect::CollectorNames()) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    command
        .add_option("--collector", options.spec.collector,
                    fmt::format("What takes the traces: {} [by device]", names))
        ->type_name("NAME");
  }
  if (stages.count) {
    command
        .add_option("--pmc", options.passes,
                    "What to count in one pass, names between commas or blanks; each further --pmc "
                    "is another pass, and another start of each server [SQ_WAVES,GRBM_GUI_ACTIVE]")
        ->type_name("NAMES")
        ->allow_extra_args(false);
  }
  if (stages.measure) {
    AddGateOptions(command, options.spec);
    CLI::Option* none =
        command.add_flag("--no-gate", options.spec.no_gate,
                         "Measure without comparing the answers first; the report says so");
    // What would be asked for in vain.
    for (const char* name : {"--gate", "--positions", "--gate-prompts", "--gate-ubatch"}) {
      none->excludes(command.get_option(name));
      command.get_option("--aa")->excludes(command.get_option(name));
    }
  }
  command.add_option("--into", options.into, "The run directory to make [culprit-runs/…]")
      ->type_name("DIR");
  command
      .add_option("--resume", options.resume,
                  stages.measure ? "Go on with a run that was broken off"
                  : stages.count ? "Count what this run directory lacks"
                                 : "Take the traces that this run directory lacks")
      ->type_name("DIR");
  command.add_option("--prompt", options.prompt_file, "A prompt that culprit calibrate made")
      ->type_name("FILE");
  command.add_flag("--dry-run", options.dry_run, "Print every command and the order; run nothing");
  command.add_flag("--no-wait", options.no_wait,
                   "Fail when somebody else measures on this machine");
  // A run that goes on is the experiment that its folder holds.
  for (CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return each != nullptr; })) {
    const std::string name = option->get_single_name();
    if (name != "help" && name != "resume" && name != "no-wait" && name != "pmc") {
      command.get_option("--resume")->excludes(option);
    }
  }
}

}  // namespace culprit::cli
