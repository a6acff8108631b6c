#include <algorithm>
#include <array>

#include "analysis/rules.h"
#include "base/did_you_mean.h"
#include "base/parse_number.h"
#include "base/toml.h"

namespace culprit::analysis {
namespace {

using base::DidYouMean;
using base::ErrorCode;
using base::Fail;
using base::Status;

constexpr std::array<std::string_view, 15> kRuleKeys = {
    "name",  "operation",         "full", "ggml_type", "kind", "argument", "grid",
    "block", "launches_per_step", "mark", "place",     "pass", "category", "role",
    "why"};
constexpr std::array<std::string_view, 10> kMarkKeys = {
    "name",     "operation", "full",  "ggml_type",         "kind",
    "argument", "grid",      "block", "launches_per_step", "is"};

template <typename Enum>
std::vector<std::string_view> AllNames(std::size_t count) {
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < count; ++i) names.push_back(Name(static_cast<Enum>(i)));
  return names;
}

// TableReader reads one [[rule]] or [[mark]].
class TableReader {
 public:
  TableReader(std::string_view file, const toml::table& table) : file_(file), table_(table) {}

  base::Result<Rule> ReadRule();
  base::Result<Mark> ReadMark();

 private:
  [[nodiscard]] std::string Place(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }
  [[nodiscard]] auto Wrong(const toml::node& node, std::string what, std::string hint = {}) const {
    return Fail(ErrorCode::kUsage, std::move(what), Place(node), std::move(hint));
  }

  template <typename Keys>
  Status CheckKeys(std::string_view kind, const Keys& keys, std::string_view needed) const;
  Status ReadCondition(Condition& when) const;
  Status ReadText(std::string_view key, std::string& text) const;
  Status ReadGlob(std::string_view key, std::optional<Glob>& glob) const;
  Status ReadArguments(Condition& when) const;
  Status ReadAxes(std::string_view key, std::vector<Comparison> (&axes)[3]) const;
  Status ReadComparisons(const toml::node& node, std::vector<Comparison>& list) const;
  Status ReadComparison(const toml::node& node, std::vector<Comparison>& list) const;
  Status ReadKind(Condition& when) const;
  template <typename Enum>
  Status ReadBits(std::string_view key, std::optional<Enum> (*named)(std::string_view),
                  const std::vector<std::string_view>& words, std::uint32_t& bits) const;
  Status ReadPass(Condition& when) const;

  std::string_view file_;
  const toml::table& table_;
};

template <typename Keys>
Status TableReader::CheckKeys(std::string_view kind, const Keys& keys,
                              std::string_view needed) const {
  for (const auto& [key, node] : table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
      return Wrong(node, fmt::format("a [[{}]] has no key \"{}\"", kind, key.str()),
                   DidYouMean(key.str(), keys));
    }
  }
  if (table_.contains(needed)) return {};
  return Wrong(table_, fmt::format("this [[{}]] has no \"{}\"", kind, needed));
}

Status TableReader::ReadText(std::string_view key, std::string& text) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const auto value = node->value<std::string>();
  if (!node->is_string() || value->empty()) {
    return Wrong(*node, fmt::format("\"{}\" must be a text that is not empty", key));
  }
  text = *value;
  return {};
}

// name = "mul_mat_q|mul_mat_vec_q*" or name = ["mul_mat_q", "mul_mat_vec_q*"]
Status TableReader::ReadGlob(std::string_view key, std::optional<Glob>& glob) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  std::string pattern;
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& item : *list) {
      const auto text = item.value<std::string>();
      if (!item.is_string() || text->empty()) {
        return Wrong(item, fmt::format("\"{}\" lists something that is no pattern", key));
      }
      pattern += (pattern.empty() ? "" : "|") + *text;
    }
  } else if (auto status = ReadText(key, pattern); !status) {
    return status;
  }
  if (pattern.empty()) return Wrong(*node, fmt::format("\"{}\" is an empty list", key));
  glob.emplace(pattern);
  return {};
}

// argument = {1 = "4"}: the second template argument is 4
Status TableReader::ReadArguments(Condition& when) const {
  const toml::node* node = table_.get("argument");
  if (node == nullptr) return {};
  const toml::table* table = node->as_table();
  if (table == nullptr)
    return Wrong(*node, "\"argument\" must be a table of positions", "write argument.0 = \"…\"");
  for (const auto& [key, value] : *table) {
    const std::string_view word = key.str();
    const auto index = base::ParseNumber<std::size_t>(word);
    const auto text = value.value<std::string>();
    if (!index || *index > 63 || !text) {
      return Wrong(value, fmt::format("argument.{} is no test of a template argument", word),
                   "positions count from 0, patterns are texts: argument.0 = \"float\"");
    }
    when.arguments.emplace_back(*index, Glob(*text));
  }
  return {};
}

