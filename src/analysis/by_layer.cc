#include "analysis/by_layer.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/check.h"

namespace culprit::analysis {

std::string_view Name(By by) { return by == By::kLayer ? "layer" : "category"; }

Classification ByLayer(const trace::Trace& trace, const Window& window,
                       const Classification& classes) {
  CULPRIT_CHECK(trace.layer.size() == trace.size());
  Classification split;
  split.names = classes.names;
  split.of.reserve(classes.of.size());
  std::map<std::pair<std::size_t, trace::Layer>, ClassId> known;
  for (std::size_t i = window.first; i < window.last; ++i) {
    const ClassId whole = classes.of[i - window.first];
    const trace::Layer layer = trace.layer[i];
    const auto [it, fresh] =
        known.try_emplace({whole.index(), layer}, ClassId(split.classes.size()));
    if (fresh) {
      Class part = classes.classes[whole.index()];
      part.category = layer ? fmt::format("layer {}", *layer) : std::string(kOutsideLayers);
      split.classes.push_back(std::move(part));
    }
    split.of.push_back(it->second);
  }
  return split;
}

}  // namespace culprit::analysis
