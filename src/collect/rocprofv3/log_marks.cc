#include "collect/rocprofv3/log_marks.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/printable.h"

namespace culprit::collect::rocprofv3 {
namespace {

constexpr std::size_t kLongestLine = 16 << 10;
constexpr std::size_t kMostWriters = 1000;

bool Has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

// "… writing SQL database for process 4711 on node 1234": 0 for any other line.
pid_t WriterOf(std::string_view line) {
  constexpr std::string_view kText = "writing SQL database for process ";
  const auto at = line.find(kText);
  if (at == std::string_view::npos) return 0;
  line.remove_prefix(at + kText.size());
  pid_t pid = 0;
  std::from_chars(line.data(), line.data() + line.size(), pid);
  return std::max(pid, 0);
}

// W0315 … tool.cpp:9] [PPID=4710][PID=4711][…] rocprofv3 caught signal 15…: absent where it does
// not say who speaks.
std::optional<pid_t> SpeakerOf(std::string_view line) {
  constexpr std::string_view kText = "[PID=";
  const auto at = line.find(kText);
  if (at == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  std::from_chars(line.data() + at + kText.size(), line.data() + line.size(), pid);
  return pid;
}

// [rocprofv3] '/usr/bin/llama-server -m …' ::     123.456789 sec
// The same line with 0.000000 stands at the start of each program.
bool IsReturn(std::string_view line) {
  const auto name = line.find("[rocprofv3] '"), time = line.rfind("' :: ");
  if (name == std::string_view::npos || time == std::string_view::npos) return false;
  return line.substr(time).find_first_of("123456789") != std::string_view::npos;
}

// E0315 10:20:30.123456 4711 generateRocpd.cpp:99] SQLite3 error: database or disk is full
std::string WithoutPrefix(std::string_view line) {
  const auto prefix = line.substr(0, 100).find("] ");
  if (prefix != std::string_view::npos) line.remove_prefix(prefix + 2);
  return base::Shortened(base::Printable(line), 200);
}

// Unknown counters are left out by some releases and end others; those that do not fit one pass end
// all that were seen, at the first kernel.
bool IsAboutCounters(std::string_view line) {
  return Has(line, "Unable to find all counters") || Has(line, "Unable to find counter") ||
         Has(line, "Could not construct profile cfg") || Has(line, "EXCEEDS_HW_LIMIT");
}

}  // namespace

void LogMarks::Add(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view piece = text.substr(0, end);
    // What a line says stands near its beginning.
    line_ += piece.substr(0, kLongestLine - line_.size());
    if (end == std::string_view::npos) return;
    ReadLine(line_);
    line_.clear();
    text.remove_prefix(end + 1);
  }
}

bool LogMarks::IsDone() const {
  if (writers_.empty()) return finalized_ > 0;
  return writers_.contains(server_) && finalized_ >= writers_.size();
}

void LogMarks::ReadLine(std::string_view line) {
  // srv    operator(): operator(): cleaning up before exit...
  if (Has(line, "cleaning up before exit")) marks_.own_stop = true;
  if (SpeakerOf(line).value_or(server_) == server_) {
    if (Has(line, "rocprofv3 caught signal ")) marks_.handler = true;
    if (Has(line, "rocprofv3 will wait for ")) marks_.children = true;
    if (Has(line, "rocprofv3 finalizing after signal ")) marks_.finalizing = true;
  }
  if (IsReturn(line)) marks_.returned = true;
  if (marks_.uncounted.empty() && IsAboutCounters(line)) marks_.uncounted = WithoutPrefix(line);
  if (Has(line, "Opened result file: ")) marks_.writing = true;
  if (const pid_t writer = WriterOf(line); writer != 0) {
    marks_.writing = true;
    if (writers_.size() < kMostWriters) writers_.insert(writer);
  }
  if (Has(line, "[rocprofv3] tool finalization :: ")) ++finalized_;
  marks_.done = IsDone();
  // The server may have a full disk of its own, before.
  if (!marks_.failed && marks_.flushes() &&
      (Has(line, "database or disk is full") || Has(line, "No space left on device"))) {
    marks_.failed = true;
    marks_.failure = WithoutPrefix(line);
  }
}

}  // namespace culprit::collect::rocprofv3
