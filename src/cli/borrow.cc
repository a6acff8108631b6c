#include "cli/borrow.h"

#include <fmt/format.h>

#include "cli/hashing.h"
#include "cli/output.h"
#include "cli/restore_report.h"
#include "gpu/registry.h"
#include "host/services.h"
#include "sys/host_time.h"

namespace culprit::cli {

using experiment::Spec;

host::SessionOptions SessionFor(const Spec& spec, const std::string& holder, bool wait) {
  host::SessionOptions session;
  for (const auto& unit : spec.machine.stop_services) {
    session.changes.push_back(
        {host::ServiceId(host::ServiceScope::kSystem, unit), std::string(host::kStopped)});
  }
  for (const auto& unit : spec.machine.stop_user_services) {
    session.changes.push_back(
        {host::ServiceId(host::ServiceScope::kUser, unit), std::string(host::kStopped)});
  }
  if (spec.machine.power_profile) {
    session.changes.push_back({"power-profile", *spec.machine.power_profile, true});
  }
  for (const int port : spec.machine.health) {
    session.health_urls.push_back(fmt::format("http://127.0.0.1:{}/health", port));
  }
  session.health_deadline = spec.limits.health;
  session.holder = holder;
  session.wait_for_machine = wait;
  session.restore.progress = Say;
  return session;
}

base::Status CheckBorrowing(const Spec& spec) {
  for (const auto& change : SessionFor(spec, "", false).changes) {
    if (auto fits = host::CheckChange(change); !fits) return fits;
  }
  return {};
}

void JournalServers(host::Session& session, lab::Bench& bench) {
  bench.before_exec = [&session](const sys::ProcessIdentity& process) {
    return session.NoteStarted(process, "llama-server");
  };
  bench.ended = [&session](const sys::ProcessIdentity& process) { session.NoteEnded(process); };
}

ExitCode WithMachine(const Loan& loan, const UseOfMachine& use) {
  const auto state = host::StateFolder();
  if (!state) return PrintError(state.error());
  const auto stop = sys::StopOnSignals();
  auto session = host::Session::Begin(SessionFor(loan.spec, loan.holder, loan.wait), stop);
  if (!session) return PrintError(session.error());
  for (const auto& warning : (*session)->warnings()) Say(warning);
  const auto devices = gpu::FindDevices();
  lab::Bench bench{.device = *devices.devices.front(),
                   .pace = {.now = sys::BoottimeNow,
                            .sleep = [stop](base::Nanos time) { return stop.SleepFor(time); }},
                   .hashes = sys::FileHashes(*state, TellOfHashing()),
                   .stop = stop};
  JournalServers(**session, bench);
  const auto used = use(bench, *state);
  const ExitCode restored = PrintRestored((*session)->End());
  if (restored != ExitCode::kDone) return restored;
  return used ? ExitCode::kDone : PrintError(used.error());
}

}  // namespace culprit::cli
