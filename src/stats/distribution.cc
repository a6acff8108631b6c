#include "stats/distribution.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/check.h"

namespace culprit::stats {
namespace {

namespace policies = boost::math::policies;
// The arguments are checked here, so Boost need not throw.
using NoThrow = policies::policy<policies::domain_error<policies::ignore_error>,
                                 policies::overflow_error<policies::ignore_error>,
                                 policies::evaluation_error<policies::ignore_error>>;
using Student = boost::math::students_t_distribution<double, NoThrow>;

}  // namespace

double StudentQuantile(double share, double df) {
  CULPRIT_CHECK(share > 0 && share < 1 && df > 0);
  return boost::math::quantile(Student(df), share);
}

double StudentTwoSidedP(double t, double df) {
  CULPRIT_CHECK(std::isfinite(t) && df > 0);
  return std::min(1.0, 2 * boost::math::cdf(Student(df), -std::abs(t)));
}

}  // namespace culprit::stats
