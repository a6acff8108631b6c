#include "cli/commands.h"
namespace culprit::cli {
Subcommand AddClassify(CLI::App& program) {
  return {program.add_subcommand("classify", ""), [] { return ExitCode::kDone; }};
}
}  // namespace culprit::cli
