#pragma once

#include <string_view>

#include "analysis/classify.h"
#include "analysis/window.h"
#include "trace/trace.h"

namespace culprit::analysis {

// By is what time is added up by: the category of the kernel, or the layer of the model.
enum class By { kCategory, kLayer };
std::string_view Name(By by);  // "category", "layer"

inline constexpr std::string_view kOutsideLayers = "[outside layers]";

// ByLayer splits classes by the layer that their dispatches work for. The layer ("layer 7",
// "[outside layers]") takes the place of the category.
Classification ByLayer(const trace::Trace& trace, const Window& window,
                       const Classification& classes);

}  // namespace culprit::analysis
