#include "experiment/variant.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/pattern.h"
#include "experiment/server_flags.h"
#include "experiment/words.h"

namespace culprit::experiment {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

constexpr std::size_t kMostVariants = 64;

// The last --spec-type counts, as for the server itself; "" without one.
std::string SpeculationType(const std::vector<std::string>& arguments) {
  const auto values = FlagValues(arguments, "--spec-type");
  return values.empty() ? "" : values.back();
}

struct Field {
  std::string key, value;
};

// a=b|c=d\|e is (a, b), (c, d|e).
Result<std::vector<Field>> SplitFields(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '|') {
      parts.back() += '|';
      ++i;
    } else if (text[i] == '|') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  std::vector<Field> fields;
  for (const std::string& part : parts) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      return Fail(ErrorCode::kUsage, fmt::format("\"{}\" is no KEY=VALUE", part), "",
                  "a variant is label=BINARY, then |KEY=VALUE for model, kv, env, extra, cwd, "
                  "expect-log, expect-symbol, answers");
    }
    fields.push_back({part.substr(0, equals), part.substr(equals + 1)});
  }
  return fields;
}

// {64,128} is two values; {"a":1,"b":2} is JSON and one value.
std::optional<std::vector<std::string>> SweepValues(std::string_view value) {
  if (value.size() < 2 || value.front() != '{' || value.back() != '}' || value[1] == '"') {
    return std::nullopt;
  }
  std::vector<std::string> values(1);
  for (const char c : value.substr(1, value.size() - 2)) {
    if (c == ',')
      values.emplace_back();
    else
      values.back() += c;
  }
  return values.size() < 2 ? std::nullopt : std::optional(values);
}

// The word of a field that is a sweep: begin and length within the field's value.
struct SweepPlace {
  std::size_t begin = 0, size = 0;
  std::vector<std::string> values;
};

std::optional<SweepPlace> FindSweep(const Field& field) {
  const std::string& value = field.value;
  std::size_t begin = 0, end = value.size();
  if (field.key == "env") begin = value.find('=') == std::string::npos ? end : value.find('=') + 1;
  const bool by_word = field.key == "extra";
  if (!by_word && field.key != "env" && field.key != "model" && field.key != "kv")
    return std::nullopt;
  while (begin < value.size()) {
    if (by_word) end = std::min(value.find(' ', begin), value.size());
    if (auto values = SweepValues(std::string_view(value).substr(begin, end - begin))) {
      return SweepPlace{begin, end - begin, *std::move(values)};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

// A value as part of a label: "/models/a b.gguf" is "a-b.gguf".
std::string LabelPart(std::string_view value) {
  std::string part(value.substr(value.rfind('/') + 1));
  for (char& c : part) {
    if (!CheckLabel(std::string(1, c))) c = '-';
  }
  return part;
}

// Each list of fields without a sweep that the given one stands for, in the order written.
void Expand(const std::vector<Field>& fields, std::vector<std::vector<Field>>& expanded) {
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const auto sweep = FindSweep(fields[i]);
    if (!sweep) continue;
    for (const std::string& value : sweep->values) {
      auto one = fields;
      one[0].key += "-" + LabelPart(value);
      one[i].value.replace(sweep->begin, sweep->size, value);
      if (expanded.size() <= kMostVariants) Expand(one, expanded);
    }
    return;
  }
  expanded.push_back(fields);
}

Status SetEnvironment(std::string_view value, Variant& variant) {
  if (value.starts_with('-')) {
    variant.environment.push_back({std::string(value.substr(1)), std::nullopt});
    return {};
  }
  const auto equals = value.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Fail(ErrorCode::kUsage, fmt::format("env={} sets no variable", value), "",
                "write env=NAME=VALUE, or env=-NAME to take a variable away");
  }
  variant.environment.push_back(
      {std::string(value.substr(0, equals)), std::string(value.substr(equals + 1))});
  return {};
}

Status AddPattern(const std::string& pattern, Variant& variant) {
  auto compiled = base::Pattern::Compile(pattern);
  if (!compiled) return Fail(std::move(compiled.error()).In("expect-log"));
  variant.expect_log.push_back(pattern);
  return {};
}

Status Set(const Field& field, Variant& variant) {
  if (field.key == "model")
    variant.model = field.value;
  else if (field.key == "kv")
    variant.kv = field.value;
  else if (field.key == "cwd")
    variant.working_directory = field.value;
  else if (field.key == "env")
    return SetEnvironment(field.value, variant);
  else if (field.key == "expect-log")
    return AddPattern(field.value, variant);
  else if (field.key == "answers")
    return SetAnswers(field.value, variant);
  else if (field.key == "expect-symbol")
    variant.expect_symbol.push_back(field.value);
  else if (field.key == "extra") {
    auto words = SplitWords(field.value);
    if (!words) return Fail(std::move(words.error()));
    variant.arguments.insert(variant.arguments.end(), words->begin(), words->end());
  } else {
    return Fail(ErrorCode::kUsage, fmt::format("\"{}\" is no key of a variant", field.key), "",
                "the keys are model, kv, env, extra, cwd, expect-log, expect-symbol, answers");
  }
  return {};
}

}  // namespace

