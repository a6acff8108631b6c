#include "base/json.h"

#include <algorithm>

#include "base/check.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

using base::Json;

Json Scalar(const Value& value) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
          return nullptr;
        } else {
          return v;  // NaN and infinities are written as null
        }
      },
      value);
}

Json RowObject(const Table& table, const Row& row) {
  CULPRIT_CHECK(row.cells.size() == table.columns.size());
  Json object = Json::object();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    object[table.columns[i].key] = Scalar(row.cells[i].value);
  }
  CULPRIT_CHECK(object.size() == table.columns.size());  // no key twice
  if (row.emphasis == Emphasis::kTotal) object["is_total"] = true;
  return object;
}

// Rows nests details in the row above them; a detail that comes first stands by itself.
Json Rows(const Table& table) {
  Json rows = Json::array();
  for (const Row& row : table.rows) {
    Json object = RowObject(table, row);
    if (row.depth == 0 || rows.empty()) {
      rows.push_back(std::move(object));
    } else {
      rows.back()["details"].push_back(std::move(object));
    }
  }
  return rows;
}

Json TableObject(const Table& table, bool incomplete) {
  Json columns = Json::array();
  for (const Column& column : table.columns) {
    columns.push_back({{"key", column.key},
                       {"heading", column.heading},
                       {"kind", column.kind == Column::Kind::kText ? "text" : "number"}});
  }
  Json object = {{"id", table.id}, {"title", table.title}, {"incomplete", incomplete}};
  if (incomplete) object["incomplete_mark"] = kIncompleteMark;
  object["columns"] = std::move(columns);
  object["rows"] = Rows(table);
  object["notes"] = table.notes;
  return object;
}

Json ReportObject(const Report& report) {
  Json object = {{"schema", "culprit.report"},
                 {"schema_version", 1},
                 {"kind", report.kind},
                 {"title", report.title},
                 {"incomplete", report.incomplete}};
  if (report.incomplete) object["incomplete_mark"] = kIncompleteMark;
  object["headline"] = report.headline;
  object["proof"] = Json::array();
  for (const Check& check : report.proof) {
    object["proof"].push_back({{"id", check.id},
                               {"subject", check.subject},
                               {"holds", check.holds},
                               {"text", check.text}});
  }
  object["tables"] = Json::array();
  for (const Table& table : report.tables) {
    object["tables"].push_back(TableObject(table, report.incomplete));
  }
  object["notes"] = Json::array();
  for (const Note& note : report.notes) {
    object["notes"].push_back({{"level", Name(note.level)}, {"id", note.id}, {"text", note.text}});
  }
  object["advice"] = report.advice;
  return object;
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Print writes a container that holds containers over several lines and anything else on one, so
// that a row is a line.
void Print(const Json& json, std::size_t indent, std::string& out) {
  const bool open = json.is_structured() && std::ranges::any_of(json, &Json::is_structured);
  if (!open) {
    out += Text(json);
    return;
  }
  const std::string line = "\n" + std::string(indent, ' ');
  const char* separator = "";
  out += json.is_object() ? "{" : "[";
  for (const auto& [key, part] : json.items()) {
    out += separator + line + "  ";
    if (json.is_object()) out += Text(key) + ": ";
    Print(part, indent + 2, out);
    separator = ",";
  }
  out += line + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string WriteJson(const Report& whole) {
  const Report report = For(Audience::kMachines, whole);
  std::string out;
  Print(ReportObject(report), 0, out);
  return out + "\n";
}

}  // namespace culprit::report
