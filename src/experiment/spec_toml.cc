#include <array>
#include <functional>
#include <map>
#include <sstream>

#include "base/did_you_mean.h"
#include "base/pattern.h"
#include "base/toml.h"
#include "experiment/spec.h"
#include "experiment/words.h"

namespace culprit::experiment {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using std::chrono::seconds;

// Table reads the keys of one table. Each key is taken once; what is left at the end is a key that
// nobody knows. The first thing that is wrong is remembered, so that a reader can ask for all it
// wants and check once.
class Table {
 public:
  Table(std::string_view file, std::string name, const toml::table& table)
      : file_(file), name_(std::move(name)), table_(table) {}

  template <typename T>
  void Take(std::string_view key, T& value) {
    if (const toml::node* node = Node(key)) Read(key, *node, value);
  }
  template <typename T>
  void Take(std::string_view key, std::optional<T>& value) {
    if (const toml::node* node = Node(key)) Read(key, *node, value.emplace());
  }
  const toml::node* Node(std::string_view key) {
    known_.push_back(key);
    return table_.get(key);
  }
  void Wrong(const toml::node& node, std::string what, std::string hint = {}) {
    if (!status_) return;
    status_ = Fail(ErrorCode::kUsage, std::move(what),
                   fmt::format("{}:{}", file_, node.source().begin.line), std::move(hint));
  }
  // Finish is the first thing that was wrong, or a key that was never asked for.
  Status Finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      Wrong(node, fmt::format("{} has no key \"{}\"", name_, key.str()),
            base::DidYouMean(key.str(), known_));
    }
    return status_;
  }
  [[nodiscard]] std::string_view file() const { return file_; }

 private:
  void Read(std::string_view key, const toml::node& node, std::string& value) {
    const auto text = node.value_exact<std::string>();
    if (!text) return Wrong(node, fmt::format("\"{}\" must be a text", key));
    if (text->empty()) {
      return Wrong(node, fmt::format("\"{}\" is empty", key), "leave the line out instead");
    }
    value = *text;
  }
  void Read(std::string_view key, const toml::node& node, bool& value) {
    const auto flag = node.value_exact<bool>();
    if (!flag) return Wrong(node, fmt::format("\"{}\" must be true or false", key));
    value = *flag;
  }
  void Read(std::string_view key, const toml::node& node, std::int64_t& value) {
    const auto number = node.value_exact<std::int64_t>();
    if (!number) return Wrong(node, fmt::format("\"{}\" must be a whole number", key));
    value = *number;
  }
  template <typename Int>
  requires std::is_integral_v<Int>
  void Read(std::string_view key, const toml::node& node, Int& value) {
    std::int64_t number = 0;
    Read(key, node, number);
    if (!std::in_range<Int>(number)) return Wrong(node, fmt::format("\"{}\" is too large", key));
    value = static_cast<Int>(number);
  }
  void Read(std::string_view key, const toml::node& node, base::Tokens& value) {
    std::int64_t number = 0;
    Read(key, node, number);
    value = base::Tokens(number);
  }
  void Read(std::string_view key, const toml::node& node, seconds& value) {
    int number = 0;
    Read(key, node, number);
    if (number < 0) return Wrong(node, fmt::format("\"{}\" is below 0", key));
    value = seconds(number);
  }
  void Read(std::string_view key, const toml::node& node, base::Fraction& value) {
    const auto number = node.value<double>();
    if (!number) return Wrong(node, fmt::format("\"{}\" must be a number", key));
    value = base::Fraction(*number);
  }
  template <typename T>
  void Read(std::string_view key, const toml::node& node, std::vector<T>& values) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return Wrong(node, fmt::format("\"{}\" must be a list", key));
    for (const toml::node& item : *list) Read(key, item, values.emplace_back());
  }

  std::string_view file_;
  std::string name_;
  const toml::table& table_;
  std::vector<std::string_view> known_;
  Status status_;
};

