#include "server/arguments.h"

#include <gmock/gmock.h>

namespace culprit::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitArguments, SplitsAtBlanks) {
  EXPECT_THAT(SplitArguments(" -c  4096\t-np\n1 ").value(), ElementsAre("-c", "4096", "-np", "1"));
  EXPECT_THAT(SplitArguments("").value(), IsEmpty());
  EXPECT_THAT(SplitArguments("  ").value(), IsEmpty());
}

TEST(SplitArguments, KeepsWhatIsQuotedTogether) {
  EXPECT_THAT(SplitArguments(R"(--alias 'my model' --x="a 'b' \"c\" \d" '' e\ f'g')").value(),
              ElementsAre("--alias", "my model", R"(--x=a 'b' "c" \d)", "", "e fg"));
  EXPECT_THAT(SplitArguments(R"('a\b' "\\")").value(), ElementsAre(R"(a\b)", R"(\)"));
}

TEST(SplitArguments, ExpandsNothing) {
  EXPECT_THAT(SplitArguments("$HOME ~ * `ls` $(ls); | & > x #y {1,2}").value(),
              ElementsAre("$HOME", "~", "*", "`ls`", "$(ls);", "|", "&", ">", "x", "#y", "{1,2}"));
}

TEST(SplitArguments, RefusesWhatIsNotEnded) {
  EXPECT_EQ(SplitArguments("a 'b").error().Text(), "a ' is not closed");
  EXPECT_EQ(SplitArguments("\"").error().Text(), "a \" is not closed");
  EXPECT_EQ(SplitArguments("a\\").error().Text(), "a backslash ends the arguments");
}

}  // namespace
}  // namespace culprit::server
