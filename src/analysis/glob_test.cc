#include "analysis/glob.h"

#include <gtest/gtest.h>

namespace culprit::analysis {
namespace {

TEST(Glob, MatchesTheWholeNameOnly) {
  EXPECT_TRUE(Glob("mul_mat_q").Matches("mul_mat_q"));
  EXPECT_FALSE(Glob("mul_mat_q").Matches("mul_mat_q_stream_k_fixup"));
  EXPECT_FALSE(Glob("mul_mat_q").Matches("Mul_mat_q"));
}

TEST(Glob, LetsAStarStandForAnythingOrNothing) {
  EXPECT_TRUE(Glob("mul*_q*").Matches("mul_mat_q"));
  EXPECT_TRUE(Glob("*gemm*").Matches("ampere_h16816gemm_64x64"));
  EXPECT_TRUE(Glob("*").Matches(""));
  EXPECT_TRUE(Glob("a**b").Matches("ab"));
  EXPECT_FALSE(Glob("ab*ba").Matches("aba"));
  EXPECT_FALSE(Glob("a*b*c").Matches("acb"));
}

TEST(Glob, TriesEachAlternative) {
  const Glob glob("nccl*|*allreduce*");
  EXPECT_TRUE(glob.Matches("ncclDevKernel_Generic_1"));
  EXPECT_TRUE(glob.Matches("flambeau_p2p_allreduce_tp2"));
  EXPECT_FALSE(glob.Matches("allgather"));
}

}  // namespace
}  // namespace culprit::analysis
