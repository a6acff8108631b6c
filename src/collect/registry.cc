#include "collect/registry.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/check.h"
#include "base/did_you_mean.h"
#include "collect/ggml_ops/ggml_ops.h"
#include "collect/rocprofv3/rocprofv3.h"

namespace culprit::collect {
namespace {

// One line a collector, and one for its folder's header above.
struct Row {
  std::string_view name;
  std::unique_ptr<Collector> (*make)();
};

std::unique_ptr<Collector> MakeGgmlOps() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return std::make_unique<ggml_ops::GgmlOps>(program.parent_path().string());
}

constexpr std::array<Row, 2> kRows = {{
    {kRocprofv3, [] { return rocprofv3::MakeCollector(); }},
    {kGgmlOps, MakeGgmlOps},
}};

}  // namespace

std::vector<std::string_view> CollectorNames() {
  std::vector<std::string_view> names;
  names.reserve(kRows.size());
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

base::Result<std::unique_ptr<Collector>> MakeCollector(std::string_view name) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [name](const Row& each) { return each.name == name; });
  if (row != kRows.end()) return row->make();
  return base::Fail(base::ErrorCode::kUsage, "there is no collector " + std::string(name), "",
                    base::DidYouMean(name, CollectorNames()));
}

std::unique_ptr<Collector> MakeCounterCollector(std::vector<std::string> counters) {
  CULPRIT_CHECK(!counters.empty());  // none would be a trace of kernels
  return rocprofv3::MakeCollector({.counters = std::move(counters)});
}

}  // namespace culprit::collect