// grid = {x = ">= 32768", y = 1}
Status TableReader::ReadAxes(std::string_view key, std::vector<Comparison> (&axes)[3]) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const toml::table* table = node->as_table();
  if (table == nullptr)
    return Wrong(*node, fmt::format("\"{}\" must give x, y or z", key),
                 fmt::format("write {}.x = 8", key));
  for (const auto& [axis, value] : *table) {
    const std::string_view word = axis.str();
    if (word != "x" && word != "y" && word != "z") {
      return Wrong(value, fmt::format("\"{}\" has no axis \"{}\"", key, word), "x, y or z");
    }
    if (auto status = ReadComparisons(value, axes[word[0] - 'x']); !status) return status;
  }
  return {};
}

Status TableReader::ReadComparisons(const toml::node& node, std::vector<Comparison>& list) const {
  const toml::array* items = node.as_array();
  if (items == nullptr) return ReadComparison(node, list);
  for (const toml::node& item : *items) {
    if (auto status = ReadComparison(item, list); !status) return status;
  }
  return {};
}

// 8, ">= 32768", "!= 1", "vocab", "vocab/2"
Status TableReader::ReadComparison(const toml::node& node, std::vector<Comparison>& list) const {
  Comparison comparison;
  if (const auto number = node.value_exact<std::int64_t>()) {
    comparison.value = *number;
    list.push_back(comparison);
    return {};
  }
  const auto text = node.value_exact<std::string>();
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  using enum Comparison::Op;
  constexpr std::pair<std::string_view, Comparison::Op> kOps[] = {
      {">=", kAtLeast}, {"<=", kAtMost}, {"!=", kNotEqual},
      {"=", kEqual},    {"<", kLess},    {">", kMore}};
  for (const auto& [sign, op] : kOps) {
    if (!rest.starts_with(sign)) continue;
    comparison.op = op;
    rest.remove_prefix(sign.size());
    break;
  }
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  std::int64_t* number = &comparison.value;
  if (rest.starts_with("vocab")) {
    rest.remove_prefix(5);
    number = &comparison.vocab_divisor;
    if (rest.empty()) rest = "/1";
    if (rest.starts_with('/')) rest.remove_prefix(1);
  }
  const auto parsed = base::ParseNumber(rest);
  if (!parsed || *parsed < 0 || (number == &comparison.vocab_divisor && *parsed == 0)) {
    return Wrong(node, "this is no comparison", "write 8, \">= 8\", \"vocab\" or \"vocab/2\"");
  }
  *number = *parsed;
  list.push_back(comparison);
  return {};
}

Status TableReader::ReadKind(Condition& when) const {
  std::string word;
  if (auto status = ReadText("kind", word); !status || word.empty()) return status;
  constexpr std::array<std::string_view, 4> kKinds = {"kernel", "copy", "fill", "graph"};
  const auto* found = std::find(kKinds.begin(), kKinds.end(), word);
  if (found == kKinds.end()) {
    return Wrong(*table_.get("kind"), fmt::format("there is no kind \"{}\"", word),
                 DidYouMean(word, kKinds));
  }
  when.kind = static_cast<trace::WorkKind>(found - kKinds.begin());
  return {};
}

// place = "head" or place = ["qkv", "before attention"]
template <typename Enum>
Status TableReader::ReadBits(std::string_view key, std::optional<Enum> (*named)(std::string_view),
                             const std::vector<std::string_view>& words,
                             std::uint32_t& bits) const {
  std::optional<Glob> list;
  if (auto status = ReadGlob(key, list); !status || !list) return status;
  std::string_view rest = list->pattern();
  while (true) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    const std::optional<Enum> value = named(word);
    if (!value) {
      return Wrong(*table_.get(key), fmt::format("there is no {} \"{}\"", key, word),
                   DidYouMean(word, words));
    }
    bits |= 1u << static_cast<unsigned>(*value);
    if (word.size() == rest.size()) return {};
    rest.remove_prefix(word.size() + 1);
  }
}

Status TableReader::ReadPass(Condition& when) const {
  std::string word;
  if (auto status = ReadText("pass", word); !status || word.empty()) return status;
  constexpr std::array<std::string_view, 2> kWords = {"target", "draft"};
  if (word != "target" && word != "draft") {
    return Wrong(*table_.get("pass"), fmt::format("there is no pass \"{}\"", word),
                 DidYouMean(word, kWords));
  }
  when.pass = word == "draft" ? PassKind::kDraft : PassKind::kTarget;
  return {};
}

