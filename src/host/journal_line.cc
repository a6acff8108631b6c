#include "host/journal_line.h"

#include <limits>

#include "base/json.h"
#include "host/health.h"

namespace culprit::host {
namespace {

using base::Json;

struct Write {
  Json& json;
  void operator()(const Setting& setting) const {
    json["setting"] = setting.id;
    json["was"] = setting.was;
    json["want"] = setting.want;
  }
  void operator()(const Started& started) const {
    json["process"] = started.group.leader.pid;
    json["started_ticks"] = started.group.leader.started;
    json["session"] = started.group.session;
    json["what"] = started.what;
  }
  void operator()(const Health& health) const {
    json["health"] = health.url;
    json["within_s"] = health.within.count();
  }
  void operator()(const Settled& settled) const { json["settled"] = settled.sequence; }
  void operator()(const Done&) const { json["done"] = true; }
};

std::optional<std::string> Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// Whole takes numbers from 0 to most.
std::optional<std::int64_t> Whole(const Json& json, const char* key,
                                  std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() &&
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    return std::nullopt;
  }
  const auto value = found->get<std::int64_t>();
  if (value < 0 || value > most) return std::nullopt;
  return value;
}

std::optional<Fact> ReadStarted(const Json& json) {
  constexpr std::int64_t kLargestPid = 1 << 22;
  const auto pid = Whole(json, "process", kLargestPid);
  const auto started = Whole(json, "started_ticks");
  const auto session = Whole(json, "session", kLargestPid);
  if (!pid || *pid < 2 || !started || !session) return std::nullopt;
  return Started{{{static_cast<pid_t>(*pid), static_cast<std::uint64_t>(*started)},
                  static_cast<pid_t>(*session)},
                 Text(json, "what").value_or("")};
}

std::optional<Fact> ReadFact(const Json& json) {
  if (auto id = Text(json, "setting")) {
    auto was = Text(json, "was"), want = Text(json, "want");
    if (!was || !want) return std::nullopt;
    return Setting{*id, *was, *want};
  }
  if (json.contains("process")) return ReadStarted(json);
  if (auto url = Text(json, "health")) {
    constexpr std::int64_t kDay = 86'400;
    const auto within = Whole(json, "within_s", kDay);
    if (!within || !IsOfThisMachine(*url)) return std::nullopt;
    return Health{*url, std::chrono::seconds(*within)};
  }
  if (const auto sequence = Whole(json, "settled")) return Settled{*sequence};
  if (json.contains("done")) return Done{};
  return std::nullopt;
}

}  // namespace

std::string JournalLine(const JournalEntry& entry, std::chrono::seconds unix_time) {
  Json json;
  json["sequence"] = entry.sequence;
  std::visit(Write{json}, entry.fact);
  json["boot"] = entry.boot;
  json["unix_time_s"] = unix_time.count();
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::optional<JournalEntry> ParseJournalLine(std::string_view line) {
  const auto json = base::ParseJson(line);
  if (!json || !json->is_object()) return std::nullopt;
  const auto sequence = Whole(*json, "sequence");
  auto boot = Text(*json, "boot");
  auto fact = ReadFact(*json);
  if (!sequence || !boot || !fact) return std::nullopt;
  return JournalEntry{*sequence, *std::move(boot), *std::move(fact)};
}

}  // namespace culprit::host
