#include "store/record_json.h"

#include "base/json_fields.h"

namespace culprit::store {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Json;
using base::JsonFields;
using base::Nanos;
using experiment::CollectedTrace;
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

Gate ReadGate(JsonFields& fields) {
  Gate gate;
  std::int64_t waited = 0;
  fields.Need("idle", gate.idle);
  fields.Need("cooled", gate.cooled);
  fields.Need("waited_ns", waited);
  fields.Need("why_not", gate.why_not);
  gate.waited = Nanos(waited);
  return gate;
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

Readings ReadReadings(JsonFields& fields) {
  Readings readings;
  if (fields.Find("values") == nullptr) fields.Wrong("values");
  fields.Each("values", [&](const std::string& key, JsonFields& value) {
    Spread& spread = readings.values[key];
    value.Need("mean", spread.mean);
    value.Need("min", spread.min);
    value.Need("max", spread.max);
  });
  fields.Take("throttled", readings.throttled);
  return readings;
}

Json Write(const std::vector<Objection>& objections) {
  Json list = Json::array();
  for (const Objection& objection : objections) {
    list.push_back({{"id", objection.id}, {"text", objection.text}});
  }
  return list;
}

Json Write(const CollectedTrace& trace) {
  return {{"file", trace.file},   {"others", trace.others},
          {"bytes", trace.bytes}, {"flush_ns", trace.flush.count()},
          {"how", trace.how},     {"notes", trace.notes}};
}

CollectedTrace ReadTrace(JsonFields& fields) {
  CollectedTrace trace;
  std::int64_t flush = 0;
  fields.Need("file", trace.file);
  fields.Need("others", trace.others);
  fields.Need("bytes", trace.bytes);
  fields.Need("flush_ns", flush);
  fields.Need("how", trace.how);
  fields.Need("notes", trace.notes);
  trace.flush = Nanos(flush);
  return trace;
}

TrialRecord Read(JsonFields& fields) {
  TrialRecord record;
  fields.Need("id", record.id);
  fields.Need("pair", record.pair);
  fields.Need("position", record.position);
  constexpr int kMostTrials = 1'000'000;
  if (record.id < 1 || record.id > kMostTrials) fields.Wrong("id");
  if (record.pair < 0 || record.pair > kMostTrials) fields.Wrong("pair");
  if (record.position < 0 || record.position > kMostTrials) fields.Wrong("position");
  fields.Need("variant", record.variant);
  fields.Need("baseline", record.baseline);
  fields.Take("started", record.started);
  fields.Take("setting", record.setting);
  fields.Take("facts", record.facts);
  fields.Take("objects", record.objects);
  fields.Within("gate", [&](JsonFields& gate) { record.gate = ReadGate(gate); });
  fields.Each("readings", [&](const std::string& phase, JsonFields& readings) {
    record.readings[phase] = ReadReadings(readings);
  });
  fields.Take("energy_j", record.energy_j);
  fields.Take("foreign_processes", record.foreign_processes);
  std::optional<std::int64_t> load;
  fields.Take("load_ns", load);
  if (load) record.load_time = Nanos(*load);
  if (fields.Find("objections") == nullptr) fields.Wrong("objections");
  fields.Each("objections", [&](const std::string&, JsonFields& objection) {
    objection.Need("id", record.objections.emplace_back().id);
    objection.Need("text", record.objections.back().text);
  });
  fields.Take("collector", record.collector);
  fields.Take("counters", record.counters);
  fields.Within("trace", [&](JsonFields& trace) { record.trace = ReadTrace(trace); });
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
  if (record.traced()) json["collector"] = record.collector;
  if (record.counted()) json["counters"] = record.counters;
  if (record.trace) json["trace"] = Write(*record.trace);
  // Names of processes and what servers print may be no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

base::Result<TrialRecord> ReadRecord(std::string_view text) {
  auto json = base::ParseJson(text);
  if (!json) return Fail(ErrorCode::kBadRequest, std::move(json.error().message));
  base::JsonFields fields(*json);
  auto record = Read(fields);
  if (fields.wrong().empty()) return record;
  return Fail(ErrorCode::kBadRequest,
              "is no record of a trial: \"" + fields.wrong() + "\" is missing or makes no sense");
}

}  // namespace culprit::store
