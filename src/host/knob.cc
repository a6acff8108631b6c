#include "host/knob.h"

#include "host/power_profile.h"
#include "host/services.h"

namespace culprit::host {

base::Result<std::unique_ptr<Knob>> MakeKnob(const std::string& id, std::chrono::nanoseconds rest) {
  if (id == kPowerProfileId) return MakePowerProfile();
  for (const ServiceScope scope : {ServiceScope::kSystem, ServiceScope::kUser}) {
    const std::string prefix = ServiceId(scope, "");
    if (id.starts_with(prefix)) return MakeService(scope, id.substr(prefix.size()), rest);
  }
  return base::Fail(base::ErrorCode::kUsage, "is no setting of a machine", id);
}

}  // namespace culprit::host
