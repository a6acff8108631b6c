#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/units.h"

namespace culprit::base {

// JsonFields reads keys of one object and remembers the first that has a wrong type or makes no
// sense, so that a reader can ask for all it wants and check once. A key that is null is absent.
//
// Owner: the object belongs to the caller and must outlive this. An object that is none has no
// fields.
class JsonFields {
 public:
  explicit JsonFields(const Json& object) : object_(object) {}

  [[nodiscard]] const Json* Find(const char* key) const;
  std::optional<std::int64_t> Integer(const char* key);
  std::optional<std::string> String(const char* key);
  // Count is from 0 to 10^9 tokens.
  std::optional<Tokens> Count(const char* key);
  // Milliseconds as a server sends them: "prompt_ms": 1488.075
  std::optional<NanosF> Milliseconds(const char* key);
  // Instant is from 0 to 73 years in nanoseconds: instants can be subtracted without a thought.
  std::optional<HostTime> Instant(const char* key);
  std::vector<HostTime> Instants(const char* key);
  // Integers reads [1234, 17], or a list for each chunk: [[1234], [17, 5]].
  std::vector<std::int64_t> Integers(const char* key);

  std::nullopt_t Wrong(std::string_view key);
  // wrong is empty while all made sense.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  const Json& object_;
  std::string wrong_;
};

}  // namespace culprit::base
