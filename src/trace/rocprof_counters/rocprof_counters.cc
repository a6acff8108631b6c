#include "trace/rocprof_counters/rocprof_counters.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/printable.h"
#include "sys/csv_rows.h"
#include "trace/csv_fields.h"
#include "trace/demangle.h"
#include "trace/rocprof_counters/columns.h"

namespace culprit::trace::rocprof_counters {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Result;
using Fields = std::span<const sys::CsvField>;

// No hardware counts further, and sums of such values stay finite.
constexpr double kMostValue = 1e19;

// Value is what a row says of a counter: a number, or that there is none.
struct Value {
  std::optional<double> number;
};

// "16283.000000" and "0.00000000e+00"; "nan" and "-nan" where a ratio divides by nothing. Absent
// for what makes no sense.
std::optional<Value> ParseValue(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (std::isnan(number)) return Value{};
  if (!(number >= 0 && number <= kMostValue)) return std::nullopt;
  return Value{number};
}

// SeenDispatch is a dispatch some of whose rows were read. counters are the first 64 as bits: a
// pass has room for ten or so.
struct SeenDispatch {
  base::StringId name;
  std::optional<std::size_t> kernel;  // absent outside the window
  std::uint64_t counters = 0;
};

// CounterReader adds up the rows of one file.
class CounterReader {
 public:
  CounterReader(Columns columns, const std::string& path, const std::optional<CountWindow>& window)
      : columns_(std::move(columns)), window_(window) {
    set_.path = path;
  }

  base::Status ReadAll(sys::CsvRows& rows);
  Result<CounterSet> Finish() &&;

 private:
  using Key = std::tuple<base::StringId, Geometry, Resources>;

  base::Status KeepWhatWasRead(const base::Error& error);
  // Each of these is false, or absent, when the row makes no sense.
  bool AddRow(Fields row);
  std::optional<SeenDispatch> BeginDispatch(Fields row, base::StringId name);
  std::optional<CounterId> CounterNamed(const sys::CsvField& name);
  bool ParseResources(Fields row, Resources& resources) const;
  bool ParseGeometry(Fields row, Geometry& geometry) const;
  bool IsNew(SeenDispatch& dispatch, CounterId counter);
  void AddValue(SeenDispatch& dispatch, CounterId counter, const Value& value);

  template <typename T>
  bool Parse(Fields row, Column column, std::optional<T>& value) const {
    return TakeNumber(columns_.Get(row, column).text, value);
  }

