#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/units.h"

namespace culprit::base {

// JsonFields reads keys of one object and remembers the first that has a wrong type or makes no
// sense, so that a reader can ask for all it wants and check once. A key that is null is absent.
//
// Owner: the object belongs to the caller and must outlive this. An object that is none has no
// fields.
//
// What is wrong in an object within this one has its path: "gate.idle", "objections.0.id".
class JsonFields {
 public:
  explicit JsonFields(const Json& object) : object_(object) {}

  // Get is what a key holds. Take fills value with it and leaves value as it is without one; Need
  // must have it.
  // T: bool, an integer, double (finite), std::string, a vector of T, a map from strings to T.
  template <typename T>
  std::optional<T> Get(const char* key);
  template <typename T>
  void Take(const char* key, T& value);
  template <typename T>
  void Take(const char* key, std::optional<T>& value);
  template <typename T>
  void Need(const char* key, T& value);
  // Within reads the object of a key by reader(JsonFields&). Each reads every object of a key's
  // object or list by reader(name, JsonFields&).
  template <typename Reader>
  void Within(const char* key, const Reader& reader);
  template <typename Reader>
  void Each(const char* key, const Reader& reader);
  // Share is a number from 0 to most.
  std::optional<double> Share(const char* key, double most);

  [[nodiscard]] const Json* Find(const char* key) const;
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

// JsonAs is absent when json is of another type, or a number that T cannot hold.
template <typename T>
std::optional<T> JsonAs(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) {
    if (json.is_boolean()) return json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    if (json.is_number_unsigned()) {
      const auto value = json.get<std::uint64_t>();
      if (std::in_range<T>(value)) return static_cast<T>(value);
    } else if (json.is_number_integer()) {
      const auto value = json.get<std::int64_t>();
      if (std::in_range<T>(value)) return static_cast<T>(value);
    }
  } else if constexpr (std::is_same_v<T, double>) {
    if (json.is_number() && std::isfinite(json.get<double>())) return json.get<double>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (json.is_string()) return json.get<std::string>();
  } else if constexpr (requires { typename T::mapped_type; }) {
    if (!json.is_object()) return std::nullopt;
    T map;
    for (const auto& [name, item] : json.items()) {
      auto value = JsonAs<typename T::mapped_type>(item);
      if (!value) return std::nullopt;
      map.insert_or_assign(name, *std::move(value));
    }
    return map;
  } else {
    if (!json.is_array()) return std::nullopt;
    T list;
    for (const Json& item : json) {
      auto value = JsonAs<typename T::value_type>(item);
      if (!value) return std::nullopt;
      list.push_back(*std::move(value));
    }
    return list;
  }
  return std::nullopt;
}

template <typename T>
std::optional<T> JsonFields::Get(const char* key) {
  const Json* found = Find(key);
  if (found == nullptr) return std::nullopt;
  auto value = JsonAs<T>(*found);
  if (!value) Wrong(key);
  return value;
}

template <typename T>
void JsonFields::Take(const char* key, T& value) {
  if (auto found = Get<T>(key)) value = *std::move(found);
}

template <typename T>
void JsonFields::Take(const char* key, std::optional<T>& value) {
  if (auto found = Get<T>(key)) value = std::move(found);
}

template <typename T>
void JsonFields::Need(const char* key, T& value) {
  if (Find(key) == nullptr) Wrong(key);
  Take(key, value);
}

template <typename Reader>
void JsonFields::Within(const char* key, const Reader& reader) {
  const Json* found = Find(key);
  if (found == nullptr) return;
  JsonFields fields(*found);
  if (!found->is_object()) Wrong(key);
  reader(fields);
  if (!fields.wrong().empty()) Wrong(std::string(key) + "." + fields.wrong());
}

template <typename Reader>
void JsonFields::Each(const char* key, const Reader& reader) {
  const Json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_structured()) {
    Wrong(key);
    return;
  }
  for (const auto& [name, item] : found->items()) {
    JsonFields fields(item);
    reader(name, fields);
    if (!fields.wrong().empty()) Wrong(std::string(key) + "." + name + "." + fields.wrong());
  }
}

}  // namespace culprit::base
