#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::gpu {

// AmdThrottle reads what a stream of amdgpu's `gpu_metrics` files says about throttling.
//
// Versions read: 1.3 and 2.2 to 2.4 (a status of this moment), 3.0 (counters that grow while a
// limit is engaged; Strix Halo). Every other version is absent: its status means something else
// on each chip. Source: kgd_pp_interface.h and amdgpu_smu.h of Linux 6.2 to 6.9; a file of 3.0
// begins with 08 01 03 00: 264 bytes, format 3, content 0.
class AmdThrottle {
 public:
  // Reasons returns their names, empty for none; absent for a file that is not understood, and in
  // version 3.0 for the first one.
  std::optional<std::vector<std::string>> Reasons(std::string_view metrics);

 private:
  static constexpr std::size_t kCounters = 7;
  using Counters = std::array<std::uint32_t, kCounters>;
  std::optional<std::vector<std::string>> Grown(const Counters& counters);

  std::optional<Counters> before_;
};

}  // namespace culprit::gpu
