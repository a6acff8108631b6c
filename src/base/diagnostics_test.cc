#include "base/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

namespace culprit::base {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Entry = Diagnostics::Entry;

TEST(Diagnostics, AreEmptyAtFirst) {
  const Diagnostics diagnostics;
  EXPECT_THAT(diagnostics.entries(), IsEmpty());
  EXPECT_EQ(diagnostics.worst(), Severity::kInfo);
  EXPECT_FALSE(diagnostics.Has(Finding::kTornTail));
}

TEST(Diagnostics, CountFindingsAndKeepTheFirstExample) {
  Diagnostics diagnostics;
  diagnostics.Add(Finding::kMalformedRow, 1);
  diagnostics.Add(Finding::kMalformedRow, 2, "line 7");
  diagnostics.Add(Finding::kMalformedRow, 1, "line 9");
  diagnostics.Add(Finding::kHotJournal);
  EXPECT_THAT(diagnostics.entries(), ElementsAre(Entry{Finding::kHotJournal, 1, ""},
                                                 Entry{Finding::kMalformedRow, 4, "line 7"}));
  EXPECT_EQ(diagnostics.count(Finding::kMalformedRow), 4);
}

TEST(Diagnostics, IgnoreCountsThatAreNotPositive) {
  Diagnostics diagnostics;
  diagnostics.Add(Finding::kMalformedRow, 0, "nothing");
  diagnostics.Add(Finding::kMalformedRow, -3, "less");
  EXPECT_THAT(diagnostics.entries(), IsEmpty());
}

TEST(Diagnostics, StopCountingAtTheLargestInteger) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Diagnostics diagnostics;
  for (int i = 0; i < 2; ++i) diagnostics.Add(Finding::kMissingDispatchIds, kMax - 1);
  EXPECT_EQ(diagnostics.count(Finding::kMissingDispatchIds), kMax);
}

TEST(Diagnostics, MergeAddsCountsAndKeepsTheFirstExample) {
  Diagnostics first, second;
  first.Add(Finding::kMalformedRow, 1, "line 7");
  second.Add(Finding::kMalformedRow, 2, "line 1");
  second.Add(Finding::kTornTail, 1, "byte 99");
  first.Merge(second);
  EXPECT_THAT(first.entries(), ElementsAre(Entry{Finding::kTornTail, 1, "byte 99"},
                                           Entry{Finding::kMalformedRow, 3, "line 7"}));
}

TEST(Diagnostics, AreAsBadAsTheirWorstFinding) {
  Diagnostics diagnostics;
  diagnostics.Add(Finding::kOutOfOrder);
  EXPECT_EQ(diagnostics.worst(), Severity::kInfo);
  diagnostics.Add(Finding::kMixedDevices);
  EXPECT_EQ(diagnostics.worst(), Severity::kNotice);
  diagnostics.Add(Finding::kEmptyWindow);
  diagnostics.Add(Finding::kTornTail);
  EXPECT_EQ(diagnostics.worst(), Severity::kError);
}

TEST(Findings, HaveEachAnIdOfTheirOwnAndASentence) {
  std::set<std::string_view> ids;
  for (int i = 0; i < static_cast<int>(Finding::kCount); ++i) {
    const FindingInfo& info = Describe(static_cast<Finding>(i));
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_TRUE(std::all_of(info.id.begin(), info.id.end(), [](char c) {
      return std::islower(c) || c == '_';
    })) << info.id;
    EXPECT_FALSE(info.what.empty() || info.what.ends_with('.')) << info.id;
    EXPECT_FALSE(info.advice.ends_with('.')) << info.id;
    EXPECT_FALSE(info.severity == Severity::kError && info.what.empty()) << info.id;
  }
}

}  // namespace
}  // namespace culprit::base
