#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "experiment/spec.h"
#include "gpu/processes.h"
#include "gpu/vendor.h"

namespace culprit::lab {

// MachineFacts is what of this machine decides whether an experiment can run on it, and how well.
// What the machine does not tell is absent.
struct MachineFacts {
  // Ours: the state folder, the journal in it, the lock, the ports.
  struct Journaling {
    base::Result<std::string> state_folder;
    bool writable = false;    // or can be made
    base::Status lock;        // fails with who holds it
    base::Status unfinished;  // fails with the journal of a run that was broken off
  } journaling;
  struct Ports {
    int wanted = 0;
    base::Result<std::uint16_t> free = 0;
  } ports;

  struct Device {
    std::string name;
    gpu::Vendor vendor = gpu::Vendor::kCpu;
    std::optional<base::Fraction> busy;
    std::optional<std::vector<gpu::Process>> others;  // who has it open
  };
  std::vector<Device> devices;
  std::vector<base::Error> device_problems;
  // Device files that a server has to open, and whether this user may.
  struct DeviceFile {
    std::string path;
    bool usable = false;
  };
  std::vector<DeviceFile> device_files;

  struct Processors {
    int online = 0;
    std::optional<double> allowed;  // by affinity and control groups
    std::optional<double> load;     // average of the last minute
    std::optional<std::string> governor;
    std::optional<std::string> huge_pages;  // "always", "madvise", "never"
  } processors;
  struct Memory {
    std::optional<std::uint64_t> total, allowed;  // bytes; allowed by control groups
  } memory;
  struct Disk {
    std::string folder;   // the run directory's, or the nearest above it that is there
    base::Status usable;  // fails when no run directory can be made there
    std::optional<std::uint64_t> free, needed;  // bytes
  } disk;
  struct CoreDumps {
    std::uint64_t limit = 0;  // bytes
    std::string pattern;      // /proc/sys/kernel/core_pattern
  } core_dumps;

  // A setting that the experiment wants to change: fails with what keeps it from that.
  struct Setting {
    std::string what;
    base::Result<std::string> present;
    base::Status can_return;
    bool optional = false;
  };
  std::vector<Setting> settings;
  struct Health {
    std::string url;
    bool answers = false;
  };
  std::vector<Health> health;

  struct Variant {
    std::string label;
    base::Status folder, binary, model;
    base::Status collector;  // fails with why the one that the experiment names cannot trace it
    bool has_model = true;   // a file, or one to fetch
    std::optional<std::uint64_t> model_bytes;
  };
  std::vector<Variant> variants;
};

// Inspection says what to look at. root stands in front of /proc, /sys and /dev; a test gives a
// folder. pause lets time pass between two readings of a device that only counts.
struct Inspection {
  std::string root = "";
  std::string nvml = "libnvidia-ml.so.1";
  std::string run_folder = "";  // of a run directory that may not be there yet; "" is any
  std::function<void()> pause = {};
};

// InspectMachine looks at this machine for an experiment; variants may be absent. It takes the
// machine's lock for a moment, and changes nothing.
MachineFacts InspectMachine(const experiment::Spec& spec, const Inspection& inspection);

}  // namespace culprit::lab
