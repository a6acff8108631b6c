#include "trace/rocpd/kernel_name.h"

#include <gtest/gtest.h>

namespace culprit::trace::rocpd {
namespace {

TEST(KernelName, PrefersTheDemangledNameOfExtdata) {
  EXPECT_EQ(
      KernelName(R"({"demangled_kernel_name":"void f<1>(int) [clone .kd]"})", "_Z1gv.kd", "f"),
      "void f<1>(int) [clone .kd]");
}

TEST(KernelName, DemanglesWhatTheProfilerLeftMangled) {
  EXPECT_EQ(KernelName("{}", "_Z5scalePff.kd", "scale"), "scale(float*, float)");
  EXPECT_EQ(KernelName(R"({"demangled_kernel_name":"_Z5scalePff.kd"})", "_Z5scalePff.kd", "x"),
            "scale(float*, float)");
}

TEST(KernelName, TakesPlainNamesAndWhatIsLeft) {
  EXPECT_EQ(KernelName("", "triton_poi_fused.kd", "triton"), "triton_poi_fused.kd");
  EXPECT_EQ(KernelName("", "_Zbad.kd", "bad<int>()"), "bad<int>()");
  EXPECT_EQ(KernelName("", "_Zbad.kd", ""), "_Zbad.kd");
  EXPECT_EQ(KernelName("", "", ""), "");
}

TEST(KernelName, IgnoresExtdataThatIsNoObject) {
  for (const char* extdata : {"", "[\"demangled_kernel_name\"]",
                              "{\"demangled_kernel_name\":", "{\"demangled_kernel_name\":5}"})
    EXPECT_EQ(KernelName(extdata, "_Z1fv", ""), "f()") << extdata;
}

}  // namespace
}  // namespace culprit::trace::rocpd
