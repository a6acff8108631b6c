#include "base/json_fields.h"

namespace culprit::base {

namespace {
bool IsStamp(std::int64_t value) { return value >= 0 && value <= std::int64_t{1} << 61; }
}  // namespace

const Json* JsonFields::Find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

std::optional<Tokens> JsonFields::Count(const char* key) {
  const auto value = Get<std::int64_t>(key);
  if (!value) return std::nullopt;
  if (*value < 0 || *value > 1'000'000'000) return Wrong(key);
  return Tokens(*value);
}

std::optional<NanosF> JsonFields::Milliseconds(const char* key) {
  const auto ms = Share(key, 1e10);
  return ms ? std::optional(NanosF(*ms * 1e6)) : std::nullopt;
}

std::optional<HostTime> JsonFields::Instant(const char* key) {
  const auto value = Get<std::int64_t>(key);
  if (!value) return std::nullopt;
  if (!IsStamp(*value)) return Wrong(key);
  return HostTime(Nanos(*value));
}

std::vector<HostTime> JsonFields::Instants(const char* key) {
  std::vector<HostTime> instants;
  for (const std::int64_t value :
       Get<std::vector<std::int64_t>>(key).value_or(std::vector<std::int64_t>())) {
    if (!IsStamp(value)) Wrong(key);
    instants.emplace_back(Nanos(value));
  }
  return instants;
}

std::vector<std::int64_t> JsonFields::Integers(const char* key) {
  std::vector<std::int64_t> integers;
  const Json* list = Find(key);
  if (list == nullptr) return integers;
  if (!list->is_array()) return Wrong(key), integers;
  for (const Json& item : *list) {
    const auto chunk =
        JsonAs<std::vector<std::int64_t>>(item.is_array() ? item : Json::array({item}));
    if (!chunk) return Wrong(key), integers;
    integers.insert(integers.end(), chunk->begin(), chunk->end());
  }
  return integers;
}

std::optional<double> JsonFields::Share(const char* key, double most) {
  const auto value = Get<double>(key);
  if (value && !(*value >= 0 && *value <= most)) return Wrong(key);
  return value;
}

std::nullopt_t JsonFields::Wrong(std::string_view key) {
  if (wrong_.empty()) wrong_ = key;
  return std::nullopt;
}

}  // namespace culprit::base
