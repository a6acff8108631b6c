#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::experiment {

// EnvironmentChange sets a variable for a server, or takes it away when value is absent: for some
// servers "not set" and "0" are different things.
struct EnvironmentChange {
  std::string key;
  std::optional<std::string> value;
  bool operator==(const EnvironmentChange&) const = default;
};

// Variant is one way of running the server.
//
// label is unique in an experiment and names folders: letters, digits and "-_.+", at most 64.
// arguments are words after the ones that culprit sets itself (host, port, model, KV types).
// binary, model and working_directory are as the user gave them. approximate says that its answers
// are meant to differ a little from the baseline's, as those of a shortlist or of fewer bits do.
struct Variant {
  std::string label;
  std::string binary;
  std::optional<std::string> model;
  std::optional<std::string> kv;  // type of the K and V caches: "q4_0"
  std::vector<EnvironmentChange> environment;
  std::vector<std::string> arguments;
  std::optional<std::string> working_directory;
  std::vector<std::string> expect_log;     // base::Pattern, each found in a line of the log
  std::vector<std::string> expect_symbol;  // texts found in the binary or a library it loads
  bool approximate = false;

  // speculates tells whether the arguments ask for speculative decoding; drafts whether that
  // comes from a model with a KV cache of its own (ngram speculation has none).
  [[nodiscard]] bool speculates() const;
  [[nodiscard]] bool drafts() const;
  // ServerArguments are kv and arguments as the server takes them.
  [[nodiscard]] std::vector<std::string> ServerArguments() const;
  bool operator==(const Variant&) const = default;
};

// LayOver gives a variant what is common to all: a model, KV type and working directory where it
// names none, and environment, arguments and expectations in front of its own. What it says of its
// answers is its own.
void LayOver(const Variant& common, Variant& variant);

// ParseVariant reads what users write after --variant:
//
//   label=BINARY[|model=PATH][|kv=TYPE][|env=VAR=VAL]…[|env=-VAR]…[|extra=ARGS]…[|cwd=DIR]
//               [|expect-log=REGEX]…[|expect-symbol=TEXT]…[|answers=exact|answers=approximate]
//
// "\|" is a bar within a value. env=-VAR takes a variable away. A value {a,b,c}, whole behind
// model=, kv= or env=VAR=, or as a whole word of extra=, is a sweep: a variant for each, labelled
// label-a, label-b, …; several sweeps multiply. Fails with kUsage, saying what and where.
base::Result<std::vector<Variant>> ParseVariant(std::string_view text);

// kExact and kApproximate are what a variant can say of its answers; SetAnswers takes one of them
// and fails with kUsage on another text.
inline constexpr std::string_view kExact = "exact", kApproximate = "approximate";
base::Status SetAnswers(std::string_view text, Variant& variant);

// CheckLabel fails with kUsage unless label can be a Variant's.
base::Status CheckLabel(std::string_view label);

}  // namespace culprit::experiment
