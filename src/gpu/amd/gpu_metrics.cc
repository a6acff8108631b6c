#include "gpu/amd/gpu_metrics.h"

#include <cstring>
#include <utility>

namespace culprit::gpu {
namespace {

// Bits of indep_throttle_status (SMU_THROTTLER_*_BIT of amdgpu_smu.h).
constexpr std::pair<int, std::string_view> kStatusBits[] = {
    {0, "power_limit_0"},
    {1, "power_limit_1"},
    {2, "power_limit_2"},
    {3, "power_limit_3"},
    {4, "sustained_power"},
    {5, "fast_power"},
    {6, "slow_power"},
    {7, "slow_power_apu"},
    {16, "current_gfx"},
    {17, "current_soc"},
    {18, "current_memory"},
    {19, "current_vdd"},
    {20, "current_cvip"},
    {21, "peak_current_cpu"},
    {22, "peak_current_gfx"},
    {23, "apcc"},
    {32, "thermal_gpu"},
    {33, "thermal_core"},
    {34, "thermal_memory"},
    {35, "thermal_edge"},
    {36, "thermal_hotspot"},
    {37, "thermal_soc"},
    {38, "thermal_vr_gfx"},
    {39, "thermal_vr_soc"},
    {40, "thermal_vr_memory"},
    {41, "thermal_vr_memory_1"},
    {42, "thermal_liquid_0"},
    {43, "thermal_liquid_1"},
    {44, "vr_hot_0"},
    {45, "vr_hot_1"},
    {46, "prochot_cpu"},
    {47, "prochot_gfx"},
    {56, "ppm"},
    {57, "fit"},
};

// The order of throttle_residency_* in version 3.0.
constexpr std::string_view kCounterNames[] = {"prochot",    "sustained_power", "fast_power",
                                              "slow_power", "thermal_core",    "thermal_gfx",
                                              "thermal_soc"};

// At reads a number of this machine's byte order, as the driver of this machine wrote it. Callers
// have checked the size.
template <typename T>
T At(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<std::string> StatusNames(std::uint64_t status) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kStatusBits) {
    if ((status >> bit & 1) != 0) names.emplace_back(name);
  }
  return names;
}

// Layout is where a range of versions keeps its throttling.
struct Layout {
  int format, first_content, last_content;
  std::size_t offset;  // of the throttle status or the first counter
  std::size_t end;     // the file is at least as long
};
constexpr Layout kVersion1{1, 3, 3, 112, 120};
constexpr Layout kVersion2{2, 2, 4, 120, 128};
constexpr Layout kVersion3{3, 0, 0, 228, 264};

bool Is(const Layout& layout, std::string_view metrics) {
  if (metrics.size() < layout.end || At<std::uint16_t>(metrics, 0) != metrics.size()) return false;
  const int format = At<std::uint8_t>(metrics, 2);
  const int content = At<std::uint8_t>(metrics, 3);
  return format == layout.format && content >= layout.first_content &&
         content <= layout.last_content;
}

}  // namespace

std::optional<std::vector<std::string>> AmdThrottle::Reasons(std::string_view metrics) {
  for (const Layout& layout : {kVersion1, kVersion2}) {
    if (!Is(layout, metrics)) continue;
    const auto status = At<std::uint64_t>(metrics, layout.offset);
    // All ones is the driver's "this chip does not say".
    if (status == ~std::uint64_t{0}) return std::nullopt;
    return StatusNames(status);
  }
  if (!Is(kVersion3, metrics)) return std::nullopt;
  return Grown(At<Counters>(metrics, kVersion3.offset));
}

std::optional<std::vector<std::string>> AmdThrottle::Grown(const Counters& counters) {
  const auto before = std::exchange(before_, counters);
  if (!before) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (counters[i] != (*before)[i]) names.emplace_back(kCounterNames[i]);
  }
  return names;
}

}  // namespace culprit::gpu
