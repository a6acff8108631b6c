#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/parse_number.h"
#include "base/printable.h"
#include "report/writers.h"
#include "sys/atomic_file.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Status;
using report::Format;

std::size_t TerminalWidth() {
  constexpr std::size_t kUsual = 100;
  if (const char* columns = std::getenv("COLUMNS")) {
    const auto width = base::ParseNumber<std::size_t>(columns);
    if (width && *width >= 40) return *width;
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return kUsual;
}

bool UseColor(const std::string& wish) {
  if (wish != "auto") return wish == "always";
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

// ToStderr ignores that stderr may be closed or full, where fmt::print throws: the exit code still
// tells what happened.
void ToStderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

base::Result<Format> FormatOfFile(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".json") return Format::kJson;
  if (extension == ".csv") return Format::kCsv;
  if (extension == ".md") return Format::kMarkdown;
  if (extension == ".html") return Format::kHtml;
  if (extension == ".txt") return Format::kTerminal;
  return Fail(ErrorCode::kUsage, "no format goes with this file name", path,
              "end it in .html, .json, .csv, .md or .txt");
}

}  // namespace

void AddOutputOptions(CLI::App& command, OutputOptions& options) {
  command.add_option("--format", options.format, "Format on stdout")
      ->check(CLI::IsMember({"terminal", "json", "csv", "markdown", "github", "html"}))
      ->capture_default_str();
  command
      .add_option("-o,--output", options.files,
                  "Also write to FILE (.html, .json, .csv, .md or .txt); may be repeated")
      ->type_name("FILE");
  command.add_option("--color", options.color, "Colour on stdout")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

Status CheckOutput(const OutputOptions& options) {
  for (const std::string& file : options.files) {
    if (auto format = FormatOfFile(file); !format) return Fail(std::move(format.error()));
    const std::string folder = std::filesystem::path(file).parent_path().string();
    if (folder.empty() || ::access(folder.c_str(), W_OK | X_OK) == 0) continue;
    return Fail(ErrorCode::kUnreadable, fmt::format("cannot be written: {}", std::strerror(errno)),
                file);
  }
  return {};
}

Status Emit(const report::Report& report, const OutputOptions& options) {
  // Each place gets the report that can: it may have taken hours to come to.
  Status done;
  const auto note = [&done](Status status) {
    if (done && !status) done = std::move(status);
  };
  for (const std::string& file : options.files) {
    const auto format = FormatOfFile(file);
    if (!format) return Fail(format.error());
    note(sys::WriteFileAtomically(file, report::Write(report, *format, {})));
  }
  const Format format = report::FormatByName(options.format).value_or(Format::kTerminal);
  std::string text =
      report::Write(report, format, {.width = TerminalWidth(), .color = UseColor(options.color)});
  // On a GitHub runner the summary goes to the step's file, and annotations to the log.
  const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
  if (format == Format::kGithub && summary != nullptr && *summary != '\0') {
    note(sys::AppendToFile(summary, text));
    text = report::WriteGithubAnnotations(report);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  note(FlushStdout());
  return done;
}

Status FlushStdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return Fail(ErrorCode::kUnreadable, "cannot be written", "standard output");
}

ExitCode PrintError(const base::Error& error) {
  ToStderr(fmt::format("culprit: {}\n", base::Printable(error.Text())));
  return ExitCodeFor(error.code);
}

void Say(std::string_view sentence) { ToStderr(base::Printable(sentence) + "\n"); }

Progress::Progress(std::string_view what)
    : what_(base::Printable(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (drawn_) ToStderr("\r\033[K");
}

void Progress::Show(double share) {
  const int percent = std::clamp(static_cast<int>(share * 100), 0, 100);
  if (!terminal_ || percent == last_percent_) return;
  if (std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(1)) return;
  last_percent_ = percent;
  drawn_ = true;
  ToStderr(fmt::format("\r\033[K{}: {} %", base::Shortened(what_, 60), percent));
}

}  // namespace culprit::cli