// arguments = "-ngl 99 -fa on" or arguments = ["-ngl", "99"]
void TakeArguments(Table& table, std::vector<std::string>& arguments) {
  const toml::node* node = table.Node("arguments");
  if (node == nullptr) return;
  if (node->is_array()) return table.Take("arguments", arguments);
  std::string line;
  table.Take("arguments", line);
  auto words = SplitWords(line);
  if (!words) return table.Wrong(*node, words.error().Text());
  arguments.insert(arguments.end(), words->begin(), words->end());
}

// environment = {GGML_X = "1", GGML_Y = false}: false takes a variable away.
void TakeEnvironment(Table& table, std::vector<EnvironmentChange>& environment) {
  const toml::node* node = table.Node("environment");
  if (node == nullptr) return;
  const toml::table* changes = node->as_table();
  if (changes == nullptr) return table.Wrong(*node, "\"environment\" must be a table");
  for (const auto& [key, value] : *changes) {
    EnvironmentChange change{std::string(key.str()), value.value_exact<std::string>()};
    const bool removes = value.value_exact<bool>() == false;
    if (!change.value && !removes) {
      table.Wrong(value, fmt::format("environment.{} must be a text, or false", key.str()),
                  "false takes the variable away");
    }
    environment.push_back(std::move(change));
  }
}

// What [common] says holds for every variant; a variant adds to lists and overrides the rest.
Status ReadVariant(Table table, Variant& variant) {
  table.Take("label", variant.label);
  table.Take("binary", variant.binary);
  table.Take("model", variant.model);
  table.Take("kv", variant.kv);
  TakeEnvironment(table, variant.environment);
  TakeArguments(table, variant.arguments);
  table.Take("working_directory", variant.working_directory);
  if (const toml::node* node = table.Node("expect_log")) {
    table.Take("expect_log", variant.expect_log);
    for (const std::string& pattern : variant.expect_log) {
      const auto compiled = base::Pattern::Compile(pattern);
      if (!compiled) table.Wrong(*node, "expect_log: " + compiled.error().message);
    }
  }
  table.Take("expect_symbol", variant.expect_symbol);
  if (const toml::node* node = table.Node("answers")) {
    std::string answers;
    table.Take("answers", answers);
    auto set = SetAnswers(answers, variant);
    if (!set) table.Wrong(*node, "answers: " + set.error().message, set.error().hint);
  }
  return table.Finish();
}

Status ReadWorkload(Table table, Workload& workload) {
  std::string name, endpoint(Name(workload.endpoint));
  table.Take("name", name);
  if (!name.empty() && name != "custom") {
    const auto tokens = OutputTokensOf(name);
    if (!tokens)
      table.Wrong(*table.Node("name"), tokens.error().message, tokens.error().hint);
    else
      workload.output = *tokens;
  }
  table.Take("prompt_tokens", workload.prompt);
  table.Take("output_tokens", workload.output);
  table.Take("endpoint", endpoint);
  if (const auto named = EndpointByName(endpoint))
    workload.endpoint = *named;
  else
    table.Wrong(*table.Node("endpoint"), named.error().message, named.error().hint);
  table.Take("seed", workload.seed);
  table.Take("cache_prompt", workload.cache_prompt);
  return table.Finish();
}

Status ReadDesign(Table table, Design& design) {
  table.Take("pairs", design.pairs);
  table.Take("seed", design.seed);
  table.Take("decode_margin", design.decode_margin);
  table.Take("prefill_margin", design.prefill_margin);
  table.Take("same_variant", design.same_variant);
  return table.Finish();
}

Status ReadGate(Table table, GateWish& gate) {
  table.Take("run", gate.wanted);
  table.Take("level", gate.level);
  table.Take("positions", gate.positions);
  table.Take("prompt_tokens", gate.prompts);
  table.Take("ubatch", gate.ubatches);
  return table.Finish();
}

