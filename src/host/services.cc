#include "host/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/command.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

// man systemd.unit: letters, digits and :-_.\@, at most 255, and a suffix. A leading dash would be
// an option of systemctl.
bool IsUnitName(std::string_view unit) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(":-_.\\@").find(c) != std::string_view::npos;
  };
  const auto dot = unit.rfind('.');
  return unit.size() <= 255 && dot != std::string_view::npos && dot != 0 &&
         dot + 1 != unit.size() && unit[0] != '-' && std::all_of(unit.begin(), unit.end(), allowed);
}

using Properties = std::map<std::string, std::string, std::less<>>;

// LoadState=loaded
// ActiveState=active
// Job=1712          (absent or empty: nothing is queued)
Properties ParseProperties(std::string_view text) {
  Properties properties;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    properties[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return properties;
}

class Service : public Knob {
 public:
  Service(ServiceScope scope, std::string unit, std::chrono::nanoseconds rest)
      : scope_(scope), unit_(std::move(unit)), rest_(rest) {}

  [[nodiscard]] std::string Description() const override {
    return (scope_ == ServiceScope::kUser ? "user service " : "service ") + unit_;
  }

  [[nodiscard]] Status Accepts(const std::string& value) const override {
    if (value == kRunning || value == kStopped) return {};
    return Fail(ErrorCode::kUsage, "a service cannot be \"" + value + "\"");
  }

  [[nodiscard]] Result<std::string> Read() const override {
    auto state = AtRest();
    if (!state) return Fail(std::move(state.error()));
    const std::string active = (*state)["ActiveState"];
    if ((*state)["LoadState"] == "not-found" && active != kRunning) {
      return Fail(ErrorCode::kNotFound, "there is no such unit");
    }
    return std::string(active == kRunning ? kRunning : kStopped);
  }

  // A unit of systemd-run vanishes when it stops, and so does one whose file was deleted.
  [[nodiscard]] Status CanReturn(const std::string& present,
                                 const Announce& announce) const override {
    auto state = Show();
    if (!state) return Fail(std::move(state.error()));
    const bool lasting = (*state)["LoadState"] == "loaded" && (*state)["Transient"] != "yes";
    if (!lasting || (*state)["CanStart"] == "no") {
      return Fail(ErrorCode::kEnvironment, "is left running: systemd could not start it again");
    }
    if (scope_ == ServiceScope::kUser || IsRoot()) return {};
    auto asked = Ask(present, Privilege::kSudoWithoutMemory, announce);
    if (!asked) {
      asked.error().hint =
          "it is left running, because only a person could start it again; allow "
          "that in sudoers with NOPASSWD, or stop it yourself";
    }
    return asked;
  }

  [[nodiscard]] Status Write(const std::string& value, const Announce& announce) const override {
    if (auto fits = Accepts(value); !fits) return fits;
    const auto privilege = scope_ == ServiceScope::kSystem ? Privilege::kSudo : Privilege::kOwn;
    if (auto asked = Ask(value, privilege, announce); !asked) return asked;
    auto state = AtRest();
    if (!state) return Fail(std::move(state.error()));
    const std::string& active = (*state)["ActiveState"];
    if ((active == kRunning) == (value == kRunning)) return {};
    return Fail(ErrorCode::kEnvironment,
                fmt::format("was asked to {} and is {} (result: {})", Verb(value), active,
                            (*state)["Result"]),
                "", "see " + LogCommand());
  }

 private:
  [[nodiscard]] std::vector<std::string> Systemctl() const {
    if (scope_ == ServiceScope::kUser) return {"systemctl", "--user"};
    return {"systemctl"};
  }

  [[nodiscard]] std::string LogCommand() const {
    return (scope_ == ServiceScope::kUser ? "journalctl --user -u " : "journalctl -u ") + unit_;
  }

  static const char* Verb(std::string_view value) { return value == kRunning ? "start" : "stop"; }

  [[nodiscard]] Status Ask(const std::string& value, Privilege privilege,
                           const Announce& announce) const {
    auto argv = Systemctl();
    for (const char* word : {"--no-ask-password", "--no-block", Verb(value)}) {
      argv.emplace_back(word);
    }
    argv.push_back(unit_);
    return ChangeByCommand(argv, privilege, announce);
  }

  [[nodiscard]] Result<Properties> Show() const {
    auto argv = Systemctl();
    argv.emplace_back("show");
    argv.emplace_back("--property=LoadState,ActiveState,Job,Result,CanStart,Transient");
    argv.push_back(unit_);
    auto shown = ReadByCommand(argv);
    if (!shown) return Fail(std::move(shown.error()));
    auto properties = ParseProperties(*shown);
    if (properties["ActiveState"].empty()) {
      return Fail(ErrorCode::kEnvironment, "systemctl does not tell its state");
    }
    return properties;
  }

  // Reloading counts as running: it serves all the while.
  [[nodiscard]] Result<Properties> AtRest() const {
    const sys::StopSignal never;
    const auto end = std::chrono::steady_clock::now() + rest_;
    std::chrono::nanoseconds pause = std::chrono::milliseconds(10);
    while (true) {
      auto state = Show();
      if (!state) return state;
      std::string& active = (*state)["ActiveState"];
      if (active == "reloading" || active == "refreshing") active = kRunning;
      const std::string& job = (*state)["Job"];
      const bool queued = !job.empty() && job != "0";
      if (!queued && (active == kRunning || active == kStopped || active == "failed")) return state;
      if (std::chrono::steady_clock::now() >= end) {
        return Fail(ErrorCode::kTimeout,
                    fmt::format("is still {} after {} s", queued ? active + ", with a job" : active,
                                std::chrono::duration_cast<std::chrono::seconds>(rest_).count()),
                    "", "see " + LogCommand());
      }
      static_cast<void>(never.SleepFor(pause));
      pause = std::min<std::chrono::nanoseconds>(2 * pause, std::chrono::milliseconds(500));
    }
  }

  ServiceScope scope_;
  std::string unit_;
  std::chrono::nanoseconds rest_;
};

}  // namespace

std::string ServiceId(ServiceScope scope, std::string_view unit) {
  return fmt::format("service:{}:{}", scope == ServiceScope::kUser ? "user" : "system", unit);
}

Result<std::unique_ptr<Knob>> MakeService(ServiceScope scope, const std::string& unit,
                                          std::chrono::nanoseconds rest) {
  if (!IsUnitName(unit)) {
    return Fail(ErrorCode::kUsage, "is no name of a systemd unit", unit,
                "it ends in .service, and has only letters, digits and :-_.\\@");
  }
  return std::make_unique<Service>(scope, unit, rest);
}

}  // namespace culprit::host
