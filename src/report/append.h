#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace culprit::report {

// Append moves a list behind another.
template <typename T>
void Append(std::vector<T> from, std::vector<T>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace culprit::report
