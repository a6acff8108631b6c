// fake_machine: a folder that looks like /sys and /proc, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/units.h"
#include "gpu/places.h"
#include "sys/sample_files.h"

namespace culprit::gpu {

class FakeMachine {
 public:
  FakeMachine() {
    places_.sys = folder_.path() + "/sys";
    places_.proc = folder_.path() + "/proc";
    places_.nvml = folder_.path() + "/no-nvml.so";
  }
  [[nodiscard]] const Places& places() const { return places_; }
  void SetNvml(std::string library) { places_.nvml = std::move(library); }

  // Write replaces a file ("sys/class/…") and makes the folders above it.
  void Write(const std::string& path, std::string_view text) const {
    const std::filesystem::path whole = std::filesystem::path(folder_.path()) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
  }
  void Remove(const std::string& path) const {
    std::filesystem::remove_all(std::filesystem::path(folder_.path()) / path);
  }
  // Run makes /proc/PID/stat of a process.
  void Run(int pid, const std::string& command, int parent, int group, int cpu_ticks,
           int start_ticks = 1) const {
    Write("proc/" + std::to_string(pid) + "/stat",
          std::to_string(pid) + " (" + command + ") S " + std::to_string(parent) + " " +
              std::to_string(group) + " 1 0 -1 4194304 102 0 0 0 " + std::to_string(cpu_ticks) +
              " 0 0 0 20 0 1 0 " + std::to_string(start_ticks) + " 3133440 413\n");
  }

 private:
  sys::SampleFolder folder_;
  Places places_;
};

// At is an instant on the tests' clock.
constexpr base::HostTime At(base::Nanos since_start) { return base::HostTime(since_start); }

}  // namespace culprit::gpu