Status ReadMachine(Table table, Spec& spec) {
  table.Take("stop_services", spec.machine.stop_services);
  table.Take("stop_user_services", spec.machine.stop_user_services);
  table.Take("health", spec.machine.health);
  table.Take("power_profile", spec.machine.power_profile);
  table.Take("port", spec.port);
  table.Take("load_timeout_s", spec.limits.load);
  table.Take("request_timeout_s", spec.limits.request);
  table.Take("stop_timeout_s", spec.limits.stop);
  table.Take("health_timeout_s", spec.limits.health);
  table.Take("idle_readings", spec.limits.idle_readings);
  table.Take("idle_tries", spec.limits.idle_tries);
  return table.Finish();
}

Status ReadTracing(Table table, Spec& spec) {
  table.Take("collector", spec.collector);
  return table.Finish();
}

class SpecReader {
 public:
  SpecReader(std::string_view file, const SpecFlags& flags) : file_(file), flags_(flags) {}

  Result<Spec> Read(const toml::table& document) {
    constexpr std::array<std::string_view, 7> kTables = {"common", "variant", "workload", "design",
                                                         "gate",   "machine", "trace"};
    for (const auto& [key, node] : document) {
      if (std::find(kTables.begin(), kTables.end(), key.str()) != kTables.end()) continue;
      return Fail(ErrorCode::kUsage, fmt::format("an experiment has no \"{}\"", key.str()),
                  Place(node), base::DidYouMean(key.str(), kTables));
    }
    Variant common;
    Spec spec;
    const std::pair<std::string_view, std::function<Status(Table)>> readers[] = {
        {"common", [&](Table table) { return ReadVariant(std::move(table), common); }},
        {"workload", [&](Table table) { return ReadWorkload(std::move(table), spec.workload); }},
        {"design", [&](Table table) { return ReadDesign(std::move(table), spec.design); }},
        {"gate", [&](Table table) { return ReadGate(std::move(table), spec.gate); }},
        {"machine", [&](Table table) { return ReadMachine(std::move(table), spec); }},
        {"trace", [&](Table table) { return ReadTracing(std::move(table), spec); }},
    };
    for (const auto& [name, read] : readers) {
      const toml::node* node = document.get(name);
      if (node == nullptr) continue;
      if (!node->is_table()) {
        return Fail(ErrorCode::kUsage, fmt::format("\"{}\" must be a table", name), Place(*node));
      }
      auto done = read(Table(file_, fmt::format("[{}]", name), *node->as_table()));
      if (!done) return Fail(std::move(done.error()));
    }
    if (!flags_.model.empty()) common.model = flags_.model;
    if (!flags_.arguments.empty()) common.arguments = flags_.arguments;
    if (auto done = ReadVariants(document.get("variant"), common, spec.variants); !done) {
      return Fail(std::move(done.error()));
    }
    if (flags_.variants.empty()) return spec;
    spec.variants = flags_.variants;
    for (Variant& variant : spec.variants) LayOver(common, variant);
    return spec;
  }

 private:
  [[nodiscard]] std::string Place(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }

  Status ReadVariants(const toml::node* node, const Variant& common,
                      std::vector<Variant>& variants) const {
    if (node == nullptr) return {};
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      return Fail(ErrorCode::kUsage, "\"variant\" is no list of tables", Place(*node),
                  "begin each with [[variant]]");
    }
    for (const toml::node& item : *list) {
      if (!item.is_table()) return Fail(ErrorCode::kUsage, "this is no variant", Place(item));
      Variant variant = common;
      auto done = ReadVariant(Table(file_, "a [[variant]]", *item.as_table()), variant);
      if (!done) return done;
      if (variant.label.empty() || variant.binary.empty()) {
        return Fail(ErrorCode::kUsage, "a variant needs a label and a binary", Place(item));
      }
      variants.push_back(std::move(variant));
    }
    return {};
  }

  std::string_view file_;
  const SpecFlags& flags_;
};

toml::array Strings(const std::vector<std::string>& strings) {
  toml::array list;
  for (const std::string& string : strings) list.push_back(string);
  return list;
}

