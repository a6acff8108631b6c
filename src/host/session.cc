#include "host/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/knob.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

// The machine is not as it was, which is worse than what led there.
base::Error Both(const base::Error& first, base::Error not_restored) {
  not_restored.message += " (after: " + first.Text() + ")";
  return not_restored;
}

}  // namespace

Status CheckChange(const Change& change) {
  const auto knob = MakeKnob(change.setting, std::chrono::nanoseconds::zero());
  if (!knob) return Fail(knob.error());
  return (*knob)->Accepts(change.want);
}

Result<std::unique_ptr<Session>> Session::Begin(const SessionOptions& options,
                                                const sys::StopSignal& stop) {
  for (const Change& change : options.changes) {
    if (auto fits = CheckChange(change); !fits) return Fail(std::move(fits.error()));
  }
  auto folder = StateFolder();
  if (!folder) return Fail(std::move(folder.error()));
  const auto tell = [&](const std::string& holder) {
    if (options.restore.progress) options.restore.progress("waiting for the machine: " + holder);
  };
  auto lock = MachineLock::Acquire(options.holder, options.wait_for_machine, stop, tell);
  if (!lock) return Fail(std::move(lock.error()));
  std::unique_ptr<Session> session(new Session(options, *std::move(folder), *std::move(lock)));
  if (auto earlier = session->RestoreEarlier(); !earlier) return Fail(std::move(earlier.error()));
  const auto borrowed = session->Borrow(stop);
  if (borrowed) return session;
  const auto back = session->End().AsStatus();
  return Fail(back ? borrowed.error() : Both(borrowed.error(), back.error()));
}

Status Session::RestoreEarlier() {
  auto journal = Journal::OpenUnfinished(folder_, options_.at_step);
  if (!journal) return Fail(std::move(journal.error()));
  if (!*journal) return {};
  earlier_ = Restore(**journal, options_.restore);
  return earlier_->AsStatus();
}

// Everything is looked at before anything is changed.
Status Session::Borrow(const sys::StopSignal& stop) {
  std::vector<Planned> plan;
  for (const Change& change : options_.changes) {
    auto planned = Plan(change);
    if (!planned) return Fail(std::move(planned.error()));
    if (*planned) plan.push_back(**std::move(planned));
  }
  std::vector<Health> healthy;
  for (const std::string& url : options_.health_urls) {
    if (options_.restore.answers(url)) {
      healthy.push_back({url, options_.health_deadline});
    } else {
      warnings_.push_back(url + " does not answer 200 now, and will not be waited for");
    }
  }
  auto journal = Journal::Create(folder_, options_.at_step);
  if (!journal) return Fail(std::move(journal.error()));
  journal_ = *std::move(journal);
  for (const Health& health : healthy) {
    if (auto noted = journal_->Append(health); !noted) return Fail(std::move(noted.error()));
  }
  if (auto guarded = EnsureGuardian(stop); !guarded) return guarded;
  for (const Planned& planned : plan) {
    if (stop.requested()) break;
    auto applied = Apply(planned.setting);
    if (applied) continue;
    // A journal that cannot be written is no matter of taste.
    if (!planned.optional || applied.error().code == ErrorCode::kUnreadable) return applied;
    warnings_.push_back(applied.error().Text());
  }
  if (stop.requested()) return Fail(sys::Interrupted());
  return {};
}

// Absent when there is nothing to change.
Result<std::optional<Session::Planned>> Session::Plan(const Change& change) {
  auto knob = MakeKnob(change.setting, options_.restore.rest);
  if (!knob) return Fail(std::move(knob.error()));
  auto present = (*knob)->Read();
  if (present) {
    if (*present == change.want) return std::nullopt;
    return Planned{{change.setting, *present, change.want}, change.optional};
  }
  if (!change.optional) return Fail(std::move(present.error()).In((*knob)->Description()));
  warnings_.push_back(
      fmt::format("{} stays as it is: {}", (*knob)->Description(), present.error().Text()));
  return std::nullopt;
}

Status Session::Apply(const Setting& setting) {
  auto knob = MakeKnob(setting.id, options_.restore.rest);
  if (!knob) return Fail(std::move(knob.error()));
  const std::string what = (*knob)->Description();
  if (options_.restore.progress) options_.restore.progress(what + ": " + setting.want);
  const Announce announce = [this](const sys::ProcessIdentity& process, std::string_view command) {
    return NoteStarted(process, command);
  };
  if (auto can = (*knob)->CanReturn(setting.was, announce); !can) {
    return Fail(std::move(can.error()).In(what));
  }
  if (auto noted = journal_->Append(setting); !noted) return Fail(std::move(noted.error()));
  journal_->Step("before write");
  auto changed = (*knob)->Write(setting.want, announce);
  journal_->Step("after write");
  auto present = (*knob)->Read();
  if (changed && present && *present == setting.want) return {};
  if (changed && present) {
    changed = Fail(ErrorCode::kEnvironment,
                   fmt::format("was set to {} and is {}", setting.want, *present));
  }
  if (changed) changed = Fail(std::move(present.error()));
  return Fail(std::move(changed.error()).In(what));
}

Status Session::NoteStarted(const sys::ProcessIdentity& process, std::string_view what) {
  auto noted = journal_->Append(Started{sys::IdentifyGroup(process), std::string(what)});
  if (!noted) return Fail(std::move(noted.error()));
  return {};
}

void Session::NoteEnded(const sys::ProcessIdentity& process) {
  const auto& entries = journal_->entries();
  const auto entry = std::find_if(entries.rbegin(), entries.rend(), [&](const JournalEntry& e) {
    const auto* started = std::get_if<Started>(&e.fact);
    return started != nullptr && started->group.leader == process;
  });
  if (entry == entries.rend()) return;
  // Only saves Restore a look when it fails.
  static_cast<void>(journal_->Append(Settled{entry->sequence}));
}

Status Session::EnsureGuardian(const sys::StopSignal& stop) {
  if (guardian_ && guardian_->IsAlive()) return {};
  auto guardian = Guardian::Start(folder_, lock_->fd());
  // The signal that stops us may end a guardian that does not yet stand it.
  if (!guardian && stop.requested()) return Fail(sys::Interrupted());
  if (!guardian) return Fail(std::move(guardian.error()));
  guardian_ = *std::move(guardian);
  journal_->Step("guardian watches");
  return {};
}

RestoreReport Session::End() {
  RestoreReport report;
  if (journal_) report = Restore(*journal_, options_.restore);
  journal_.reset();
  if (guardian_) guardian_->Dismiss();
  guardian_.reset();
  lock_.reset();
  return report;
}

}  // namespace culprit::host
