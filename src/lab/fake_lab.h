// fake_lab: a bench with a scripted device and the fake server, for tests.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "gpu/scripted_device.h"
#include "lab/runner.h"
#include "server/fake_server.h"
#include "sys/host_time.h"

namespace culprit::lab {

// kPrompt is four tokens for the fake's /completion: a first one and three words.
inline const std::string kPrompt = "aaaa bbbb cccc";

inline gpu::Reading Idle(int /*number*/) { return {.busy = base::Fraction(0)}; }

// FakeLab is a test with a spec of two variants, a and b, whose server is the fake.
class FakeLab : public server::FakeServerTest {
 protected:
  FakeLab() {
    spec_.variants = {Variant("a"), Variant("b")};
    spec_.workload = {.prompt = base::Tokens(4),
                      .output = base::Tokens(8),
                      .endpoint = experiment::Endpoint::kCompletion};
    spec_.design = {.pairs = 2, .seed = 1};
    spec_.limits.load = spec_.limits.request = std::chrono::minutes(1);
    spec_.limits.idle_readings = 1;
    spec_.limits.idle_tries = 2;
    spec_.port = first_port_;
  }

  static experiment::Variant Variant(const std::string& label) {
    return {.label = label, .binary = CULPRIT_SOURCE_DIR "/tests/fakes/llama_server"};
  }
  experiment::Variant& a() { return spec_.variants[0]; }
  experiment::Variant& b() { return spec_.variants[1]; }
  static void Set(experiment::Variant& variant, const std::string& key, const std::string& value) {
    variant.environment.push_back({key, value});
  }
  // The fault is in the first start only of a variant's servers.
  void SetFaultOnce(experiment::Variant& variant, const std::string& fault) {
    Set(variant, "FAKE_FAULT", fault);
    Set(variant, "FAKE_FAULT_ONCE", folder_.path() + "/once-" + variant.label);
  }

  // A bench on which servers_ collects what was started; no wait on it takes time.
  Bench BenchWith(gpu::Device& device) {
    return {.device = device,
            .pace = {.now = sys::BoottimeNow,
                     .sleep = [this](base::Nanos) { return !stop_.requested(); }},
            .stop = stop_,
            .before_exec =
                [this](const sys::ProcessIdentity& process) {
                  servers_.push_back(process);
                  return base::Status();
                },
            .ended = [this](const sys::ProcessIdentity& process) { ended_.push_back(process); }};
  }

  void ExpectNoServerIsLeft() const {
    EXPECT_EQ(servers_, ended_);
    for (const auto& server : servers_) {
      // A killed child of the server may still be dying, and then wait for its reaper.
      for (const pid_t pid : sys::GroupMembers(server.pid)) {
        for (int i = 0; i < 500 && sys::Identify(pid); ++i) {
          static_cast<void>(sys::StopSignal().SleepFor(std::chrono::milliseconds(20)));
        }
        EXPECT_FALSE(sys::Identify(pid));
      }
    }
    EXPECT_EQ(sys::FreePort(first_port_).value(), first_port_);
  }

  [[nodiscard]] std::vector<base::Json> Lines(const std::string& name) const {
    std::ifstream file(folder_.path() + "/" + name);
    std::vector<base::Json> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(base::ParseJson(line).value());
    }
    return lines;
  }

  experiment::Spec spec_;
  sys::StopSignal stop_;
  std::vector<sys::ProcessIdentity> servers_, ended_;
};

}  // namespace culprit::lab
