#include "trace/demangle.h"

#include <gtest/gtest.h>

namespace culprit::trace {
namespace {

TEST(Demangle, NamesTheFunction) {
  EXPECT_EQ(Demangled("_Z3addPf"), "add(float*)");
  EXPECT_EQ(Demangled("_Z3addPf.kd"), "add(float*)");
}

TEST(Demangle, LeavesOtherTextAlone) {
  EXPECT_EQ(Demangled("Cijk_Alik_Bljk_BBS_BH"), "Cijk_Alik_Bljk_BBS_BH");
  EXPECT_EQ(Demangled("_Z"), "_Z");
  EXPECT_EQ(Demangled("_Znope"), "_Znope");
  EXPECT_EQ(Demangled("__amd_rocclr_copyBuffer.kd"), "__amd_rocclr_copyBuffer.kd");
  EXPECT_EQ(Demangled(""), "");
}

TEST(Demangle, DoesNotBlowUpOnReferencesThatDouble) {
  std::string bomb = "_Z1fSt4pairIiiE";
  for (int i = 1; i < 9; ++i) bomb += "S_IS0_S0_E";
  EXPECT_LE(Demangled(bomb).size(), 64u * 1024);
  for (int i = 1; i < 30; ++i) bomb += "S_IS" + std::to_string(i % 10) + "_S0_E";
  EXPECT_EQ(Demangled(bomb), bomb);
}

// Each step takes the type before it twice: 200 steps would print for ever.
TEST(Demangle, DoesNotTryNamesMadeToExpand) {
  std::string name = "_Z1fPFvPFvvEE";
  for (int i = 1; i < 200; ++i) name += "PFvS_S0_E";
  EXPECT_EQ(Demangled(name), name);
}

TEST(Demangle, StopsAtNoNulInTheMiddle) {
  const std::string name("_Z3addPf\0_Z3subPf", 17);
  EXPECT_EQ(Demangled(name), name);
}

}  // namespace
}  // namespace culprit::trace
