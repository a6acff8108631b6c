#include "host/knob.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "host/services.h"
#include "host/session.h"
#include "sys/sample_files.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Status;
using testing::ElementsAre;
using namespace std::chrono_literals;

// A machine with the fakes of tests/fakes for commands.
class KnobTest : public testing::Test {
 protected:
  KnobTest() {
    const std::string path = ::getenv("PATH");
    ::setenv("PATH", (CULPRIT_SOURCE_DIR "/tests/fakes:" + path).c_str(), 1);
    ::setenv("FAKE_HOST", folder_.path().c_str(), 1);
    Put("system/qwen.service/state", "active");
    Put("profile", "balanced");
  }
  void Put(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  [[nodiscard]] std::string Get(const std::string& file) const {
    std::string line;
    std::ifstream in(folder_.path() + "/" + file);
    std::getline(in, line);
    return line;
  }
  [[nodiscard]] static std::unique_ptr<Knob> Make(const std::string& id) {
    auto knob = MakeKnob(id, 60s);
    EXPECT_TRUE(knob) << knob.error().Text();
    return *std::move(knob);
  }
  Announce Announcing() {
    return [this](const sys::ProcessIdentity&, std::string_view what) -> Status {
      announced_.emplace_back(what);
      return {};
    };
  }
  const sys::SampleFolder folder_;
  const std::string qwen_ = ServiceId(ServiceScope::kSystem, "qwen.service");
  std::vector<std::string> announced_;
};

TEST_F(KnobTest, StopsAndStartsAService) {
  const auto knob = Make(qwen_);
  EXPECT_EQ(knob->Description(), "service qwen.service");
  EXPECT_EQ(knob->Read(), "active");
  EXPECT_TRUE(knob->Write("inactive", Announcing()));
  EXPECT_EQ(Get("system/qwen.service/state"), "inactive");
  EXPECT_EQ(knob->Read(), "inactive");
  EXPECT_TRUE(knob->Write("active", Announcing()));
  EXPECT_EQ(knob->Read(), "active");
  EXPECT_THAT(announced_, ElementsAre("systemctl --no-ask-password --no-block stop qwen.service",
                                      "systemctl --no-ask-password --no-block start qwen.service"));
}

TEST_F(KnobTest, WaitsForAJobThatSomebodyElseBegan) {
  Put("system/qwen.service/pending", "3 inactive");
  EXPECT_EQ(Make(qwen_)->Read(), "inactive");
}

TEST_F(KnobTest, GivesUpOnAServiceThatDoesNotComeToRest) {
  Put("system/qwen.service/state", "activating");
  auto knob = MakeKnob(qwen_, 20ms);
  ASSERT_TRUE(knob);
  const auto read = (*knob)->Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(read.error().Text(), "is still activating after 0 s; see journalctl -u qwen.service");
}

TEST_F(KnobTest, TakesAFailedServiceForAStoppedOne) {
  Put("system/qwen.service/state", "failed");
  EXPECT_EQ(Make(qwen_)->Read(), "inactive");
}

TEST_F(KnobTest, SaysThatAServiceDoesNotStart) {
  Put("system/qwen.service/start_fails", "");
  Put("system/qwen.service/state", "inactive");
  const auto written = Make(qwen_)->Write("active", Announcing());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().Text(),
            "was asked to start and is failed (result: exit-code); see journalctl -u "
            "qwen.service");
}

TEST_F(KnobTest, RunsNothingThatCannotBeAnnounced) {
  const auto refuse = [](const sys::ProcessIdentity&, std::string_view) -> Status {
    return base::Fail(ErrorCode::kUnreadable, "no room");
  };
  const auto written = Make(qwen_)->Write("inactive", refuse);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().Text(), "no room");
  EXPECT_EQ(Get("system/qwen.service/state"), "active");
}

TEST_F(KnobTest, SetsThePowerProfile) {
  const auto knob = Make("power-profile");
  EXPECT_EQ(knob->Read(), "balanced");
  EXPECT_TRUE(knob->Write("performance", Announcing()));
  EXPECT_EQ(knob->Read(), "performance");
  EXPECT_FALSE(knob->Write("--help", Announcing()));
  EXPECT_THAT(announced_, ElementsAre("powerprofilesctl set performance"));
}

TEST_F(KnobTest, SaysThatThereAreNoPowerProfiles) {
  Put("no_profiles", "");
  const auto read = Make("power-profile")->Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().Text(),
            "powerprofilesctl get: Failed to communicate with power-profiles-daemon: "
            "org.freedesktop.DBus.Error.ServiceUnknown");
}

TEST_F(KnobTest, RefusesIdsThatAreNone) {
  for (const char* id :
       {"", "fan", "service:", "service:system:", "service:system:qwen", "service:system:.service",
        "service:system:-x.service", "service:system:a b.service", "service:user:a;b.service",
        "service:root:a.service"}) {
    const auto knob = MakeKnob(id, 1s);
    ASSERT_FALSE(knob) << id;
    EXPECT_EQ(knob.error().code, ErrorCode::kUsage) << id;
  }
  EXPECT_EQ(Make("service:user:getty@tty1\\x2d.service")->Description(),
            "user service getty@tty1\\x2d.service");
}

TEST(CheckChange, LooksAtNamesAndValuesAlone) {
  const auto error = [](const std::string& setting, const std::string& want) {
    const auto fits = CheckChange({setting, want});
    return fits ? "" : fits.error().Text();
  };
  EXPECT_EQ(error("service:system:none-of-this-machine.service", "inactive"), "");
  EXPECT_EQ(error("power-profile", "none-of-this-machine"), "");
  const std::string no_unit =
      ": is no name of a systemd unit; it ends in .service, and has only letters, digits and "
      ":-_.\\@";
  for (const std::string unit :
       {"--foo.service", "qwen", "../../x.service", "", ".service", "a b.service", "a\n.service"}) {
    EXPECT_EQ(error("service:system:" + unit, "inactive"),
              (unit.empty() ? no_unit.substr(2) : unit + no_unit));
    EXPECT_EQ(error("service:user:" + unit, "inactive"),
              (unit.empty() ? no_unit.substr(2) : unit + no_unit));
  }
  EXPECT_EQ(error("service:user:a.service", "active-ish"), "a service cannot be \"active-ish\"");
  EXPECT_EQ(error("power-profile", "--help"),
            "--help: is no power profile; powerprofilesctl list names this machine's");
  EXPECT_EQ(error("brightness", "7"), "brightness: is no setting of a machine");
}

}  // namespace
}  // namespace culprit::host
