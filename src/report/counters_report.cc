#include "report/counters_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/analysis_notes.h"

namespace culprit::report {
namespace {

using analysis::Counted;
using analysis::CounterRow;
using analysis::Tally;
using base::Printable;
using enum Column::Kind;
using enum Audience;

Cell Absent() { return {"", std::monostate()}; }

Cell NumberCell(const std::optional<std::int64_t>& number) {
  return number ? Cell{base::Grouped(*number), *number} : Absent();
}

Cell MeanCell(const std::optional<double>& mean) {
  return mean ? Cell{base::Plain(*mean), *mean} : Absent();
}

// CountCell is of a number that is whole.
Cell CountCell(const std::optional<double>& number) {
  return number ? NumberCell(static_cast<std::int64_t>(*number)) : Absent();
}

Cell ChangeCell(const std::optional<base::Fraction>& change) {
  return change ? Cell{base::SignedPercent(*change), change->value()} : Absent();
}

// Part is one column, or what a comparison makes of it, and where its cells come from.
struct Part {
  Column column;
  std::function<Cell(const CounterRow&)> cell;
};

// Sides are the variants of a pair of tables; b is null where there is one alone.
struct Sides {
  const Counted& a;
  const Counted* b;
  [[nodiscard]] bool compares() const { return b != nullptr; }
  [[nodiscard]] std::string label_a() const { return Printable(a.label); }
  [[nodiscard]] std::string label_b() const { return Printable(b->label); }
};

using Number = std::function<std::optional<double>(const Tally&)>;

std::optional<double> Of(const std::optional<Tally>& tally, const Number& number) {
  return tally ? number(*tally) : std::nullopt;
}

// AddNumber adds a column of a number, or in a comparison three: A, B and the change.
void AddNumber(const Sides& sides, const std::string& key, const std::string& heading,
               const Number& number, Cell (*cell)(const std::optional<double>&),
               std::vector<Part>& parts) {
  const auto a = [number, cell](const CounterRow& row) { return cell(Of(row.a, number)); };
  if (!sides.compares()) {
    parts.push_back({{key, heading}, a});
    return;
  }
  parts.push_back({{"a_" + key, heading + " " + sides.label_a()}, a});
  parts.push_back({{"b_" + key, heading + " " + sides.label_b()},
                   [number, cell](const CounterRow& row) { return cell(Of(row.b, number)); }});
  parts.push_back({{"change_of_" + key, "Δ"}, [number](const CounterRow& row) {
                     return ChangeCell(analysis::Change(Of(row.a, number), Of(row.b, number)));
                   }});
}

using Resource = std::optional<std::int64_t> trace::Resources::*;

std::optional<std::int64_t> Of(const std::optional<Tally>& tally, Resource resource) {
  return tally ? tally->largest.*resource : std::nullopt;
}

// "24 → 32": what a launch takes hardly ever changes, so two numbers need one column.
Cell ArrowCell(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  const std::string from = NumberCell(a).text, to = NumberCell(b).text;
  if (from == to || to.empty()) return {from, std::monostate()};
  return {from.empty() ? to : from + " → " + to, std::monostate()};
}

void AddResource(const Sides& sides, const std::string& key, const std::string& heading,
                 Resource resource, std::vector<Part>& parts) {
  const auto a = [resource](const CounterRow& row) { return NumberCell(Of(row.a, resource)); };
  if (!sides.compares()) {
    parts.push_back({{key, heading}, a});
    return;
  }
  parts.push_back({{"", heading, kNumber, kPeople}, [resource](const CounterRow& row) {
                     return ArrowCell(Of(row.a, resource), Of(row.b, resource));
                   }});
  parts.push_back({{"a_" + key, "", kNumber, kMachines}, a});
  parts.push_back({{"b_" + key, "", kNumber, kMachines},
                   [resource](const CounterRow& row) { return NumberCell(Of(row.b, resource)); }});
}

// "…: f16 → q4" over the tables of a comparison.
std::string Titled(const std::string& title, const Sides& sides) {
  if (!sides.compares()) return title;
  return fmt::format("{}: {} → {}", title, sides.label_a(), sides.label_b());
}

Part NamePart() {
  return {{"name", "category", kText}, [](const CounterRow& row) {
            const std::string name = base::Shortened(Printable(row.name), 60);
            return Cell{name, name};
          }};
}

Part FullNamePart() {
  return {{"full_name", "", kText, kMachines}, [](const CounterRow& row) {
            return row.is_category() ? Absent() : Cell{"", Printable(row.full_name)};
          }};
}

Part WorkgroupPart() {
  return {{"workgroup_items", "workgroup"}, [](const CounterRow& row) {
            return row.workgroup ? NumberCell(static_cast<std::int64_t>(*row.workgroup)) : Absent();
          }};
}

// OnlyPart says which side alone launches a kernel.
Part OnlyPart(const Sides& sides) {
  return {{"only_in", "", kText},
          [a = sides.label_a(), b = sides.label_b()](const CounterRow& row) {
            if (row.a && row.b) return Absent();
            const std::string& label = row.a ? a : b;
            return Cell{"only " + label, label};
          }};
}

Table TableOf(std::string id, std::string title, const std::vector<Part>& parts,
              std::span<const CounterRow> rows) {
  Table table{std::move(id), std::move(title), {}, {}, {}};
  for (const Part& part : parts) table.columns.push_back(part.column);
  for (const CounterRow& row : rows) {
    Row line;
    line.depth = row.is_category() ? 0 : 1;
    line.emphasis = row.is_category() ? Emphasis::kNone : Emphasis::kFaint;
    for (const Part& part : parts) line.cells.push_back(part.cell(row));
    table.rows.push_back(std::move(line));
  }
  return table;
}

// Variants may have generated other numbers of tokens, but not of none.
bool KnowsTokens(const Sides& sides) {
  const auto known = [](const Counted& side) { return side.tokens && Count(*side.tokens) > 0; };
  return known(sides.a) && (!sides.compares() || known(*sides.b));
}

// Launches as they are, and per token where tokens are known on both sides.
void AddLaunches(const Sides& sides, std::vector<Part>& parts) {
  const auto launches = [](const Tally& tally) { return static_cast<double>(tally.launches); };
  AddNumber(sides, "launches", "launches", launches, CountCell, parts);
  if (!KnowsTokens(sides)) return;
  const auto per_token = [](const std::optional<Tally>& tally, const Counted& side) {
    return tally ? std::optional(static_cast<double>(tally->launches) /
                                 static_cast<double>(Count(*side.tokens)))
                 : std::nullopt;
  };
  const auto cell_a = [per_token, &side = sides.a](const CounterRow& row) {
    return MeanCell(per_token(row.a, side));
  };
  if (!sides.compares()) {
    parts.push_back({{"launches_per_token", "per token"}, cell_a});
    return;
  }
  parts.pop_back();  // the change is that of launches per token
  parts.push_back({{"a_launches_per_token", "per token " + sides.label_a()}, cell_a});
  parts.push_back({{"b_launches_per_token", "per token " + sides.label_b()},
                   [per_token, &side = *sides.b](const CounterRow& row) {
                     return MeanCell(per_token(row.b, side));
                   }});
  parts.push_back(
      {{"change_of_launches_per_token", "Δ"}, [per_token, sides](const CounterRow& row) {
         return ChangeCell(analysis::Change(per_token(row.a, sides.a), per_token(row.b, *sides.b)));
       }});
}

Table LaunchTable(const Sides& sides, std::span<const CounterRow> rows, const std::string& suffix) {
  std::vector<Part> parts = {NamePart(), WorkgroupPart()};
  AddLaunches(sides, parts);
  AddResource(sides, "vgprs", "VGPR", &trace::Resources::vgpr, parts);
  AddResource(sides, "accum_vgprs", "AGPR", &trace::Resources::accum_vgpr, parts);
  AddResource(sides, "sgprs", "SGPR", &trace::Resources::sgpr, parts);
  AddResource(sides, "lds_bytes", "LDS", &trace::Resources::lds_bytes, parts);
  AddResource(sides, "scratch_bytes", "scratch", &trace::Resources::scratch_bytes, parts);
  if (sides.compares()) parts.push_back(OnlyPart(sides));
  parts.push_back(FullNamePart());
  Table table =
      TableOf("launches" + suffix, Titled("Launches, and what one takes", sides), parts, rows);
  table.notes.push_back(
      "VGPR, AGPR and SGPR in registers, LDS and scratch in bytes; where launches differ, the "
      "most.");
  return table;
}

// KeysOf makes a key for machines of each counter's name: "SQ_WAVES" is "sq_waves". Names are the
// profiler's, or anything; keys are unique and begin with a letter.
std::vector<std::string> KeysOf(std::span<const std::string> counters) {
  std::vector<std::string> keys;
  std::set<std::string> taken;
  std::map<std::string, int> copies;
  for (const std::string& counter : counters) {
    const bool named =
        !counter.empty() && std::isalpha(static_cast<unsigned char>(counter[0])) != 0;
    std::string key = named ? "" : "counter_";
    for (const char c : counter.substr(0, 60)) {
      const auto byte = static_cast<unsigned char>(c);
      key += byte < 128 && std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
    }
    std::string unique = key;
    while (!taken.insert(unique).second) unique = fmt::format("{}_{}", key, ++copies[key] + 1);
    keys.push_back(std::move(unique));
  }
  return keys;
}

// Counters of either side, A's first.
std::vector<std::string> CountersOf(const Sides& sides) {
  std::vector<std::string> counters = sides.a.counters;
  if (!sides.compares()) return counters;
  const std::set<std::string_view> known(sides.a.counters.begin(), sides.a.counters.end());
  for (const std::string& counter : sides.b->counters) {
    if (!known.contains(counter)) counters.push_back(counter);
  }
  return counters;
}

Table CounterTable(const Sides& sides, std::span<const CounterRow> rows,
                   const std::string& suffix) {
  std::vector<Part> parts = {NamePart(), WorkgroupPart()};
  const auto counters = CountersOf(sides);
  const auto keys = KeysOf(counters);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const auto mean = [name = counters[i]](const Tally& tally) -> std::optional<double> {
      const auto found = tally.counters.find(name);
      return found == tally.counters.end() ? std::nullopt : found->second.mean();
    };
    AddNumber(sides, keys[i] + "_per_launch", Printable(counters[i]), mean, MeanCell, parts);
  }
  parts.push_back(FullNamePart());
  return TableOf("counters" + suffix, Titled("Counters, mean of a launch", sides), parts, rows);
}

std::int64_t LaunchesOf(const Counted& counted) {
  std::int64_t launches = 0;
  for (const auto& kernel : counted.kernels) launches += kernel.tally.launches;
  return launches;
}

std::string Sentence(const Counted& counted) {
  const auto several = [](std::size_t count) { return count == 1 ? "" : "s"; };
  return fmt::format("{}: {} launches of {} kernel{}, {} counter{}.", Printable(counted.label),
                     base::Grouped(LaunchesOf(counted)), counted.kernels.size(),
                     several(counted.kernels.size()), counted.counters.size(),
                     several(counted.counters.size()));
}

// Counters that some launches of their passes have no value of: "SQ_WAVES 30 of 34".
std::string Incomplete(const Counted& counted) {
  std::string names;
  for (const auto& [counter, launches] : counted.launches_of_counter) {
    std::int64_t values = 0;
    for (const auto& kernel : counted.kernels) {
      const auto found = kernel.tally.counters.find(counter);
      if (found != kernel.tally.counters.end()) values += found->second.count;
    }
    if (values >= launches) continue;
    names += fmt::format("{}{} {} of {}", names.empty() ? "" : ", ", Printable(counter),
                         base::Grouped(values), base::Grouped(launches));
  }
  return names;
}

void AddNotes(const Counted& counted, bool several, std::vector<Note>& notes) {
  const std::string subject = several ? Printable(counted.label) + ": " : "";
  for (const auto& entry : counted.diagnostics.entries()) {
    Note note = FindingNote(entry);
    notes.push_back({note.level, note.id, subject + note.text});
  }
  if (const std::string names = Incomplete(counted); !names.empty()) {
    notes.push_back({Note::Level::kNotice, "values_missing",
                     fmt::format("{}not every launch has a value, and means are of those that "
                                 "have: {}",
                                 subject, names)});
  }
  const auto& passes = counted.launches_of_passes;
  if (std::adjacent_find(passes.begin(), passes.end(), std::not_equal_to<>()) != passes.end()) {
    std::string list;
    for (const std::int64_t launches : passes) {
      list += (list.empty() ? "" : ", ") + base::Grouped(launches);
    }
    notes.push_back(
        {Note::Level::kNotice, "passes_differ",
         fmt::format("{}passes launched different numbers of kernels: {}", subject, list)});
  }
  notes.push_back(
      {Note::Level::kInfo, "window",
       subject +
           (counted.tokens
                ? fmt::format("launches between the first token's arrival and the last's, "
                              "{} tokens; {} launches outside were left out",
                              base::Grouped(Count(*counted.tokens)), base::Grouped(counted.outside))
                : "all launches of the file: loading the model, warming up and reading the "
                  "prompt among them")});
}

// SameStretch tells whether decodes, or whole runs, were counted of all.
bool SameStretch(std::span<const Counted> variants) {
  return std::ranges::all_of(variants, [&](const Counted& counted) {
    return counted.tokens.has_value() == variants.front().tokens.has_value();
  });
}

}  // namespace

