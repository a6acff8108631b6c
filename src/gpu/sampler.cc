#include "gpu/sampler.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace culprit::gpu {

Sampler::Sampler(Device& device, std::function<base::HostTime()> now, SamplerOptions options)
    : device_(device), now_(std::move(now)), options_(std::move(options)) {
  if (options_.server_group) server_.emplace(options_.proc, *options_.server_group);
  TakeSample();
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // The first and the last sample are taken without it.
  }
}

Sampler::~Sampler() {
  if (thread_.joinable()) Stop();
}

std::vector<Sample> Sampler::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stop_, true)) return {};
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  TakeSample();
  return std::move(samples_);
}

void Sampler::Run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point next = Clock::now();
  for (;;) {
    // A reading that took longer than the interval is followed by the next one at once.
    next = std::max(next + options_.interval, Clock::now());
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_until(lock, next, [this] { return stop_; })) return;
    }
    if (samples_.size() + 1 < options_.most) TakeSample();
  }
}

void Sampler::TakeSample() {
  const base::HostTime now = now_();
  Sample sample{device_.Read(now), std::nullopt};
  if (server_) {
    const auto used = server_->Used();
    const auto before = std::exchange(server_before_, used);
    const auto time_before = std::exchange(time_before_, now);
    if (used && before && now > *time_before) {
      sample.server = Cores(base::NanosF(*used - *before) / base::NanosF(now - *time_before));
    }
  }
  samples_.push_back(std::move(sample));
}

}  // namespace culprit::gpu
