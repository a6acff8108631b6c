#include "report/analysis_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/cost_unit.h"

namespace culprit::report {
namespace {

using analysis::Analysis;
using analysis::Confidence;
using base::Fraction;
using base::Nanos;
using base::Severity;

Note::Level LevelOf(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return Note::Level::kInfo;
    case Severity::kNotice:
      return Note::Level::kNotice;
    case Severity::kDataLoss:
      return Note::Level::kWarning;
    case Severity::kError:
      return Note::Level::kError;
  }
  return Note::Level::kError;
}

std::string_view Sureness(Confidence confidence) {
  switch (confidence) {
    case Confidence::kConfirmed:
      return "confirmed";
    case Confidence::kSingle:
      return "not confirmed by a second way";
    case Confidence::kContradicted:
      return "contradicted";
  }
  return "";
}

// "decode window of 1.871 s found by the client's times, confirmed: the server's timings agree
// (0.1 % apart)"
std::string WindowSentence(const Analysis& analysis) {
  const auto& found = analysis.found;
  std::string text =
      fmt::format("{} window of {} found {}, {}",
                  found.window.phase == analysis::Phase::kDecode ? "decode" : "prefill",
                  base::Seconds(analysis.rollup.wall), found.how, Sureness(found.confidence));
  for (std::size_t i = 0; i < found.checks.size(); ++i) {
    text += (i == 0 ? ": " : "; ") + found.checks[i];
  }
  return text;
}

// Told is how times are told: "2.391" and " ms per token" of a request, "1.528 s" and "" of a file.
struct Told {
  std::function<std::string(Nanos)> time;
  std::string unit;
};

// Kernels that end within 5 µs are bound by launching them.
std::string LaunchBoundSentence(const Analysis& analysis, const Told& told) {
  const analysis::Cost total = analysis.rollup.total();
  const auto busy = static_cast<double>(analysis.rollup.exclusive().count());
  if (busy == 0) return "";
  return fmt::format(
      "launches under 5 µs: {}{}, {} of busy time, {} launches", told.time(total.short_exclusive),
      told.unit, base::Percent(Fraction(static_cast<double>(total.short_exclusive.count()) / busy)),
      base::Grouped(total.short_launches));
}

// What adding up durations would have said, and whom it would have blamed.
std::string SummedSentence(const Analysis& analysis, const Told& told) {
  const auto& kernels = analysis.rollup.kernels;
  const auto excess = [](const analysis::KernelCost& kernel) {
    return kernel.summed - kernel.exclusive;
  };
  const auto worst =
      std::max_element(kernels.begin(), kernels.end(),
                       [&](const auto& x, const auto& y) { return excess(x) < excess(y); });
  return fmt::format(
      "durations add up to {}{}, but only {} passed: dispatches wait for earlier ones of their "
      "stream. {} would be booked with {}; it owns {}",
      told.time(analysis.rollup.total().summed), told.unit, told.time(analysis.rollup.exclusive()),
      base::Shortened(base::Printable(worst->short_name), 60), told.time(worst->summed),
      told.time(worst->exclusive));
}

using Add = std::function<void(Note::Level, std::string_view id, const std::string& text)>;

void AddFindings(const Analysis& analysis, const Told& told, const Add& add) {
  for (const auto& entry : analysis.diagnostics.entries()) {
    // Told better below, or as the window's own sentence.
    if (entry.finding == base::Finding::kWindowsDisagree ||
        entry.finding == base::Finding::kSummedExceedsExclusive) {
      continue;
    }
    const Note note = FindingNote(entry);
    add(note.level, note.id, note.text);
  }
  if (analysis.diagnostics.Has(base::Finding::kSummedExceedsExclusive)) {
    add(Note::Level::kNotice, "summed_exceeds_exclusive", SummedSentence(analysis, told));
  }
}

void AddDevicesAndCalls(const Analysis& analysis, const Told& told, const Add& add) {
  if (analysis.devices.size() > 1) {
    for (const auto& device : analysis.devices) {
      add(Note::Level::kInfo, "device",
          fmt::format("{} was busy for {} and idle for {}{}", base::Printable(device.name),
                      told.time(device.busy), told.time(device.idle), told.unit));
    }
  }
  if (analysis.host_call_time > Nanos(0)) {
    add(Note::Level::kInfo, "host_calls",
        fmt::format("runtime calls on the host took {}{} (longest: {}); a call that waits is no "
                    "transfer, so this is in no row",
                    told.time(analysis.host_call_time), told.unit,
                    base::Printable(analysis.longest_host_call)));
  }
}

}  // namespace

void AddAnalysisNotes(const Analysis& analysis, const std::string& subject,
                      std::vector<Note>& notes) {
  const std::string prefix = subject.empty() ? "" : subject + ": ";
  const CostUnit unit = CostUnit::Of(analysis.found.window.phase);
  const Told told{[&](Nanos time) { return unit.text(analysis.per_token(time)); },
                  " " + unit.name()};
  const Add add = [&](Note::Level level, std::string_view id, const std::string& text) {
    if (!text.empty()) notes.push_back({level, std::string(id), prefix + text});
  };
  add(analysis.found.confidence == Confidence::kContradicted ? Note::Level::kWarning
                                                             : Note::Level::kInfo,
      "window", WindowSentence(analysis));
  AddFindings(analysis, told, add);
  add(Note::Level::kInfo, "launch_bound", LaunchBoundSentence(analysis, told));
  AddDevicesAndCalls(analysis, told, add);
}

void AddFileNotes(const Analysis& whole, std::vector<Note>& notes) {
  const Told told{[](Nanos time) { return base::Seconds(time); }, ""};
  const Add add = [&](Note::Level level, std::string_view id, const std::string& text) {
    notes.push_back({level, std::string(id), text});
  };
  AddFindings(whole, told, add);
  AddDevicesAndCalls(whole, told, add);
}

void AddProof(const analysis::Proof& proof, const std::string& subject,
              std::vector<Check>& checks) {
  for (const auto& item : proof.items) {
    checks.push_back({item.id, subject, base::Printable(item.sentence), item.holds});
  }
}

Note FindingNote(const base::Diagnostics::Entry& entry) {
  const auto& info = base::Describe(entry.finding);
  std::string text = fmt::format("{} ({})", info.what, base::Grouped(entry.count));
  if (!entry.example.empty()) text += ": " + base::Shortened(base::Printable(entry.example), 120);
  if (!info.advice.empty()) text += fmt::format("; {}", info.advice);
  return {LevelOf(info.severity), std::string(info.id), std::move(text)};
}

void SortNotes(std::vector<Note>& notes) {
  std::stable_sort(notes.begin(), notes.end(),
                   [](const Note& a, const Note& b) { return a.level > b.level; });
}

}  // namespace culprit::report