Report CountersReport(std::span<const Counted> variants, CountersContext context) {
  Report report{.kind = "counters", .title = Printable(context.title)};
  for (const Counted& counted : variants) report.headline.push_back(Sentence(counted));
  report.headline.emplace_back(
      "Counting makes kernels run one by one: none of this says how fast anything is.");
  for (const std::string& why : context.missing) {
    report.notes.push_back({Note::Level::kWarning, "missing", Printable(why)});
  }
  std::move(context.notes.begin(), context.notes.end(), std::back_inserter(report.notes));
  for (const Counted& counted : variants) AddNotes(counted, variants.size() > 1, report.notes);
  if (!SameStretch(variants)) {
    report.notes.push_back(
        {Note::Level::kWarning, "windows_differ",
         "of some variants the request's decode was counted, of others the whole "
         "run: their launches are not those of the same work; --whole counts "
         "whole runs of all"});
  }
  for (std::size_t i = std::min<std::size_t>(1, variants.size() - 1); i < variants.size(); ++i) {
    const Sides sides{variants.front(), i == 0 ? nullptr : &variants[i]};
    const std::string suffix = i < 2 ? "" : fmt::format("_{}", i);
    const auto rows = analysis::CounterRows(sides.a, sides.b);
    report.tables.push_back(LaunchTable(sides, rows, suffix));
    report.tables.push_back(CounterTable(sides, rows, suffix));
  }
  SortNotes(report.notes);
  return report;
}

}  // namespace culprit::report