Status TableReader::ReadCondition(Condition& when) const {
  for (auto [key, glob] : {std::pair{"name", &when.name},
                           {"operation", &when.operation},
                           {"full", &when.full},
                           {"ggml_type", &when.ggml_type}}) {
    if (auto status = ReadGlob(key, *glob); !status) return status;
  }
  if (auto status = ReadKind(when); !status) return status;
  if (auto status = ReadArguments(when); !status) return status;
  if (auto status = ReadAxes("grid", when.grid); !status) return status;
  if (auto status = ReadAxes("block", when.block); !status) return status;
  if (const toml::node* node = table_.get("launches_per_step")) {
    if (auto status = ReadComparisons(*node, when.launches_per_step); !status) return status;
  }
  if (!when.name && !when.operation && !when.full && !when.ggml_type && !when.kind &&
      !table_.contains("mark")) {
    return Wrong(table_, "nothing here says which kernels are meant",
                 "give name, operation, full, ggml_type, kind or mark");
  }
  static const auto kSigns = AllNames<Sign>(static_cast<std::size_t>(Sign::kOther));
  static const auto kPlaceWords = AllNames<analysis::Place>(kPlaces);
  if (auto status = ReadBits("mark", &SignNamed, kSigns, when.signs); !status) return status;
  if (auto status = ReadBits("place", &PlaceNamed, kPlaceWords, when.places); !status)
    return status;
  return ReadPass(when);
}

base::Result<Rule> TableReader::ReadRule() {
  Rule rule;
  for (const std::string_view needed : {"category", "why"}) {
    if (auto status = CheckKeys("rule", kRuleKeys, needed); !status) return Fail(status.error());
  }
  if (auto status = ReadCondition(rule.when); !status) return Fail(status.error());
  for (auto [key, text] :
       {std::pair{"category", &rule.category}, {"role", &rule.role}, {"why", &rule.why}}) {
    if (auto status = ReadText(key, *text); !status) return Fail(status.error());
  }
  rule.source = Place(table_);
  return rule;
}

base::Result<Mark> TableReader::ReadMark() {
  Mark mark;
  if (auto status = CheckKeys("mark", kMarkKeys, "is"); !status) return Fail(status.error());
  if (auto status = ReadCondition(mark.when); !status) return Fail(status.error());
  std::string word;
  if (auto status = ReadText("is", word); !status) return Fail(status.error());
  const std::optional<Sign> sign = SignNamed(word);
  if (!sign) {
    const auto words = AllNames<Sign>(static_cast<std::size_t>(Sign::kOther));
    return Wrong(*table_.get("is"), fmt::format("there is no sign \"{}\"", word),
                 DidYouMean(word, words));
  }
  mark.sign = *sign;
  return mark;
}

// Calls add(reader) for every table of an array such as [[rule]].
template <typename Add>
Status ForEachTable(std::string_view file, const toml::node& node, std::string_view kind, Add add) {
  const toml::array* array = node.as_array();
  const std::string place = fmt::format("{}:{}", file, node.source().begin.line);
  if (array == nullptr) {
    return Fail(ErrorCode::kUsage, fmt::format("\"{}\" is no list of tables", kind), place,
                fmt::format("begin each with [[{}]]", kind));
  }
  for (const toml::node& item : *array) {
    const toml::table* table = item.as_table();
    if (table == nullptr)
      return Fail(ErrorCode::kUsage, fmt::format("this {} is no table", kind), place);
    if (auto status = add(TableReader(file, *table)); !status) return status;
  }
  return {};
}

}  // namespace

base::Result<RuleSet> ParseRules(std::string_view file, std::string_view text) {
  const auto parsed = base::ParseToml(text, file, "a rules file is TOML");
  if (!parsed) return Fail(parsed.error());
  RuleSet set;
  for (const auto& [key, node] : *parsed) {
    const std::string_view word = key.str();
    Status status;
    if (word == "rule") {
      status = ForEachTable(file, node, word, [&set](TableReader reader) -> Status {
        auto rule = reader.ReadRule();
        if (!rule) return Fail(rule.error());
        set.rules.push_back(*std::move(rule));
        return {};
      });
    } else if (word == "mark") {
      status = ForEachTable(file, node, word, [&set](TableReader reader) -> Status {
        auto mark = reader.ReadMark();
        if (!mark) return Fail(mark.error());
        set.marks.push_back(*std::move(mark));
        return {};
      });
    } else {
      constexpr std::array<std::string_view, 2> kTables = {"rule", "mark"};
      return Fail(ErrorCode::kUsage, fmt::format("a rules file has no \"{}\"", word),
                  fmt::format("{}:{}", file, node.source().begin.line), DidYouMean(word, kTables));
    }
    if (!status) return Fail(status.error());
  }
  return set;
}

}  // namespace culprit::analysis
