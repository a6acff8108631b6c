#include "gpu/idle.h"

#include <gtest/gtest.h>

#include "gpu/fake_machine.h"
#include "gpu/scripted_device.h"

namespace culprit::gpu {
namespace {

using std::chrono::seconds;

// FakePace is a clock that moves only while somebody waits for it.
class FakePace {
 public:
  [[nodiscard]] Pace pace() {
    return {[this] { return now_; },
            [this](base::Nanos time) {
              if (--sleeps_left_ < 0) return false;
              now_ += time;
              return true;
            }};
  }
  void InterruptAfter(int sleeps) { sleeps_left_ = sleeps; }

 private:
  base::HostTime now_ = At(seconds(1000));
  int sleeps_left_ = 1'000'000;
};

Reading Shows(double busy, double temperature = 40) {
  return {.busy = base::Fraction(busy), .temperature = Celsius(temperature)};
}

class IdleGate : public testing::Test {
 protected:
  IdleResult Wait(std::function<Reading(int)> script, std::optional<Celsius> first_gate = {},
                  std::optional<std::vector<pid_t>> processes = {}) {
    ScriptedDevice device(std::move(script), std::move(processes));
    return WaitUntilIdle(device, rule_, first_gate, pace_.pace(), machine_.places().proc);
  }
  IdleRule rule_ = RuleFor(Vendor::kAmd);
  FakePace pace_;
  const FakeMachine machine_;
};

TEST_F(IdleGate, TenIdleReadingsASecondApartOpenIt) {
  const IdleResult result = Wait([](int) { return Shows(0); });
  EXPECT_TRUE(result.ready());
  EXPECT_EQ(result.readings, 10);
  EXPECT_EQ(result.waited, seconds(9));
  EXPECT_EQ(result.temperature_at_start, Celsius(40));
  EXPECT_EQ(result.busy, std::nullopt);
  EXPECT_EQ(Explain(result), "");
}

TEST_F(IdleGate, ABusyReadingStartsTheCountAgain) {
  const IdleResult result = Wait([](int i) { return Shows(i == 6 ? 0.01 : 0); });
  EXPECT_TRUE(result.ready());
  EXPECT_EQ(result.readings, 17);
  EXPECT_EQ(result.busy, base::Fraction(0.01));
}

TEST_F(IdleGate, TellsOfEachBusyReading) {
  ScriptedDevice device([](int i) { return Shows(i < 2 ? 0.5 : 0); }, {});
  std::vector<int> told;
  Pace pace = pace_.pace();
  pace.busy = [&](const IdleResult& so_far) {
    told.push_back(so_far.readings);
    EXPECT_EQ(so_far.busy, base::Fraction(0.5));
  };
  EXPECT_TRUE(WaitUntilIdle(device, rule_, {}, pace, machine_.places().proc).ready());
  EXPECT_EQ(told, (std::vector{1, 2}));
}

TEST_F(IdleGate, ACpuMayBeBusyForATenth) {
  rule_ = RuleFor(Vendor::kCpu);
  // The first reading of a counter says nothing yet.
  const IdleResult result = Wait([](int i) { return i == 0 ? Reading{} : Shows(0.1); });
  EXPECT_TRUE(result.ready());
  EXPECT_EQ(result.readings, 11);
}

TEST_F(IdleGate, SaysWhoHoldsADeviceThatStaysBusy) {
  machine_.Run(4711, "llama-server", 1, 4711, 0);
  machine_.Run(4800, "py\x1b[31m", 1, 4800, 0);
  const IdleResult result = Wait([](int) { return Shows(1); }, {}, {{4711, 4800, 5000}});
  EXPECT_FALSE(result.idle);
  EXPECT_FALSE(result.ready());
  EXPECT_EQ(result.readings, 300);
  EXPECT_EQ(result.holders, (std::vector<Process>{{4711, "llama-server"}, {4800, "py\x1b[31m"}}));
  EXPECT_EQ(Explain(result),
            "still busy after 300 readings in 299.000 s, last seen at 100.0 %; open in 4711 "
            "(llama-server), 4800 (py\\x1b[31m)");
}

TEST_F(IdleGate, WaitsUntilTheDeviceHasCooledDown) {
  const IdleResult result = Wait([](int i) { return Shows(0, 60 - i); }, Celsius(40));
  EXPECT_TRUE(result.ready());
  EXPECT_EQ(result.readings, 19);
  EXPECT_EQ(result.temperature_at_start, Celsius(60));
  EXPECT_EQ(result.temperature, Celsius(42));
}

TEST_F(IdleGate, ADeviceThatStaysWarmIsReported) {
  const IdleResult result = Wait([](int) { return Shows(0, 42.5); }, Celsius(40));
  EXPECT_TRUE(result.idle);
  EXPECT_TRUE(result.still_warm);
  EXPECT_FALSE(result.ready());
  EXPECT_EQ(Explain(result),
            "idle, but not cooled down after 300 readings in 299.000 s: 42.50 °C, 40 °C at first");
}

TEST_F(IdleGate, ADeviceWithoutTemperatureNeedNotCoolDown) {
  const IdleResult result =
      Wait([](int) { return Reading{.busy = base::Fraction(0)}; }, Celsius(40));
  EXPECT_TRUE(result.ready());
  EXPECT_EQ(result.readings, 10);
}

TEST_F(IdleGate, GivesUpSoonOnADeviceThatNeverSaysHowBusyItIs) {
  const IdleResult result = Wait([](int) { return Reading{}; });
  EXPECT_FALSE(result.ready());
  EXPECT_TRUE(result.busy_unknown);
  EXPECT_EQ(result.readings, 10);
  EXPECT_EQ(Explain(result), "it does not say how busy it is");
}

TEST_F(IdleGate, EndsAtOnceWhenInterrupted) {
  pace_.InterruptAfter(2);
  const IdleResult result = Wait([](int) { return Shows(0); });
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.ready());
  EXPECT_EQ(result.readings, 3);
  EXPECT_EQ(result.waited, seconds(2));
  EXPECT_EQ(Explain(result), "the wait was interrupted");
}

}  // namespace
}  // namespace culprit::gpu
