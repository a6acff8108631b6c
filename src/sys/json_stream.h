#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/source.h"

namespace culprit::sys {

// JsonScalar is one value that is neither an object nor an array. text is the string without its
// escapes, or a number as it is written ("1.5e3"), or "true", "false", "null"; it lives for one
// call. Strings are passed on byte by byte: they may hold NULs and broken UTF-8.
struct JsonScalar {
  enum class Kind { kString, kNumber, kWord };
  Kind kind;
  std::string_view text;

  // Integer is nullopt for anything but a whole number of int64_t, written without '.' and 'e'.
  [[nodiscard]] std::optional<std::int64_t> Integer() const;
  // Thousandths is a thousand times the number, exact for up to three decimals and rounded to the
  // nearest beyond: µs become ns without passing through a double. nullopt as for Integer.
  [[nodiscard]] std::optional<std::int64_t> Thousandths() const;
  [[nodiscard]] std::optional<std::string_view> String() const;
};

// JsonPath is a place in a document that a reader wants to hear about: keys joined by '.', "[]" for
// any element of an array. "agents[].id.handle"; "" is the root. id is what events carry.
struct JsonPath {
  std::string path;
  int id;
};

// AddBelow appends paths that share their beginning: prefix + each.
void AddBelow(std::string_view prefix, std::initializer_list<JsonPath> below,
              std::vector<JsonPath>& paths);

// JsonEvents is told what stands at the declared paths, in the order of the file.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  // Begin and End surround an object or array, Value is called for a scalar: a path says where
  // something stands, not what type it has.
  virtual void Begin(int /*path*/) {}
  virtual void End(int /*path*/) {}
  virtual void Value(int path, const JsonScalar& value) = 0;
};

// JsonEnd says how far a document was read. torn: the bytes end inside it, which `why` explains.
struct JsonEnd {
  std::uint64_t bytes = 0;
  bool torn = false;
  std::string why;
};

// ParseJson reads one document in bounded memory: the size of its longest string, at most 16 MiB.
// A document that breaks off (also inside a compressed file) is no failure, because what was read
// is true. Fails with kDamagedTrace and the byte on a syntax error, on over 128 nested levels or on
// a longer string, and with the stream's own error when it cannot be read.
base::Result<JsonEnd> ParseJson(ByteStream& stream, std::span<const JsonPath> paths,
                                JsonEvents& events);

}  // namespace culprit::sys
