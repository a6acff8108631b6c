#include "store/record_json.h"

#include <gtest/gtest.h>

namespace culprit::store {
namespace {

std::string ErrorOf(const std::string& rest) {
  const auto record = ReadRecord(
      R"({"id": 1, "pair": 0, "position": 0, "variant": "a", "baseline": true, "objections": [])" +
      rest + "}");
  return record ? "" : record.error().message;
}

TEST(RecordJson, NamesTheKeyThatMakesNoSense) {
  EXPECT_EQ(ErrorOf(""), "");
  for (const auto& [key, rest] : std::vector<std::pair<std::string, std::string>>{
           {"id", R"(, "id": 1099511627776)"},
           {"id", R"(, "id": 1.9)"},
           {"pair", R"(, "pair": true)"},
           {"variant", R"(, "variant": null)"},
           {"baseline", R"(, "baseline": "yes")"},
           {"facts", R"(, "facts": {"slots": 3})"},
           {"gate", R"(, "gate": 5)"},
           {"gate.idle", R"(, "gate": {"idle": 1})"},
           {"readings.after.values", R"(, "readings": {"after": {}})"},
           {"readings.after.values.busy_share.min",
            R"(, "readings": {"after": {"values": {"busy_share": {"mean": 1, "max": 1}}}})"},
           {"energy_j", R"(, "energy_j": "1")"},
           {"objections", R"(, "objections": null)"},
           {"objections.0.id", R"(, "objections": ["x"])"},
           {"objections.1.text",
            R"(, "objections": [{"id": "a", "text": "b"}, {"id": "a", "text": 5}])"}}) {
    EXPECT_EQ(ErrorOf(rest),
              "is no record of a trial: \"" + key + "\" is missing or makes no sense");
  }
  EXPECT_EQ(ReadRecord("[1, 2]").error().message,
            "is no record of a trial: \"id\" is missing or makes no sense");
}

}  // namespace
}  // namespace culprit::store
