#include <type_traits>

#include "base/check.h"
#include "base/number_format.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

// Quoted returns one field of text. A spreadsheet would run text that begins like a formula, so a
// single quote goes in front of it (OWASP, "CSV injection").
std::string Quoted(std::string_view text) {
  std::string field;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) {
    field += '\'';
  }
  field += text;
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string Field(const Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Quoted(v);
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          return base::Exact(v).value_or("");
        } else {
          return std::to_string(v);
        }
      },
      value);
}

const char* Kind(const Row& row) {
  if (row.emphasis == Emphasis::kTotal) return "total";
  return row.depth > 0 ? "detail" : "row";
}

// Lines are the lines of a file, each begun by the columns that all tables share.
class Lines {
 public:
  explicit Lines(bool incomplete) : incomplete_(incomplete) {}

  // Header begins a table.
  void Header(std::string_view table, const std::vector<std::string>& keys) {
    table_ = Quoted(table);
    text_ += incomplete_ ? "incomplete,table,row" : "table,row";
    for (const std::string& key : keys) text_ += "," + Quoted(key);
    text_ += kEnd;
  }
  void Row(const char* kind, const std::vector<Value>& values) {
    Begin(kind);
    for (const Value& value : values) text_ += "," + Field(value);
    text_ += kEnd;
  }
  void Row(const report::Row& row) {
    Begin(Kind(row));
    for (const Cell& cell : row.cells) text_ += "," + Field(cell.value);
    text_ += kEnd;
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  static constexpr const char* kEnd = "\r\n";  // RFC 4180

  void Begin(const char* kind) {
    if (incomplete_) text_ += "1,";
    text_ += table_ + "," + kind;
  }

  bool incomplete_;
  std::string table_;
  std::string text_;
};

void AppendTable(const Table& table, Lines& lines) {
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(column.key);
  lines.Header(table.id, keys);
  for (const Row& row : table.rows) {
    CULPRIT_CHECK(row.cells.size() == table.columns.size());
    lines.Row(row);
  }
}

void AppendProof(const std::vector<Check>& proof, Lines& lines) {
  if (proof.empty()) return;
  lines.Header("proof", {"id", "subject", "holds", "text"});
  for (const Check& check : proof) {
    lines.Row("row", {check.id, check.subject, check.holds, check.text});
  }
}

// Every sentence of the report, of whatever kind, with the id that it belongs to.
void AppendSentences(const Report& report, Lines& lines) {
  lines.Header("sentences", {"kind", "id", "text"});
  const auto add = [&](std::string_view kind, const std::string& id, const std::string& text) {
    lines.Row("row", {std::string(kind), id, text});
  };
  for (const std::string& text : report.headline) add("headline", report.kind, text);
  for (const Note& note : report.notes) add(Name(note.level), note.id, note.text);
  for (const Table& table : report.tables) {
    for (const std::string& text : table.notes) add("table", table.id, text);
  }
  for (const std::string& text : report.advice) add("advice", report.kind, text);
}

}  // namespace

std::string WriteCsv(const Report& whole) {
  const Report report = For(Audience::kMachines, whole);
  Lines lines(report.incomplete);
  for (const Table& table : report.tables) AppendTable(table, lines);
  AppendProof(report.proof, lines);
  AppendSentences(report, lines);
  return std::move(lines).text();
}

}  // namespace culprit::report
