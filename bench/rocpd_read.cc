// rocpd_read MODE FILE: reads a rocpd database in one of four ways and prints
// "<dispatches> <wall ms> <CPU ms> <peak KiB>" of this process.
//
//   analyze all that `culprit analyze FILE --whole --vocab 151936` does, up to the text it prints
//   reader  trace::ReadTrace
//   bare    a loop of sqlite3_step over the six columns that any analysis needs, one thread
//   view    sqlite3's group-by over the `kernels` view, as users write it
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/load_variant.h"
#include "report/analyze_report.h"
#include "report/writers.h"
#include "sys/sqlite.h"
#include "trace/registry.h"

namespace {

using culprit::sys::QuoteIdentifier;

struct Database {
  explicit Database(const std::string& path) {
    sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(handle); }
  sqlite3* handle = nullptr;
};

// ForEach steps through a query; visit returns what is to be counted.
template <typename Visit>
std::optional<std::int64_t> ForEach(const Database& database, const std::string& sql,
                                    Visit&& visit) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database.handle, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return std::nullopt;
  std::int64_t count = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) count += visit(statement);
  sqlite3_finalize(statement);
  return count;
}

std::optional<std::int64_t> ReadBare(const std::string& path) {
  const Database database(path);
  std::string table;
  ForEach(database,
          "SELECT name FROM sqlite_master WHERE type='table' AND name GLOB "
          "'rocpd_kernel_dispatch*'",
          [&](sqlite3_stmt* row) {
            table = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
            return 1;
          });
  std::int64_t sum = 0;
  auto rows = ForEach(database,
                      "SELECT start, \"end\", kernel_id, agent_id, queue_id, stream_id FROM " +
                          QuoteIdentifier(table),
                      [&](sqlite3_stmt* row) {
                        for (int column = 0; column < 6; ++column)
                          sum ^= sqlite3_column_int64(row, column);
                        return 1;
                      });
  if (sum == 42) fmt::print(stderr, "\n");  // the sum must not be optimised away
  return rows;
}

std::optional<std::int64_t> ReadView(const std::string& path) {
  return ForEach(Database(path), "SELECT name, count(*), sum(duration) FROM kernels GROUP BY name",
                 [](sqlite3_stmt* row) { return sqlite3_column_int64(row, 1); });
}

std::optional<std::int64_t> ReadWithReader(const std::string& path) {
  const auto trace = culprit::trace::ReadTrace(path);
  if (!trace) {
    fmt::print(stderr, "{}\n", trace.error().Text());
    return std::nullopt;
  }
  for (const auto& entry : trace->diagnostics.entries()) {
    const auto& info = culprit::base::Describe(entry.finding);
    fmt::print(stderr, "{}: {} {}\n", info.id, entry.count, entry.example);
  }
  return static_cast<std::int64_t>(trace->size());
}

std::optional<std::int64_t> Analyze(const std::string& path) {
  culprit::cli::AnalysisOptions options;
  options.whole = true;
  options.vocabulary = 151936;
  const auto variant = culprit::cli::LoadVariant({.label = "bench", .path = path}, options,
                                                 culprit::analysis::ShippedRules());
  if (!variant) {
    fmt::print(stderr, "{}\n", variant.error().Text());
    return std::nullopt;
  }
  const auto report = culprit::report::AnalyzeReport("bench", variant->analysis, 3, true);
  fmt::print(stderr, "{}", culprit::report::WriteTerminal(report, {}));
  return static_cast<std::int64_t>(variant->analysis.dispatches);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 3 ? argv[1] : "";
  const auto begin = std::chrono::steady_clock::now();
  std::optional<std::int64_t> rows;
  if (mode == "analyze") rows = Analyze(argv[2]);
  if (mode == "reader") rows = ReadWithReader(argv[2]);
  if (mode == "bare") rows = ReadBare(argv[2]);
  if (mode == "view") rows = ReadView(argv[2]);
  if (!rows) {
    fmt::print(stderr, "usage: rocpd_read analyze|reader|bare|view FILE\n");
    return 2;
  }
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double cpu = 1e3 * static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-3 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  fmt::print("{} {:.1f} {:.1f} {}\n", *rows, wall.count(), cpu, used.ru_maxrss);
  return 0;
}
