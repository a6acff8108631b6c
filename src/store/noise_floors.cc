#include "store/noise_floors.h"

#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "sys/atomic_file.h"
#include "sys/text_file.h"

namespace culprit::store {
namespace {

using base::Json;

std::string FileIn(const std::string& folder) { return folder + "/aa-sessions.jsonl"; }

std::optional<double> Number(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}

}  // namespace

base::Status AppendAaSession(const std::string& folder, const AaSession& session) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Json json{{"setting", session.setting}, {"when", session.when}};
  if (session.decode) json["decode"] = *session.decode;
  if (session.prefill) json["prefill"] = *session.prefill;
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
    sessions.push_back({setting, "", Number(*json, "decode"), Number(*json, "prefill")});
  }
  return sessions;
}

}  // namespace culprit::store
