#include "sys/json_stream.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;
constexpr std::uint64_t kMaxTokenBytes = 16u << 20;
constexpr std::size_t kMaxDepth = 128;
// Iterative: nesting costs no stack. NaN and Infinity are no JSON, but Python writes them.
constexpr unsigned kParseFlags = rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseNumbersAsStringsFlag |
                                 rapidjson::kParseNanAndInfFlag;

// PathTree is the declared paths as a tree; a node is an index into it.
class PathTree {
 public:
  static constexpr int kRoot = 0;
  static constexpr int kElsewhere = -1;  // below no declared path

  explicit PathTree(std::span<const JsonPath> paths) : nodes_(1) {
    for (const auto& [path, id] : paths) nodes_[At(Add(path))].id = id;
  }

  [[nodiscard]] int Child(int node, std::string_view key) const {
    if (node == kElsewhere) return kElsewhere;
    for (const auto& [name, child] : nodes_[At(node)].children) {
      if (name == key) return child;
    }
    return kElsewhere;
  }
  [[nodiscard]] int Element(int node) const {
    return node == kElsewhere ? kElsewhere : nodes_[At(node)].element;
  }
  [[nodiscard]] std::optional<int> Id(int node) const {
    return node == kElsewhere ? std::nullopt : nodes_[At(node)].id;
  }

 private:
  struct Node {
    std::optional<int> id;
    int element = kElsewhere;
    std::vector<std::pair<std::string, int>> children;
  };

  static std::size_t At(int node) { return static_cast<std::size_t>(node); }

  int NewNode() {
    nodes_.emplace_back();
    return static_cast<int>(nodes_.size() - 1);
  }

  int Add(std::string_view path) {
    int node = kRoot;
    while (!path.empty()) {
      if (path.starts_with("[]")) {
        path.remove_prefix(2);
        node = AddElement(node);
      } else {
        if (path.starts_with('.')) path.remove_prefix(1);
        const std::string_view key = path.substr(0, path.find_first_of(".["));
        path.remove_prefix(key.size());
        node = AddChild(node, key);
      }
    }
    return node;
  }

  int AddElement(int node) {
    if (const int known = Element(node); known != kElsewhere) return known;
    const int fresh = NewNode();
    nodes_[At(node)].element = fresh;
    return fresh;
  }

  int AddChild(int node, std::string_view key) {
    if (const int known = Child(node, key); known != kElsewhere) return known;
    const int fresh = NewNode();
    nodes_[At(node)].children.emplace_back(key, fresh);
    return fresh;
  }

  std::vector<Node> nodes_;
};

// Note: nlohmann's sax_parse was tried first. On the 37 MB rocprofv3 sample it took 0.22 s where
// RapidJSON takes 0.10 s, it reads every number through strtod, and it refuses a whole file for one
// byte of broken UTF-8 in a kernel's name.

// Input is RapidJSON's idea of a stream over a ByteStream. Its end is a NUL, as RapidJSON wants it.
class Input {
 public:
  using Ch = char;

  explicit Input(ByteStream& stream) : stream_(stream), buffer_(kBufferBytes) { Fill(); }

  [[nodiscard]] Ch Peek() const { return at_ < size_ ? buffer_[at_] : '\0'; }
  Ch Take() {
    if (at_ == size_) return '\0';
    const Ch c = buffer_[at_++];
    if (at_ == size_) Fill();
    return c;
  }
  [[nodiscard]] std::size_t Tell() const { return before_ + at_; }
  // Only for parsing in place, which nobody does.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  std::size_t PutEnd(Ch*) { return 0; }

  void TokenEnded() { token_ = Tell(); }
  [[nodiscard]] bool at_end() const { return at_ == size_; }
  [[nodiscard]] bool token_too_long() const { return Tell() - token_ > kMaxTokenBytes; }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  void Fill() {
    before_ += size_;
    at_ = size_ = 0;
    if (token_too_long()) return;
    auto n = stream_.Read(buffer_);
    if (n) {
      size_ = *n;
    } else {
      error_ = std::move(n.error());
    }
  }

  ByteStream& stream_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
  std::size_t before_ = 0;  // bytes of the buffers that went before
  std::size_t token_ = 0;   // where the last token ended
  std::optional<base::Error> error_;
};

// Walker turns RapidJSON's events into those at the declared paths. Returning false stops.
class Walker {
 public:
  using Ch = char;

  Walker(Input& input, const PathTree& tree, JsonEvents& events)
      : input_(input), tree_(tree), events_(events) {}

  [[nodiscard]] bool too_deep() const { return too_deep_; }

