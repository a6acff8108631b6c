#pragma once

namespace culprit::stats {

// StudentQuantile is the value below which a share of Student's t distribution lies:
// StudentQuantile(0.975, 7) is 2.365. share lies in (0, 1), df is positive and need not be whole.
double StudentQuantile(double share, double df);

// StudentTwoSidedP is the chance of a |t| at least this large when there is no effect; 1 at t = 0.
double StudentTwoSidedP(double t, double df);

// DetectableShift is how many standard errors a true effect must measure so that its t passes
// critical_t with the chance power. power lies in (0, 1), critical_t and df are positive.
double DetectableShift(double power, double critical_t, double df);

}  // namespace culprit::stats
