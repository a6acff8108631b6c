#include "host/restore.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.h"
#include "host/knob.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Status;

// Restoration is one walk through a journal. Whatever it appends on the way only saves work next
// time, so a full disk does not keep it from going on.
class Restoration {
 public:
  Restoration(Journal& journal, const RestoreOptions& options)
      : journal_(journal), options_(options), boot_(sys::BootId()) {}

  RestoreReport Run() {
    const auto entries = journal_.entries();  // a copy: the walk appends
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (entry->boot != boot_) report_.rebooted = true;
      if (journal_.IsSettled(entry->sequence)) continue;
      if (const auto* started = std::get_if<Started>(&entry->fact)) End(*entry, *started);
      if (const auto* setting = std::get_if<Setting>(&entry->fact)) PutBack(*entry, *setting);
    }
    for (const auto& entry : entries) {
      if (journal_.IsSettled(entry.sequence)) continue;
      if (const auto* health = std::get_if<Health>(&entry.fact)) WaitFor(entry, *health);
    }
    if (journal_.damaged() > 0) {
      report_.failed.push_back(
          fmt::format("{}: lines that cannot be read: {}", journal_.path(), journal_.damaged()));
    }
    if (report_.complete()) Finish();
    return std::move(report_);
  }

 private:
  void Tell(const std::string& sentence) const {
    if (options_.progress) options_.progress(sentence);
  }
  void Settle(const JournalEntry& entry) {
    static_cast<void>(journal_.Append(Settled{entry.sequence}));
  }
  void Failed(const std::string& what, const base::Error& error) {
    report_.failed.push_back(what + ": " + error.Text());
  }

  void End(const JournalEntry& entry, const Started& started) {
    if (entry.boot != boot_) return;
    const auto running = sys::MembersOf(started.group);
    if (running.empty()) return;
    const std::string what = base::Printable(started.what);
    Tell("ending " + what);
    journal_.Step("before kill");
    const auto remaining = sys::KillGroup(started.group, std::chrono::seconds(30));
    journal_.Step("after kill");
    if (!remaining.empty()) {
      report_.failed.push_back(
          fmt::format("{}: process {} cannot be ended", what, remaining.front().pid));
      return;
    }
    report_.restored.push_back(fmt::format("{}: ended", what));
    Settle(entry);
  }

  void PutBack(const JournalEntry& entry, const Setting& setting) {
    auto knob = MakeKnob(setting.id, options_.rest);
    if (!knob) return Failed(setting.id, knob.error());
    const std::string what = (*knob)->Description();
    auto present = (*knob)->Read();
    if (!present) return Failed(what, present.error());
    if (*present != setting.was && *present != setting.want) {
      report_.left.push_back(
          fmt::format("{} is {} and was {}: left, because somebody changed it since", what,
                      *present, setting.was));
      return Settle(entry);
    }
    if (*present == setting.want && setting.want != setting.was) {
      Tell(fmt::format("{}: back to {}", what, setting.was));
      if (auto written = WriteAndVerify(**knob, setting.was); !written) {
        return Failed(what, written.error());
      }
    }
    report_.restored.push_back(fmt::format("{}: {}", what, setting.was));
    Settle(entry);
  }

  Status WriteAndVerify(const Knob& knob, const std::string& value) {
    const Announce announce = [&](const sys::ProcessIdentity& process, std::string_view what) {
      static_cast<void>(journal_.Append(Started{sys::IdentifyGroup(process), std::string(what)}));
      return Status();
    };
    journal_.Step("before write");
    if (auto written = knob.Write(value, announce); !written) return written;
    journal_.Step("after write");
    auto present = knob.Read();
    if (!present) return base::Fail(std::move(present.error()));
    if (*present == value) return {};
    return base::Fail(ErrorCode::kNotRestored,
                      fmt::format("was set to {} and is {}", value, *present));
  }

  // Nobody is kept waiting for a server whose service may have failed to start.
  void WaitFor(const JournalEntry& entry, const Health& health) {
    const sys::StopSignal never;
    const std::string url = base::Printable(health.url);
    const auto within = report_.complete() ? health.within : std::chrono::seconds(0);
    const auto end = std::chrono::steady_clock::now() + within;
    Tell("waiting for " + url);
    while (!options_.answers(health.url)) {
      if (std::chrono::steady_clock::now() >= end) {
        report_.failed.push_back(
            fmt::format("{} does not answer 200 after {} s, and did before", url, within.count()));
        return;
      }
      static_cast<void>(never.SleepFor(std::chrono::milliseconds(500)));
    }
    report_.restored.push_back(url + ": answers");
    Settle(entry);
  }

  void Finish() {
    if (auto finished = journal_.Finish(); !finished) {
      report_.failed.push_back(finished.error().Text());
    }
  }

  Journal& journal_;
  const RestoreOptions& options_;
  const std::string boot_;
  RestoreReport report_;
};

}  // namespace

Status RestoreReport::AsStatus() const {
  if (complete()) return {};
  return base::Fail(ErrorCode::kNotRestored, fmt::format("{}", fmt::join(failed, "; ")),
                    "this machine is NOT as it was", "mend it and run culprit restore");
}

RestoreReport Restore(Journal& journal, const RestoreOptions& options) {
  return Restoration(journal, options).Run();
}

}  // namespace culprit::host
