#include "gpu/attribute.h"

#include <gtest/gtest.h>

#include "gpu/fake_machine.h"
#include "gpu/units.h"

namespace culprit::gpu {
namespace {

TEST(Attribute, IsTheFirstLineWithoutBlanks) {
  const FakeMachine machine;
  const std::string path = machine.places().sys + "/value";
  const std::pair<std::string, std::optional<std::string>> cases[] = {{"37\n", "37"},
                                                                      {"  a b \t\nsecond\n", "a b"},
                                                                      {"x", "x"},
                                                                      {"", std::nullopt},
                                                                      {" \n37\n", std::nullopt}};
  for (const auto& [text, value] : cases) {
    machine.Write("sys/value", text);
    EXPECT_EQ(ReadAttribute(path), value) << text;
  }
  machine.Remove("sys/value");
  EXPECT_EQ(ReadAttribute(path), std::nullopt);
}

TEST(Attribute, IsANumberOnlyWhenAllOfItIs) {
  const FakeMachine machine;
  const std::pair<std::string, std::optional<std::int64_t>> cases[] = {
      {"37\n", 37}, {"-5", -5}, {"0", 0}, {"37 %", {}}, {"0x25", {}}, {"99999999999999999999", {}}};
  for (const auto& [text, value] : cases) {
    machine.Write("sys/value", text);
    EXPECT_EQ(ReadNumber(machine.places().sys + "/value"), value) << text;
  }
  machine.Write("sys/value", "35250000\n");
  EXPECT_EQ(ReadScaled<Watts>(machine.places().sys + "/value", 1e-6), Watts(35.25));
}

TEST(NumberedEntries, AreInOrderOfTheirNumbers) {
  const FakeMachine machine;
  for (const char* name : {"card10", "card2", "card2-DP-1", "card", "renderD128", "card-1"}) {
    machine.Write(std::string("sys/drm/") + name, "");
  }
  const std::string folder = machine.places().sys + "/drm";
  EXPECT_EQ(NumberedEntries(folder, "card"),
            (std::vector<std::string>{folder + "/card2", folder + "/card10"}));
  EXPECT_EQ(NumberedEntries(folder + "/none", "card"), std::vector<std::string>());
}

}  // namespace
}  // namespace culprit::gpu
