#pragma once

#include <string>

#include "analysis/window.h"
#include "base/number_format.h"
#include "base/units.h"

namespace culprit::report {

// CostUnit is how a phase's costs are told: decode in ms per token, prefill in ms per 1,000 prompt
// tokens. key ends the names of columns for machines.
class CostUnit {
 public:
  static CostUnit Of(analysis::Phase phase) {
    return phase == analysis::Phase::kDecode
               ? CostUnit(1, "ms per token", "ms_per_token")
               : CostUnit(1000, "ms per 1,000 prompt tokens", "ms_per_1000_prompt_tokens");
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string key(const std::string& prefix) const { return prefix + "_" + key_; }
  [[nodiscard]] double number(base::PerToken cost) const { return cost.millis() * scale_; }
  [[nodiscard]] std::string text(base::PerToken cost) const {
    return base::Millis(cost.value() * scale_);
  }
  [[nodiscard]] std::string signed_text(base::PerToken cost) const {
    return base::SignedMillis(cost.value() * scale_);
  }

 private:
  CostUnit(double scale, std::string name, std::string key)
      : scale_(scale), name_(std::move(name)), key_(std::move(key)) {}
  double scale_;
  std::string name_, key_;
};

}  // namespace culprit::report
