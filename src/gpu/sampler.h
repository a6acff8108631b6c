#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/units.h"
#include "gpu/processes.h"
#include "gpu/vendor.h"

namespace culprit::gpu {

// Sample is a reading and how many CPU cores the server used since the sample before; absent in
// the first, and when no server was named or it has ended.
struct Sample {
  Reading device;
  std::optional<Cores> server;
  bool operator==(const Sample&) const = default;
};

// SamplerOptions: `most` bounds the memory. 36,000 samples are two hours; later ones are not kept,
// but for the last.
struct SamplerOptions {
  base::Nanos interval = std::chrono::milliseconds(200);
  std::size_t most = 36'000;
  std::optional<pid_t> server_group;  // process group whose CPU time is counted
  std::string proc = "/proc";
};

// Sampler reads a device again and again, on a thread of its own, from its construction until Stop.
//
// now gives the times of the samples and is called from that thread: pass the clock that takes the
// times of the request (CLOCK_BOOTTIME or CLOCK_MONOTONIC), so that the samples can be split at
// its first token. Device and clock must outlive the sampler, and nobody else may read the device
// meanwhile. Where a machine gives no thread there are two samples, the first and the last.
class Sampler {
 public:
  Sampler(Device& device, std::function<base::HostTime()> now, SamplerOptions options = {});
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  // Stop takes a last sample and returns all of them, in order of time; the second call returns
  // none. It waits for a reading that is under way.
  std::vector<Sample> Stop();

 private:
  void Run();
  void TakeSample();

  Device& device_;
  std::function<base::HostTime()> now_;
  SamplerOptions options_;
  std::optional<GroupCpu> server_;
  std::optional<base::Nanos> server_before_;
  std::optional<base::HostTime> time_before_;
  std::vector<Sample> samples_;  // the thread's alone while it runs

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace culprit::gpu