bool Variant::drafts() const {
  const std::string type = SpeculationType(arguments);
  if (type.starts_with("ngram")) return false;
  return (!type.empty() && type != "none") || Uses(Option::kDraftModel, arguments);
}

bool Variant::speculates() const {
  return drafts() || SpeculationType(arguments).starts_with("ngram");
}

std::vector<std::string> Variant::ServerArguments() const {
  std::vector<std::string> words;
  if (kv) {
    words = {"-ctk", *kv, "-ctv", *kv};
    if (drafts()) words.insert(words.end(), {"-ctkd", *kv, "-ctvd", *kv});
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Status CheckLabel(std::string_view label) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.+").find(c) != std::string_view::npos;
  };
  const bool fits = !label.empty() && label.size() <= 64 && label != "." && label != ".." &&
                    std::all_of(label.begin(), label.end(), allowed);
  if (fits) return {};
  return Fail(ErrorCode::kUsage, fmt::format("\"{}\" cannot be a label", label), "",
              "use letters, digits and -_.+, at most 64");
}

Status SetAnswers(std::string_view text, Variant& variant) {
  if (text != kExact && text != kApproximate) {
    return Fail(ErrorCode::kUsage, fmt::format("\"{}\" says nothing of answers", text), "answers",
                fmt::format("they are {} or {}", kExact, kApproximate));
  }
  variant.approximate = text == kApproximate;
  return {};
}

void LayOver(const Variant& common, Variant& variant) {
  const auto before = [](const auto& first, auto& list) {
    list.insert(list.begin(), first.begin(), first.end());
  };
  if (!variant.model) variant.model = common.model;
  if (!variant.kv) variant.kv = common.kv;
  if (!variant.working_directory) variant.working_directory = common.working_directory;
  before(common.environment, variant.environment);
  before(common.arguments, variant.arguments);
  before(common.expect_log, variant.expect_log);
  before(common.expect_symbol, variant.expect_symbol);
}

Result<std::vector<Variant>> ParseVariant(std::string_view text) {
  auto fields = SplitFields(text);
  if (!fields) return Fail(std::move(fields.error()).In("--variant"));
  std::vector<std::vector<Field>> expanded;
  Expand(*fields, expanded);
  if (expanded.size() > kMostVariants) {
    return Fail(ErrorCode::kUsage, fmt::format("a sweep of over {} variants", kMostVariants),
                "--variant");
  }
  std::vector<Variant> variants;
  for (const auto& one : expanded) {
    Variant variant{.label = one[0].key, .binary = one[0].value};
    auto set = CheckLabel(variant.label);
    for (std::size_t i = 1; set && i < one.size(); ++i) set = Set(one[i], variant);
    if (!set) return Fail(std::move(set.error()).In("--variant " + one[0].key));
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace culprit::experiment
