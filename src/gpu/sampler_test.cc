#include "gpu/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <future>
#include <thread>

#include "gpu/fake_machine.h"
#include "gpu/scripted_device.h"

namespace culprit::gpu {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// SteppingClock moves by a second each time it is asked.
class SteppingClock {
 public:
  std::function<base::HostTime()> now() {
    return [this] { return At(seconds(++asked_)); };
  }

 private:
  std::atomic<int> asked_ = 0;
};

TEST(SamplerThread, ReadsUntilItIsStopped) {
  std::promise<void> third;
  ScriptedDevice device([&](int i) {
    if (i == 2) third.set_value();
    return Reading{.busy = base::Fraction(i)};
  });
  SteppingClock clock;
  Sampler sampler(device, clock.now(), {.interval = nanoseconds(1)});
  third.get_future().wait();
  const std::vector<Sample> samples = sampler.Stop();
  ASSERT_GE(samples.size(), 4U) << "the last one is taken when it is stopped";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto number = static_cast<int>(i);
    EXPECT_EQ(samples[i],
              (Sample{{.time = At(seconds(number + 1)), .busy = base::Fraction(number)}}));
  }
  EXPECT_EQ(sampler.Stop(), std::vector<Sample>());
}

TEST(SamplerThread, StopDoesNotWaitForTheInterval) {
  ScriptedDevice device([](int) { return Reading{}; });
  SteppingClock clock;
  Sampler sampler(device, clock.now(), {.interval = hours(1)});
  EXPECT_EQ(sampler.Stop().size(), 2U);
}

TEST(SamplerThread, KeepsNoMoreThanItMay) {
  std::atomic<int> asked = 0;
  ScriptedDevice device([](int) { return Reading{}; });
  Sampler sampler(device, [&] { return At(seconds(++asked)); },
                  {.interval = nanoseconds(1), .most = 3});
  while (asked < 2) std::this_thread::yield();
  const std::vector<Sample> samples = sampler.Stop();
  EXPECT_EQ(samples.size(), 3U);
}

TEST(SamplerThread, CountsTheCoresOfTheServer) {
  const FakeMachine machine;
  const auto ticks = static_cast<int>(::sysconf(_SC_CLK_TCK));
  machine.Run(10, "llama-server", 1, 10, 700);
  ScriptedDevice device([](int) { return Reading{}; });
  SteppingClock clock;
  Sampler sampler(device, clock.now(),
                  {.interval = hours(1), .server_group = 10, .proc = machine.places().proc});
  machine.Run(10, "llama-server", 1, 10, 700 + ticks * 5 / 2);
  EXPECT_EQ(sampler.Stop(), (std::vector<Sample>{{{.time = At(seconds(1))}, std::nullopt},
                                                 {{.time = At(seconds(2))}, Cores(2.5)}}));
}

TEST(SamplerThread, OfThisMachineSeesThisProcessWork) {
  ScriptedDevice device([](int) { return Reading{}; });
  const auto now = [] {
    return base::HostTime(std::chrono::steady_clock::now().time_since_epoch());
  };
  Sampler sampler(device, now, {.interval = hours(1), .server_group = ::getpgrp()});
  const auto cpu_time = [] { return std::clock() / (CLOCKS_PER_SEC / 100); };
  for (const auto start = cpu_time(); cpu_time() < start + 5;) {
  }
  const std::vector<Sample> samples = sampler.Stop();
  ASSERT_EQ(samples.size(), 2U);
  ASSERT_TRUE(samples[1].server);
  EXPECT_GT(*samples[1].server, Cores(0));
}

}  // namespace
}  // namespace culprit::gpu
