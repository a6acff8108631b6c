#include "cli/restore_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/printable.h"
#include "cli/output.h"

namespace culprit::cli {

ExitCode PrintRestored(const host::RestoreReport& report) {
  std::string text;
  if (report.rebooted) text += "the machine was rebooted since\n";
  for (const auto& sentence : report.restored) text += base::Printable(sentence) + "\n";
  for (const auto& sentence : report.left) text += base::Printable(sentence) + "\n";
  for (const auto& sentence : report.failed) {
    text += "NOT RESTORED: " + base::Printable(sentence) + "\n";
  }
  std::fputs(text.c_str(), stderr);
  const auto status = report.AsStatus();
  return status ? ExitCode::kDone : PrintError(status.error());
}

}  // namespace culprit::cli
