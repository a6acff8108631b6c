#include "collect/rocprofv3/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/number_format.h"
#include "collect/rocprofv3/rows.h"
#include "sys/sqlite.h"

namespace culprit::collect::rocprofv3 {
namespace {

using base::Nanos;
using base::Result;
using Kind = Verdict::Kind;

// Before the first kernel a server reads the request and makes tokens of it, behind the last it
// samples one and answers: it may be a quarter of a second away, or a tenth of a long request, but
// never a quarter of a short one.
Nanos Margin(const RequestTimes& request) {
  const Nanos length = request.ended - request.sent;
  return std::min(std::max<Nanos>(std::chrono::milliseconds(250), length / 10), length / 4);
}

Verdict Broken(const base::Error& error) {
  return {Kind::kBroken, "it cannot be read (" + error.message + ")"};
}

// What a file with a journal still holds, for the message.
Verdict Unfinished(const Result<Rows>& rows, const RequestTimes& request) {
  if (!rows || rows->dispatches == 0) {
    return {Kind::kUnfinished, "it was cut while it was written: its journal is beside it"};
  }
  const Nanos before_end = std::max(request.ended - rows->end, Nanos::zero());
  return {Kind::kUnfinished,
          fmt::format("it was cut while it was written: without what its journal takes back it "
                      "holds {} dispatches, the last of them {} before the request's end",
                      base::Grouped(static_cast<std::int64_t>(rows->dispatches)),
                      base::Seconds(before_end)),
          rows->dispatches};
}

Verdict VerifyDatabase(const sys::Source& source, const RequestTimes& request) {
  const auto database = sys::SqliteDatabase::Open(source);
  if (!database) return Broken(database.error());
  const auto rows = ReadDatabase(*database);
  if (database->recovered()) return Unfinished(rows, request);
  if (!rows) return Broken(rows.error());
  return Judge(*rows, request);
}

}  // namespace

Verdict Judge(const Rows& rows, const RequestTimes& request, const Pass& pass) {
  if (rows.dispatches == 0) return {Kind::kEmpty, "there is no dispatch in it"};
  const auto verdict = [&rows, &pass](Kind kind, std::string why) {
    const auto dispatches = pass.counts() ? rows.ids : rows.dispatches;
    return Verdict{kind, std::move(why), dispatches, rows.counters};
  };
  // Ids are the tool's count of launches: 1, 2, 3, …
  const auto range =
      static_cast<std::uint64_t>(rows.last_id) - static_cast<std::uint64_t>(rows.first_id) + 1;
  if (!pass.counts() && rows.ids < range) {
    return verdict(Kind::kGaps,
                   fmt::format("{} of {} dispatches are missing in it",
                               base::Grouped(static_cast<std::int64_t>(range - rows.ids)),
                               base::Grouped(static_cast<std::int64_t>(range))));
  }
  if (rows.end == base::HostTime()) {
    return verdict(Kind::kUncovered, "its dispatches carry no times");
  }
  const Nanos margin = Margin(request);
  if (rows.begin > request.sent + margin) {
    return verdict(Kind::kUncovered, fmt::format("its first dispatch is {} after the request's "
                                                 "beginning",
                                                 base::Seconds(rows.begin - request.sent)));
  }
  if (rows.end < request.ended - margin) {
    return verdict(Kind::kUncovered, fmt::format("its last dispatch is {} before the request's end",
                                                 base::Seconds(request.ended - rows.end)));
  }
  return verdict(Kind::kComplete, "");
}

Verdict Verify(const std::string& path, const RequestTimes& request, const Pass& pass) {
  const auto source = sys::Source::Open(path);
  if (!source) return Broken(source.error());
  if (!path.ends_with(".csv")) return VerifyDatabase(*source, request);
  const auto rows = ReadCsv(*source, pass);
  return rows ? Judge(*rows, request, pass) : Broken(rows.error());
}

}  // namespace culprit::collect::rocprofv3
