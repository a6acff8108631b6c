#include "store/noise_floors.h"

#include <gtest/gtest.h>

#include "sys/atomic_file.h"
#include "sys/sample_files.h"

namespace culprit::store {
namespace {

TEST(AaSessions, PassOverWhatNoNoiseMakes) {
  const sys::SampleFolder folder;
  for (const char* decode : {"0.01", "-1", "1e300", "-1e300", "null", "\"x\"", "true", "1.1"}) {
    ASSERT_TRUE(sys::AppendToFile(folder.path() + "/aa-sessions.jsonl",
                                  std::string(R"({"setting": "m", "decode": )") + decode + "}\n"));
  }
  for (const char* width : {"0.02", "-1", "1e300", "\"x\""}) {
    ASSERT_TRUE(sys::AppendToFile(
        folder.path() + "/aa-sessions.jsonl",
        std::string(R"({"setting": "m", "prefill": 0.5, "prefill_half_width": )") + width + "}\n"));
  }
  std::vector<double> decode, prefill;
  for (const AaSession& session : ReadAaSessions(folder.path(), "m")) {
    if (session.decode) decode.push_back(session.decode->log_ratio);
    if (session.prefill) prefill.push_back(session.prefill->half_width.value());
  }
  EXPECT_EQ(decode, (std::vector<double>{0.01, -1}));
  EXPECT_EQ(prefill, std::vector<double>{0.02});
}

}  // namespace
}  // namespace culprit::store
