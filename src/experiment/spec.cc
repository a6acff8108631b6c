#include "experiment/spec.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "experiment/server_flags.h"

namespace culprit::experiment {

using base::ErrorCode;
using base::Fail;
using base::Status;

namespace {

// What culprit sets itself would be there twice, and the last one wins.
Status CheckArguments(const Variant& variant) {
  struct Own {
    Option option;
    bool set;
    const char* hint;
  };
  const Own all[] = {
      {Option::kAddress, true, "servers listen on 127.0.0.1; --port says where"},
      {Option::kModel, variant.model.has_value(), "the model is named already"},
      {Option::kKvTypes, variant.kv.has_value(), "kv= sets the types of both caches"},
  };
  for (const Own& own : all) {
    if (!own.set || !Uses(own.option, variant.arguments)) continue;
    return Fail(ErrorCode::kUsage,
                fmt::format("culprit sets {} itself", FlagOf(own.option, variant.arguments)),
                variant.label, fmt::format("take it out of the arguments: {}", own.hint));
  }
  return {};
}

Status CheckName(const EnvironmentChange& change, const std::string& label) {
  if (!change.key.empty() && change.key.find('=') == std::string::npos) return {};
  return Fail(ErrorCode::kUsage,
              fmt::format("\"{}\" can be no name of an environment variable", change.key), label,
              "write env=NAME=VALUE, or env=-NAME to take a variable away");
}

// The system's calls take a text up to its first NUL.
Status CheckTexts(const Variant& variant) {
  std::vector<std::string_view> texts = {variant.binary};
  for (const auto* text : {&variant.model, &variant.kv, &variant.working_directory}) {
    if (*text) texts.emplace_back(**text);
  }
  for (const auto* list : {&variant.arguments, &variant.expect_log, &variant.expect_symbol}) {
    texts.insert(texts.end(), list->begin(), list->end());
  }
  for (const EnvironmentChange& change : variant.environment) {
    if (auto fits = CheckName(change, variant.label); !fits) return fits;
    texts.emplace_back(change.key);
    if (change.value) texts.emplace_back(*change.value);
  }
  for (const std::string_view text : texts) {
    if (text.find('\0') == std::string_view::npos) continue;
    return Fail(ErrorCode::kUsage,
                fmt::format("\"{}\" has a NUL in it", base::Shortened(base::Printable(text), 60)),
                variant.label, "no program can be given one");
  }
  return {};
}

Status CheckVariant(const Variant& variant) {
  if (auto fits = CheckLabel(variant.label); !fits) return fits;
  if (auto fits = CheckTexts(variant); !fits) return fits;
  return CheckArguments(variant);
}

Status CheckVariants(const Spec& spec) {
  if (spec.variants.empty()) {
    return Fail(ErrorCode::kUsage, "no variant is given", "", "add --variant label=BINARY");
  }
  if (spec.variants.size() > 1 && spec.design.same_variant) {
    return Fail(ErrorCode::kUsage, "an A/A run takes one variant", "", "leave out the others");
  }
  std::set<std::string> labels;
  for (const Variant& variant : spec.variants) {
    if (!labels.insert(variant.label).second) {
      return Fail(ErrorCode::kUsage, fmt::format("two variants are called {}", variant.label), "",
                  "give each a label of its own");
    }
  }
  return {};
}

struct Range {
  std::string_view what;
  std::int64_t value, least, most;
};

Status CheckRange(const Range& range) {
  if (range.value >= range.least && range.value <= range.most) return {};
  return Fail(ErrorCode::kUsage, fmt::format("{} is {}", range.what, range.value), "",
              fmt::format("give {} to {}", range.least, range.most));
}

Status CheckMargin(std::string_view what, base::Fraction margin) {
  if (margin.value() > 0 && margin.value() < 0.5) return {};
  return Fail(ErrorCode::kUsage, fmt::format("the {} margin is {}", what, margin.value()), "",
              "give a share above 0 and below 0.5: 0.01 is 1 %");
}

Status CheckGate(const GateWish& gate) {
  std::vector<Range> ranges = {{"the number of positions to compare",
                                Count(gate.positions.value_or(base::Tokens(1))), 1, 100'000}};
  for (const base::Tokens prompt : gate.prompts) {
    ranges.push_back({"the length of a prompt to compare behind", Count(prompt), 1, 10'000'000});
  }
  for (const std::int64_t ubatch : gate.ubatches) {
    ranges.push_back({"a size of ubatches", ubatch, 1, 1'000'000});
  }
  for (const Range& range : ranges) {
    if (auto fit = CheckRange(range); !fit) return fit;
  }
  return {};
}

}  // namespace

Status CheckSpec(const Spec& spec) {
  if (auto fit = CheckVariants(spec); !fit) return fit;
  return CheckValues(spec);
}

Status CheckComparison(const Spec& spec) {
  if (spec.variants.size() > 1 || spec.design.same_variant) return {};
  return Fail(ErrorCode::kUsage, "one variant alone cannot be compared", "",
              "add a second --variant, or --aa to measure this machine's noise");
}

Status CheckValues(const Spec& spec) {
  for (const Variant& variant : spec.variants) {
    if (auto fit = CheckVariant(variant); !fit) return fit;
  }
  constexpr std::int64_t kDay = 86'400;
  const Range ranges[] = {
      {"the number of prompt tokens", Count(spec.workload.prompt), 1, 10'000'000},
      {"the number of output tokens", Count(spec.workload.output), 2, 1'000'000},
      {"the number of pairs", spec.design.pairs.value_or(2), 2, 1000},
      {"the port", spec.port, 1024, 65'535},
      {"the number of idle readings", spec.limits.idle_readings, 0, 1000},
      {"the number of tries for an idle machine", spec.limits.idle_tries, 1, 100'000},
      {"the time for a server to load, in seconds,", spec.limits.load.count(), 0, kDay},
      {"the time for a request, in seconds,", spec.limits.request.count(), 0, kDay},
      {"the time for a server to stop, in seconds,", spec.limits.stop.count(), 0, kDay},
      {"the time for services to answer, in seconds,", spec.limits.health.count(), 0, kDay},
  };
  for (const Range& range : ranges) {
    if (auto fit = CheckRange(range); !fit) return fit;
  }
  if (auto fit = CheckGate(spec.gate); !fit) return fit;
  for (const int port : spec.machine.health) {
    if (auto fit = CheckRange({"a port to look at", port, 1, 65'535}); !fit) return fit;
  }
  if (auto fit = CheckMargin("decode", spec.design.decode_margin); !fit) return fit;
  return CheckMargin("prefill", spec.design.prefill_margin);
}

}  // namespace culprit::experiment
