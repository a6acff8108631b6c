#include "trace/rocpd/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace culprit::trace::rocpd {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

// Each writer in one table costs a scan of it; a real merge has a handful.
constexpr std::size_t kMostGuids = 64;

constexpr std::array<std::string_view, 11> kTables = {
    "kernel_dispatch", "info_kernel_symbol", "info_agent",  "info_process",
    "info_node",       "metadata",           "memory_copy", "region",
    "string",          "graph_launch",       "track"};

struct TableName {
  std::string prefix, table, suffix;
};

// rocpd_kernel_dispatch_00003fdc_92cb_72cb_9169_c7e541b1fcdf
std::optional<TableName> Parse(std::string_view name) {
  const std::string_view prefix = name.starts_with('_') ? "_rocpd_" : "rocpd_";
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view rest = name.substr(prefix.size());
  for (const std::string_view table : kTables) {
    if (!rest.starts_with(table)) continue;
    const std::string_view suffix = rest.substr(table.size());
    if (suffix.empty() || suffix.starts_with('_'))
      return TableName{std::string(prefix), std::string(table), std::string(suffix)};
  }
  return std::nullopt;
}

// A guid is text of any kind: as a blob in hexadecimal it cannot end a string.
std::string TextLiteral(std::string_view text) {
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return "CAST(x'" + hex + "' AS TEXT)";
}

// One table may hold the rows of several writers, which number their things alike.
Result<std::vector<std::string>> Guids(const sys::SqliteConnection& connection,
                                       const IdSpace& space) {
  std::set<std::string> guids;
  for (const char* table : {"info_process", "info_agent", "info_kernel_symbol"}) {
    if (!space.Has(table, "guid")) continue;
    auto rows = connection.Prepare(
        fmt::format("SELECT DISTINCT guid FROM {}", sys::QuoteIdentifier(space.Name(table))));
    // A table that cannot be read is met again, and counted, when its rows are needed.
    while (rows) {
      const auto more = rows->Step();
      if (!more || !*more) break;
      guids.emplace(rows->Text(0));
      if (guids.size() > kMostGuids) {
        return Fail(ErrorCode::kDamagedTrace,
                    fmt::format("one table holds the rows of over {} writers", kMostGuids));
      }
    }
  }
  return std::vector<std::string>(guids.begin(), guids.end());
}

}  // namespace

bool IdSpace::Has(std::string_view table, std::string_view column) const {
  const auto it = columns.find(table);
  return it != columns.end() &&
         std::find(it->second.begin(), it->second.end(), column) != it->second.end();
}

std::string IdSpace::Name(std::string_view table) const {
  return prefix + std::string(table) + suffix;
}

std::string IdSpace::Filter(std::string_view table) const {
  if (guid.empty() || !Has(table, "guid")) return "";
  return "guid=" + TextLiteral(guid);
}

std::string IdSpace::Select(std::string_view table,
                            const std::vector<std::string_view>& wanted) const {
  std::string list;
  for (const std::string_view column : wanted) {
    list += list.empty() ? "" : ", ";
    list += Has(table, column) ? sys::QuoteIdentifier(column) : "NULL";
  }
  const std::string filter = Filter(table);
  return fmt::format("SELECT {} FROM {}{}", list, sys::QuoteIdentifier(Name(table)),
                     filter.empty() ? "" : " WHERE " + filter);
}

bool IsRocpdTable(std::string_view name) {
  const auto parsed = Parse(name);
  return parsed && (parsed->table == "kernel_dispatch" || parsed->table.starts_with("info_"));
}

Result<std::vector<IdSpace>> FindIdSpaces(const sys::SqliteConnection& connection) {
  auto tables = connection.Tables();
  if (!tables) return Fail(std::move(tables.error()));
  std::vector<IdSpace> found;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const std::string& name : *tables) {
    const auto parsed = Parse(name);
    if (!parsed) continue;
    const auto [it, fresh] = index.try_emplace({parsed->prefix, parsed->suffix}, found.size());
    if (fresh) found.push_back({parsed->prefix, parsed->suffix, "", {}});
    auto columns = connection.Columns(name);
    if (!columns) return Fail(std::move(columns.error()));
    found[it->second].columns[parsed->table] = *std::move(columns);
  }
  std::vector<IdSpace> spaces;
  for (IdSpace& space : found) {
    if (!space.Has("kernel_dispatch")) continue;
    auto guids = Guids(connection, space);
    if (!guids) return Fail(std::move(guids.error()));
    if (guids->size() < 2) {
      spaces.push_back(std::move(space));
      continue;
    }
    for (std::string& guid : *guids) {
      spaces.push_back(space);
      spaces.back().guid = std::move(guid);
    }
  }
  return spaces;
}

}  // namespace culprit::trace::rocpd