void PutList(toml::table& table, std::string_view key, const std::vector<std::string>& strings) {
  if (!strings.empty()) table.insert(key, Strings(strings));
}

toml::table VariantTable(const Variant& variant) {
  toml::table table{{"label", variant.label}, {"binary", variant.binary}};
  if (variant.model) table.insert("model", *variant.model);
  if (variant.kv) table.insert("kv", *variant.kv);
  PutList(table, "arguments", variant.arguments);
  if (variant.working_directory) table.insert("working_directory", *variant.working_directory);
  PutList(table, "expect_log", variant.expect_log);
  PutList(table, "expect_symbol", variant.expect_symbol);
  if (variant.approximate) table.insert("answers", kApproximate);
  toml::table environment;
  for (const EnvironmentChange& change : variant.environment) {
    if (change.value)
      environment.insert_or_assign(change.key, *change.value);
    else
      environment.insert_or_assign(change.key, false);
  }
  if (!environment.empty()) table.insert("environment", std::move(environment));
  return table;
}

toml::table GateTable(const GateWish& gate) {
  toml::table table{{"run", gate.wanted}, {"level", gate.level}};
  if (gate.positions) table.insert("positions", Count(*gate.positions));
  toml::array prompts, ubatches;
  for (const base::Tokens prompt : gate.prompts) prompts.push_back(Count(prompt));
  for (const std::int64_t ubatch : gate.ubatches) ubatches.push_back(ubatch);
  if (!prompts.empty()) table.insert("prompt_tokens", std::move(prompts));
  if (!ubatches.empty()) table.insert("ubatch", std::move(ubatches));
  return table;
}

toml::table MachineTable(const Spec& spec) {
  toml::array health;
  for (const int port : spec.machine.health) health.push_back(port);
  toml::table table{{"port", spec.port},
                    {"load_timeout_s", spec.limits.load.count()},
                    {"request_timeout_s", spec.limits.request.count()},
                    {"stop_timeout_s", spec.limits.stop.count()},
                    {"health_timeout_s", spec.limits.health.count()},
                    {"idle_readings", spec.limits.idle_readings},
                    {"idle_tries", spec.limits.idle_tries}};
  PutList(table, "stop_services", spec.machine.stop_services);
  PutList(table, "stop_user_services", spec.machine.stop_user_services);
  if (!health.empty()) table.insert("health", std::move(health));
  if (spec.machine.power_profile) table.insert("power_profile", *spec.machine.power_profile);
  return table;
}

}  // namespace

Result<Spec> ParseSpec(std::string_view text, std::string_view file, const SpecFlags& flags) {
  const auto document = base::ParseToml(text, file, "an experiment file is TOML");
  if (!document) return Fail(document.error());
  return SpecReader(file, flags).Read(*document);
}

std::string WriteSpec(const Spec& spec) {
  toml::array variants;
  for (const Variant& variant : spec.variants) variants.push_back(VariantTable(variant));
  toml::table design{{"decode_margin", spec.design.decode_margin.value()},
                     {"prefill_margin", spec.design.prefill_margin.value()},
                     {"same_variant", spec.design.same_variant}};
  if (spec.design.seed) design.insert("seed", static_cast<std::int64_t>(*spec.design.seed));
  if (spec.design.pairs) design.insert("pairs", *spec.design.pairs);
  toml::table document{
      {"workload", toml::table{{"prompt_tokens", Count(spec.workload.prompt)},
                               {"output_tokens", Count(spec.workload.output)},
                               {"endpoint", std::string(Name(spec.workload.endpoint))},
                               {"seed", spec.workload.seed},
                               {"cache_prompt", spec.workload.cache_prompt}}},
      {"design", std::move(design)},
      {"gate", GateTable(spec.gate)},
      {"machine", MachineTable(spec)},
      {"variant", std::move(variants)}};
  if (!spec.collector.empty()) {
    document.insert("trace", toml::table{{"collector", spec.collector}});
  }
  std::ostringstream text;
  text << document << "\n";
  return text.str();
}

}  // namespace culprit::experiment
