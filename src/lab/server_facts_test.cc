#include "lab/server_facts.h"

#include <gtest/gtest.h>

namespace culprit::lab {
namespace {

using base::ErrorCode;

TEST(HasLine, LooksAtOneLineAtATime) {
  const std::string log = "model loaded\nusing CUDA0\n\nno line end";
  EXPECT_EQ(HasLine(log, "loaded$", {}), true);
  EXPECT_EQ(HasLine(log, "^no line end$", {}), true);
  EXPECT_EQ(HasLine(log, "loaded\\susing", {}), false);
  EXPECT_EQ(HasLine("", "x", {}), false);
}

TEST(HasLine, StopsWhenTheUserWantsTo) {
  const sys::StopSignal stop;
  stop.Request();
  const auto found = HasLine("a\nb\n", "b", stop);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace culprit::lab