  Columns columns_;
  std::optional<CountWindow> window_;
  CounterSet set_;
  // Dispatch ids count on their own in each process and agent, and under each header: files may
  // have been joined.
  std::unordered_map<std::string, std::unordered_map<std::int64_t, SeenDispatch>> scopes_;
  std::set<std::pair<const SeenDispatch*, CounterId>> more_counters_;  // beyond the first 64
  std::int64_t headers_ = 1;
  std::map<Key, std::size_t> kernels_;
  std::map<base::StringId, CounterId> counters_;
  std::string scratch_;
};

base::Status CounterReader::ReadAll(sys::CsvRows& rows) {
  const auto count = [&](Finding finding) {
    set_.diagnostics.Add(finding, 1, fmt::format("line {}", rows.line()));
  };
  for (;;) {
    const auto state = rows.Next();
    if (!state) return KeepWhatWasRead(state.error());
    if (*state == sys::CsvRows::State::kEnd) return {};
    if (*state == sys::CsvRows::State::kTorn) {
      count(Finding::kTornTail);
      continue;
    }
    const bool whole = *state != sys::CsvRows::State::kTooLong;
    if (whole && columns_.IsHeader(rows.fields())) {
      auto columns = Columns::Find(rows.fields(), window_.has_value());
      if (!columns) {
        return Fail(std::move(columns.error()).In(fmt::format("line {}", rows.line())));
      }
      columns_ = *std::move(columns);
      ++headers_;
    } else if (!whole || !AddRow(rows.fields())) {
      count(Finding::kMalformedRow);
    }
  }
}

// A compressed file that breaks off is worth what came before the break.
base::Status CounterReader::KeepWhatWasRead(const base::Error& error) {
  if (error.code != ErrorCode::kDamagedTrace) return Fail(error);
  set_.diagnostics.Add(Finding::kTruncatedFile, 1, error.message);
  return {};
}

// "1","1","Agent 1","1","2684167","2684167","1024","6","__amd_rocclr_copyBuffer","512","0","0",
// "16","0","128","GRBM_GUI_ACTIVE","16283.000000","342343619401537","342343619411517"
bool CounterReader::AddRow(Fields row) {
  if (row.size() != columns_.width()) return false;
  std::optional<std::int64_t> id;
  const auto value = ParseValue(columns_.Get(row, Column::kValue).text);
  const sys::CsvField name = columns_.Get(row, Column::kName);
  if (!value || !Parse(row, Column::kDispatchId, id) || !id || name.text.empty()) return false;
  const auto counter = CounterNamed(columns_.Get(row, Column::kCounter));
  if (!counter) return false;
  const Column process = columns_.Has(Column::kGuid) ? Column::kGuid : Column::kProcess;
  auto& scope = scopes_[fmt::format("{}\n{}\n{}", headers_, columns_.Get(row, process).text,
                                    AgentNumber(columns_.Get(row, Column::kAgent).text))];
  const base::StringId kernel = set_.strings.Intern(WithoutSuffixes(Unquoted(name, scratch_)));
  auto found = scope.find(*id);
  if (found == scope.end()) {
    const auto begun = BeginDispatch(row, kernel);
    if (!begun) return false;
    found = scope.emplace(*id, *begun).first;
  }
  if (found->second.name != kernel) return false;  // one dispatch runs one kernel
  AddValue(found->second, *counter, *value);
  return true;
}

std::optional<SeenDispatch> CounterReader::BeginDispatch(Fields row, base::StringId name) {
  Geometry geometry;
  Resources resources;
  if (!ParseGeometry(row, geometry) || !ParseResources(row, resources)) return std::nullopt;
  if (window_) {
    std::optional<std::int64_t> start;
    if (!Parse(row, Column::kStart, start) || !start) return std::nullopt;
    const base::HostTime began{base::Nanos(*start)};
    if (began <= window_->after || began > window_->until) {
      ++set_.outside;
      return SeenDispatch{name, std::nullopt};
    }
  }
  const auto [kernel, fresh] =
      kernels_.try_emplace(Key{name, geometry, resources}, set_.kernels.size());
  if (fresh) set_.kernels.push_back({name, geometry, resources, 0, {}});
  ++set_.kernels[kernel->second].launches;
  ++set_.launches;
  return SeenDispatch{name, kernel->second};
}

// IsNew remembers that a dispatch has a counter, and is false when it had it before.
bool CounterReader::IsNew(SeenDispatch& dispatch, CounterId counter) {
  if (counter.index() >= 64) return more_counters_.emplace(&dispatch, counter).second;
  const std::uint64_t bit = std::uint64_t{1} << counter.index();
  const bool is_new = (dispatch.counters & bit) == 0;
  dispatch.counters |= bit;
  return is_new;
}

void CounterReader::AddValue(SeenDispatch& dispatch, CounterId counter, const Value& value) {
  if (!IsNew(dispatch, counter)) {
    set_.diagnostics.Add(Finding::kDuplicateDispatches);
    return;
  }
  if (!dispatch.kernel) return;
  if (!value.number) {
    set_.diagnostics.Add(Finding::kValuelessCounter, 1,
                         base::Printable(set_.strings.Get(set_.counters[counter.index()])));
    return;
  }
  set_.kernels[*dispatch.kernel].counters[counter].Add({*value.number, 1});
}

std::optional<CounterId> CounterReader::CounterNamed(const sys::CsvField& name) {
  const std::string_view text = Unquoted(name, scratch_);
  if (text.empty()) return std::nullopt;
  const base::StringId id = set_.strings.Intern(text);
  const auto known = counters_.find(id);
  if (known != counters_.end()) return known->second;
  const CounterId counter(set_.counters.size());
  set_.counters.push_back(id);
  counters_.emplace(id, counter);
  return counter;
}

bool CounterReader::ParseResources(Fields row, Resources& resources) const {
  return Parse(row, Column::kVgpr, resources.vgpr) &&
         Parse(row, Column::kAccumVgpr, resources.accum_vgpr) &&
         Parse(row, Column::kSgpr, resources.sgpr) &&
         Parse(row, Column::kLds, resources.lds_bytes) &&
         Parse(row, Column::kScratch, resources.scratch_bytes);
}

// A grid is counted in work-items. Where a row has products of the dimensions, y and z are 1.
bool CounterReader::ParseGeometry(Fields row, Geometry& geometry) const {
  const bool apart = columns_.Has(Column::kBlockX);
  const Column grids[] = {apart ? Column::kGridX : Column::kGrid, Column::kGridY, Column::kGridZ};
  const Column blocks[] = {apart ? Column::kBlockX : Column::kBlock, Column::kBlockY,
                           Column::kBlockZ};
  std::optional<std::uint32_t> grid[3], block[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!Parse(row, grids[i], grid[i]) || !Parse(row, blocks[i], block[i])) return false;
  }
  if (!grid[0] || !block[0]) return true;
  const auto sizes = [](const auto& parsed) {
    return Sizes{*parsed[0], parsed[1].value_or(1), parsed[2].value_or(1)};
  };
  geometry = GridInBlocks(MakeGeometry(sizes(grid), sizes(block)));
  return true;
}

Result<CounterSet> CounterReader::Finish() && {
  if (set_.launches == 0 && set_.outside > 0) {
    return Fail(ErrorCode::kNoWindow,
                fmt::format("none of its {} dispatches lies in the request's decode", set_.outside),
                set_.path,
                "is this the request that was counted, of the same start of the machine?");
  }
  if (set_.launches == 0) {
    return Fail(ErrorCode::kNotATrace, "holds no dispatch", set_.path,
                "did the server run on the GPU (-ngl)?");
  }
  std::int64_t cut = 0;
  for (const auto& [key, index] : kernels_) {
    cut += IsCut(set_.strings.Get(std::get<base::StringId>(key))) ? 1 : 0;
  }
  set_.diagnostics.Add(Finding::kTruncatedNames, cut);
  return std::move(set_);
}

}  // namespace

Result<CounterSet> Read(const sys::Source& source, const std::optional<CountWindow>& window) {
  auto stream = source.Stream();
  if (!stream) return Fail(std::move(stream.error()));
  sys::CsvRows rows(**stream);
  const auto header = rows.Next();
  if (!header) return Fail(header.error());
  if (*header != sys::CsvRows::State::kRow) {
    return Fail(ErrorCode::kDamagedTrace, "the file breaks off in its header", source.path(),
                "count again, or copy the file again");
  }
  auto columns = Columns::Find(rows.fields(), window.has_value());
  if (!columns) return Fail(std::move(columns.error()).In(source.path()));
  CounterReader reader(*std::move(columns), source.path(), window);
  if (auto done = reader.ReadAll(rows); !done) {
    return Fail(std::move(done.error()).In(source.path()));
  }
  return std::move(reader).Finish();
}

}  // namespace culprit::trace::rocprof_counters
