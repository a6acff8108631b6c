#include "cli/restore_report.h"

#include <cstdio>
#include <string>

#include "base/printable.h"

namespace culprit::cli {

ExitCode PrintRestored(const host::RestoreReport& report) {
  std::string text;
  if (report.rebooted) text += "the machine was rebooted since\n";
  for (const auto& sentence : report.restored) text += base::Printable(sentence) + "\n";
  for (const auto& sentence : report.left) text += base::Printable(sentence) + "\n";
  for (const auto& sentence : report.failed) {
    text += "NOT RESTORED: " + base::Printable(sentence) + "\n";
  }
  if (!report.complete()) {
    text += "culprit: this machine is not as it was: mend that and run culprit restore\n";
  }
  std::fputs(text.c_str(), stderr);
  return report.complete() ? ExitCode::kDone : ExitCodeFor(base::ErrorCode::kNotRestored);
}

}  // namespace culprit::cli
