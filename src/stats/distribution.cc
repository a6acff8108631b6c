#include "stats/distribution.h"

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
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
using NoncentralStudent = boost::math::non_central_t_distribution<double, NoThrow>;

}  // namespace

double StudentQuantile(double share, double df) {
  CULPRIT_CHECK(share > 0 && share < 1 && df > 0);
  return boost::math::quantile(Student(df), share);
}

double StudentTwoSidedP(double t, double df) {
  CULPRIT_CHECK(std::isfinite(t) && df > 0);
  return std::min(1.0, 2 * boost::math::cdf(Student(df), -std::abs(t)));
}

double DetectableShift(double power, double critical_t, double df) {
  CULPRIT_CHECK(power > 0 && power < 1 && critical_t > 0 && df > 0);
  // With a shift of critical_t the power is about a half; the spread of t is about 1 + t /
  // sqrt(df).
  double low = 0;
  double high = critical_t + 10 * (1 + critical_t);
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    const double reached = 1 - boost::math::cdf(NoncentralStudent(df, middle), critical_t);
    (reached < power ? low : high) = middle;
  }
  return high;
}

}  // namespace culprit::stats
