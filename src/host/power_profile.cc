#include "host/power_profile.h"

#include <algorithm>

#include "host/command.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Fail;

// balanced, power-saver, performance, and what later versions may add.
bool IsProfileName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] != '-' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}

class PowerProfile : public Knob {
 public:
  [[nodiscard]] std::string Description() const override { return "power profile"; }

  [[nodiscard]] base::Status Accepts(const std::string& value) const override {
    if (IsProfileName(value)) return {};
    return Fail(ErrorCode::kUsage, "is no power profile", value,
                "powerprofilesctl list names this machine's");
  }

  [[nodiscard]] base::Result<std::string> Read() const override {
    auto name = ReadByCommand({"powerprofilesctl", "get"});
    if (!name) return name;
    while (name->ends_with('\n')) name->pop_back();
    if (!IsProfileName(*name)) {
      return Fail(ErrorCode::kEnvironment, "names no profile", "powerprofilesctl get");
    }
    return name;
  }

  [[nodiscard]] base::Status CanReturn(const std::string& present,
                                       const Announce& announce) const override {
    if (IsRoot()) return {};
    return Set(present, Privilege::kSudoWithoutMemory, announce);
  }

  [[nodiscard]] base::Status Write(const std::string& value,
                                   const Announce& announce) const override {
    return Set(value, Privilege::kSudo, announce);
  }

 private:
  [[nodiscard]] base::Status Set(const std::string& value, Privilege privilege,
                                 const Announce& announce) const {
    if (auto fits = Accepts(value); !fits) return fits;
    return ChangeByCommand({"powerprofilesctl", "set", value}, privilege, announce);
  }
};

}  // namespace

std::unique_ptr<Knob> MakePowerProfile() { return std::make_unique<PowerProfile>(); }

}  // namespace culprit::host
