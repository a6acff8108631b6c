#include "cli/trace_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace culprit::cli {
namespace {

using testing::ElementsAre;

std::vector<CounterPass> Parsed(const std::vector<std::string>& given) {
  const auto passes = ParsePasses(given);
  return passes ? *passes : std::vector<CounterPass>{{passes.error().message}};
}

TEST(CounterPasses, AreNamesBetweenCommasOrBlanks) {
  EXPECT_THAT(Parsed({"SQ_WAVES,GRBM_GUI_ACTIVE", " L2CacheHit  TCC_HIT[0], L2CacheHit",
                      "SQ_WAVES GRBM_GUI_ACTIVE"}),
              ElementsAre(CounterPass{"SQ_WAVES", "GRBM_GUI_ACTIVE"},
                          CounterPass{"L2CacheHit", "TCC_HIT[0]"}));
  EXPECT_THAT(Parsed({}), ElementsAre());
}

TEST(CounterPasses, RefuseWhatIsNoName) {
  EXPECT_THAT(Parsed({"SQ_WAVES --kernel-trace"}),
              ElementsAre(CounterPass{"--kernel-trace is no name of a counter"}));
  EXPECT_THAT(Parsed({"A;rm"}), ElementsAre(CounterPass{"A;rm is no name of a counter"}));
  EXPECT_THAT(Parsed({", "}), ElementsAre(CounterPass{"no counter is named"}));
  EXPECT_THAT(Parsed({"A", "\x1b[2J"}),
              ElementsAre(CounterPass{"\\x1b[2J is no name of a counter"}));
}

TEST(CounterPasses, GoOnFromThoseThatARunHas) {
  EXPECT_THAT(PassesWith({}, {}), ElementsAre(CounterPass{"SQ_WAVES", "GRBM_GUI_ACTIVE"}));
  EXPECT_THAT(PassesWith({{"A"}}, {{"B"}, {"A"}}), ElementsAre(CounterPass{"A"}, CounterPass{"B"}));
  EXPECT_THAT(PassesWith({{"A"}}, {}), ElementsAre(CounterPass{"A"}));
}

}  // namespace
}  // namespace culprit::cli
