#include "experiment/words.h"

#include <gmock/gmock.h>

namespace culprit::experiment {
namespace {

using testing::ElementsAre;

TEST(SplitWords, CutsAtBlanksAndKeepsWhatIsQuoted) {
  EXPECT_THAT(SplitWords("  -ngl 99\t-a 'b c' \"d \\\" e\" f\\ g ''").value(),
              ElementsAre("-ngl", "99", "-a", "b c", "d \" e", "f g", ""));
}

TEST(SplitWords, ExpandsNothing) {
  EXPECT_THAT(SplitWords("$HOME `id` $(id) * ~ ;rm").value(),
              ElementsAre("$HOME", "`id`", "$(id)", "*", "~", ";rm"));
}

TEST(SplitWords, RefusesAnOpenQuote) {
  EXPECT_EQ(SplitWords("-a 'b").error().Text(), "-a 'b: a quote is not closed");
}

TEST(JoinWords, IsReadBackAsTheSameWords) {
  const std::vector<std::string> words{"-a", "", "b c", "it's", "\"", "\\", "$x", "{1,2}", "\n"};
  EXPECT_EQ(SplitWords(JoinWords(words)).value(), words);
  EXPECT_EQ(JoinWords({"-t", "2", "a b"}), "-t 2 'a b'");
}

}  // namespace
}  // namespace culprit::experiment
