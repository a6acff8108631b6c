#include "store/record_json.h"

#include "base/json.h"

namespace culprit::store {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Json;
using base::Nanos;
using experiment::Gate;
using experiment::Objection;
using experiment::Readings;
using experiment::Spread;
using experiment::TrialRecord;

Json Write(const Gate& gate) {
  return {{"idle", gate.idle},
          {"cooled", gate.cooled},
          {"waited_ns", gate.waited.count()},
          {"why_not", gate.why_not}};
}

Gate ReadGate(const Json& json) {
  return {.idle = json.at("idle").get<bool>(),
          .cooled = json.at("cooled").get<bool>(),
          .waited = Nanos(json.at("waited_ns").get<std::int64_t>()),
          .why_not = json.at("why_not").get<std::string>()};
}

Json Write(const Readings& readings) {
  Json values = Json::object();
  for (const auto& [key, spread] : readings.values) {
    values[key] = {{"mean", spread.mean}, {"min", spread.min}, {"max", spread.max}};
  }
  Json json{{"values", std::move(values)}};
  if (readings.throttled) json["throttled"] = *readings.throttled;
  return json;
}

Readings ReadReadings(const Json& json) {
  Readings readings;
  for (const auto& [key, spread] : json.at("values").items()) {
    readings.values[key] = Spread{.mean = spread.at("mean").get<double>(),
                                  .min = spread.at("min").get<double>(),
                                  .max = spread.at("max").get<double>()};
  }
  if (json.contains("throttled")) {
    readings.throttled = json.at("throttled").get<std::vector<std::string>>();
  }
  return readings;
}

Json Write(const std::vector<Objection>& objections) {
  Json list = Json::array();
  for (const Objection& objection : objections) {
    list.push_back({{"id", objection.id}, {"text", objection.text}});
  }
  return list;
}

// What a reader of the file may leave out stays as it is.
template <typename T>
void Take(const Json& json, const char* key, T& value) {
  if (const auto it = json.find(key); it != json.end() && !it->is_null()) value = it->get<T>();
}

// Throws the library's exceptions; the caller catches them.
TrialRecord Read(const Json& json) {
  TrialRecord record;
  record.id = json.at("id").get<int>();
  record.pair = json.at("pair").get<int>();
  record.position = json.at("position").get<int>();
  record.variant = json.at("variant").get<std::string>();
  record.baseline = json.at("baseline").get<bool>();
  Take(json, "started", record.started);
  Take(json, "setting", record.setting);
  Take(json, "facts", record.facts);
  Take(json, "objects", record.objects);
  if (json.contains("gate")) record.gate = ReadGate(json.at("gate"));
  if (json.contains("readings")) {
    for (const auto& [phase, readings] : json.at("readings").items()) {
      record.readings[phase] = ReadReadings(readings);
    }
  }
  if (json.contains("energy_j")) record.energy_j = json.at("energy_j").get<double>();
  Take(json, "foreign_processes", record.foreign_processes);
  if (json.contains("load_ns")) record.load_time = Nanos(json.at("load_ns").get<std::int64_t>());
  for (const Json& objection : json.at("objections")) {
    record.objections.push_back(
        {objection.at("id").get<std::string>(), objection.at("text").get<std::string>()});
  }
  return record;
}

}  // namespace

std::string WriteRecord(const TrialRecord& record) {
  Json json{{"id", record.id},
            {"pair", record.pair},
            {"position", record.position},
            {"variant", record.variant},
            {"baseline", record.baseline},
            {"started", record.started},
            {"objections", Write(record.objections)}};
  if (!record.setting.empty()) json["setting"] = record.setting;
  if (record.load_time) json["load_ns"] = record.load_time->count();
  if (record.gate) json["gate"] = Write(*record.gate);
  json["facts"] = record.facts;
  json["readings"] = Json::object();
  for (const auto& [phase, readings] : record.readings) json["readings"][phase] = Write(readings);
  if (record.energy_j) json["energy_j"] = *record.energy_j;
  json["foreign_processes"] = record.foreign_processes;
  json["objects"] = record.objects;
  // Names of processes and what servers print may be no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

base::Result<TrialRecord> ReadRecord(std::string_view text) {
  auto json = base::ParseJson(text);
  if (!json) return Fail(ErrorCode::kBadRequest, std::move(json.error().message));
  try {
    return Read(*json);
  } catch (const Json::exception& error) {
    return Fail(ErrorCode::kBadRequest, std::string("is no record of a trial: ") + error.what());
  }
}

}  // namespace culprit::store
