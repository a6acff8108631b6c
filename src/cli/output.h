#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "report/report.h"

namespace culprit::cli {

// OutputOptions says where a report goes: to stdout in one format, and to any number of files.
struct OutputOptions {
  std::string format = "terminal";
  std::vector<std::string> files;  // format by extension: .json .csv .md .txt
  std::string color = "auto";      // auto, always, never
};
void AddOutputOptions(CLI::App& command, OutputOptions& options);

// CheckOutput fails with what Emit is sure to fail with, before anything was computed.
base::Status CheckOutput(const OutputOptions& options);

// Emit writes the files and stdout, each that can be written. A file is written whole or not at
// all. Fails with kUsage on an extension without a format, kUnreadable with the first that cannot.
base::Status Emit(const report::Report& report, const OutputOptions& options);

// FlushStdout fails with kUnreadable when not all that was written to stdout got there.
base::Status FlushStdout();

// PrintError writes an error to stderr, in one line that cannot disturb a terminal, and returns
// the exit code it leads to.
ExitCode PrintError(const base::Error& error);

// Say tells people in a line on stderr what happens now.
void Say(std::string_view sentence);

// Progress draws a percentage on stderr once a step takes over a second; nothing when stderr is no
// terminal.
class Progress {
 public:
  explicit Progress(std::string_view what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void Show(double share);

 private:
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  int last_percent_ = -1;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace culprit::cli
