#include "store/noise_floors.h"

#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/json_fields.h"
#include "sys/atomic_file.h"
#include "sys/text_file.h"

namespace culprit::store {
namespace {

using base::Json;

std::string FileIn(const std::string& folder) { return folder + "/aa-sessions.jsonl"; }

constexpr const char* kHalfWidth = "_half_width";

std::optional<AaSession::Metric> Read(const Json& json, const std::string& key) {
  // A variant that came out at over twice itself measured no noise, but an accident.
  constexpr double kMost = 1;
  base::JsonFields fields(json);
  std::optional<double> log_ratio;
  fields.Take(key.c_str(), log_ratio);
  const auto half_width = fields.Share((key + kHalfWidth).c_str(), kMost);
  if (!fields.wrong().empty() || !log_ratio || std::abs(*log_ratio) > kMost) return std::nullopt;
  return AaSession::Metric{*log_ratio, half_width};
}

void Write(const std::optional<AaSession::Metric>& metric, const std::string& key, Json& json) {
  if (!metric) return;
  json[key] = metric->log_ratio;
  if (metric->half_width) json[key + kHalfWidth] = *metric->half_width;
}

}  // namespace

base::Status AppendAaSession(const std::string& folder, const AaSession& session) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Json json{{"setting", session.setting}, {"when", session.when}};
  Write(session.decode, "decode", json);
  Write(session.prefill, "prefill", json);
  return sys::AppendToFile(FileIn(folder),
                           json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<AaSession> ReadAaSessions(const std::string& folder, const std::string& setting) {
  std::vector<AaSession> sessions;
  const auto text = sys::ReadText(FileIn(folder));
  if (!text) return sessions;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const auto json = base::ParseJson(line);
    if (!json || !json->is_object()) continue;
    const auto it = json->find("setting");
    if (it == json->end() || *it != setting) continue;
    sessions.push_back(
        {setting, json->value("when", ""), Read(*json, "decode"), Read(*json, "prefill")});
  }
  return sessions;
}

}  // namespace culprit::store
