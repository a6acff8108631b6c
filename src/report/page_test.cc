#include "report/page.h"

#include <gtest/gtest.h>

namespace culprit::report {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrap, BreaksAtSpacesOnly) {
  EXPECT_EQ(Wrap("one two three", 7, 0), (Lines{"one two", "three"}));
  EXPECT_EQ(Wrap("  one   two ", 7, 0), (Lines{"one two"}));
  EXPECT_EQ(Wrap("Δ Δ Δ", 3, 0), (Lines{"Δ Δ", "Δ"}));
  EXPECT_EQ(Wrap("", 7, 0), (Lines{""}));
}

TEST(Wrap, KeepsANumberWithItsUnit) {
  EXPECT_EQ(Wrap("took 5 ms (0.6 % apart)", 7, 0), (Lines{"took", "5 ms", "(0.6 %", "apart)"}));
  EXPECT_EQ(Wrap("3 more", 4, 0), (Lines{"3", "more"}));
}

TEST(Wrap, KeepsAWordToBeCopiedAndShortensAHugeOne) {
  EXPECT_EQ(Wrap("see /a/long/path here", 8, 20), (Lines{"see", "/a/long/path", "here"}));
  EXPECT_EQ(Wrap("see " + std::string(64 << 10, 'k'), 8, 20), (Lines{"see", "kkkkkkk…"}));
}

TEST(Inert, SpoilsWhatTheRunnerOfACiJobObeys) {
  EXPECT_EQ(Inert("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(Inert(" \u00a0::error::x"), " \u00a0\\x3a:error::x");
  EXPECT_EQ(Inert("a ##[error]x"), "a #\\x23[error]x");
  EXPECT_EQ(Inert("ns::f"), "ns::f");
  EXPECT_EQ(Inert(""), "");
}

TEST(Page, HangsFurtherLinesUnderTheFirst) {
  Page page({40, false});
  page.Sentence("! Warning: ", Ink::kYellow, "one two three four five six seven eight");
  EXPECT_EQ(std::move(page).text(),
            "! Warning: one two three four five six\n"
            "           seven eight\n");
}

}  // namespace
}  // namespace culprit::report
