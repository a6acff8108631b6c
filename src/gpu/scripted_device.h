// scripted_device: a device that says what a test wrote down.
#pragma once

#include <functional>
#include <utility>

#include "gpu/vendor.h"

namespace culprit::gpu {

class ScriptedDevice final : public Device {
 public:
  // script is given the number of the reading, from 0.
  explicit ScriptedDevice(std::function<Reading(int)> script,
                          std::optional<std::vector<pid_t>> processes = std::nullopt)
      : Device({Vendor::kAmd, "scripted", "0", {}}),
        script_(std::move(script)),
        processes_(std::move(processes)) {}
  Reading Read(base::HostTime now) override {
    Reading reading = script_(readings_++);
    reading.time = now;
    return reading;
  }
  std::optional<std::vector<pid_t>> Processes() override { return processes_; }

 private:
  std::function<Reading(int)> script_;
  std::optional<std::vector<pid_t>> processes_;
  int readings_ = 0;
};

}  // namespace culprit::gpu
