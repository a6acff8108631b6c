#include "base/json_fields.h"

#include <cmath>

namespace culprit::base {

namespace {
constexpr std::int64_t kLastStamp = std::int64_t{1} << 61;
}

const Json* JsonFields::Find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

std::optional<std::int64_t> JsonFields::Integer(const char* key) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) return Wrong(key);
  if (!value->is_number_integer()) return Wrong(key);
  return value->get<std::int64_t>();
}

std::optional<std::string> JsonFields::String(const char* key) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return Wrong(key), std::nullopt;
  return value->get<std::string>();
}

std::optional<Tokens> JsonFields::Count(const char* key) {
  const auto value = Integer(key);
  if (!value) return std::nullopt;
  if (*value < 0 || *value > 1'000'000'000) return Wrong(key), std::nullopt;
  return Tokens(*value);
}

std::optional<NanosF> JsonFields::Milliseconds(const char* key) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const double ms = value->is_number() ? value->get<double>() : -1;
  if (!std::isfinite(ms) || ms < 0 || ms > 1e10) return Wrong(key), std::nullopt;
  return NanosF(ms * 1e6);
}

std::optional<HostTime> JsonFields::Instant(const char* key) {
  const auto value = Integer(key);
  if (!value) return std::nullopt;
  if (*value < 0 || *value > kLastStamp) return Wrong(key), std::nullopt;
  return HostTime(Nanos(*value));
}

std::vector<HostTime> JsonFields::Instants(const char* key) {
  std::vector<HostTime> instants;
  const Json* list = Find(key);
  if (list == nullptr) return instants;
  if (!list->is_array()) return Wrong(key), instants;
  for (const Json& item : *list) {
    // As unsigned, what is negative lies beyond the last stamp as well.
    if (!item.is_number_integer() || item.get<std::uint64_t>() > kLastStamp) {
      return Wrong(key), instants;
    }
    instants.emplace_back(Nanos(item.get<std::int64_t>()));
  }
  return instants;
}

std::vector<std::int64_t> JsonFields::Integers(const char* key) {
  std::vector<std::int64_t> integers;
  const Json* list = Find(key);
  if (list == nullptr) return integers;
  if (!list->is_array()) return Wrong(key), integers;
  for (const Json& item : *list) {
    const Json chunk = item.is_array() ? item : Json::array({item});
    for (const Json& id : chunk) {
      if (!id.is_number_integer()) return Wrong(key), integers;
      integers.push_back(id.get<std::int64_t>());
    }
  }
  return integers;
}

std::optional<double> JsonFields::Share(const char* key, double most) {
  std::optional<double> value;
  Take(key, value);
  if (value && !(*value >= 0 && *value <= most)) return Wrong(key), std::nullopt;
  return value;
}

std::nullopt_t JsonFields::Wrong(std::string_view key) {
  if (wrong_.empty()) wrong_ = key;
  return std::nullopt;
}

}  // namespace culprit::base