  bool Null() { return Word("null"); }
  bool Bool(bool value) { return Word(value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return Scalar({JsonScalar::Kind::kNumber, {text, size}});
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return Scalar({JsonScalar::Kind::kString, {text, size}});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    next_ = tree_.Child(open_.back().node, {text, size});
    input_.TokenEnded();
    return true;
  }
  bool StartObject() { return Open(false); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(true); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

  // Numbers arrive as text; these are never called.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  struct Container {
    int node;
    bool array;
  };

  [[nodiscard]] int Here() const {
    if (open_.empty()) return PathTree::kRoot;
    return open_.back().array ? tree_.Element(open_.back().node) : next_;
  }
  bool Word(std::string_view text) { return Scalar({JsonScalar::Kind::kWord, text}); }
  bool Scalar(const JsonScalar& value) {
    if (const auto id = tree_.Id(Here())) events_.Value(*id, value);
    input_.TokenEnded();
    return true;
  }
  bool Open(bool array) {
    if (open_.size() == kMaxDepth) {
      too_deep_ = true;
      return false;
    }
    const int node = Here();
    open_.push_back({node, array});
    if (const auto id = tree_.Id(node)) events_.Begin(*id);
    input_.TokenEnded();
    return true;
  }
  bool Close() {
    if (const auto id = tree_.Id(open_.back().node)) events_.End(*id);
    open_.pop_back();
    input_.TokenEnded();
    return true;
  }

  Input& input_;
  const PathTree& tree_;
  JsonEvents& events_;
  std::vector<Container> open_;
  int next_ = PathTree::kElsewhere;  // where the value after the last key stands
  bool too_deep_ = false;
};

// Whole reads all of text as one integer.
template <typename T>
std::optional<T> Whole(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> JsonScalar::Integer() const {
  if (kind != Kind::kNumber) return std::nullopt;
  return Whole<std::int64_t>(text);
}

// 2241346127369.958, or 5e-05 as Python writes a small double: all digits are taken as one integer,
// and `point` says how many zeros it wants behind it to be in thousandths.
std::optional<std::int64_t> JsonScalar::Thousandths() const {
  if (kind != Kind::kNumber) return std::nullopt;
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::int64_t point = 3;
  if (e < text.size()) {
    const auto exponent = Whole<std::int16_t>(text.substr(text[e + 1] == '+' ? e + 2 : e + 1));
    if (!exponent) return std::nullopt;
    point += *exponent;
  }
  const bool negative = text.starts_with('-');
  std::string digits;
  bool fraction = false;
  for (const char c : text.substr(negative, e - negative)) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;  // NaN, Infinity
    if (!digits.empty() || c != '0') digits += c;
    point -= fraction;
  }
  if (digits.empty()) return 0;
  if (point > 19) return std::nullopt;
  const auto size = static_cast<std::int64_t>(digits.size());
  if (size + point < 0) return 0;
  const bool round_up = point < 0 && digits[static_cast<std::size_t>(size + point)] >= '5';
  digits.resize(static_cast<std::size_t>(size + point), '0');
  auto value = digits.empty() ? 0 : Whole<std::int64_t>(digits);
  if (!value || *value == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  *value += round_up;
  return negative ? -*value : *value;
}

std::optional<std::string_view> JsonScalar::String() const {
  if (kind != Kind::kString) return std::nullopt;
  return text;
}

void AddBelow(std::string_view prefix, std::initializer_list<JsonPath> below,
              std::vector<JsonPath>& paths) {
  for (const auto& [path, id] : below) paths.push_back({std::string(prefix) + path, id});
}

base::Result<JsonEnd> ParseJson(ByteStream& stream, std::span<const JsonPath> paths,
                                JsonEvents& events) {
  Input input(stream);
  const PathTree tree(paths);
  Walker walker(input, tree, events);
  rapidjson::Reader reader;
  const auto result = reader.Parse<kParseFlags>(input, walker);
  if (const auto& error = input.error()) {
    // A damaged stream has given what it holds, as a file that breaks off does.
    if (error->code != ErrorCode::kDamagedTrace) return Fail(*error);
    return JsonEnd{input.Tell(), true, error->message};
  }
  if (!result.IsError()) return JsonEnd{input.Tell(), false, ""};
  const auto damaged = [&](std::string_view why) {
    return Fail(ErrorCode::kDamagedTrace,
                fmt::format("is not valid JSON at byte {}: {}", result.Offset(), why));
  };
  if (walker.too_deep()) return damaged(fmt::format("more than {} nested levels", kMaxDepth));
  if (input.token_too_long()) return damaged("a single value of more than 16 MiB");
  if (input.at_end()) return JsonEnd{input.Tell(), true, "the JSON document breaks off"};
  return damaged(rapidjson::GetParseError_En(result.Code()));
}

}  // namespace culprit::sys
