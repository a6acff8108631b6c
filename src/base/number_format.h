// number_format: the only place where a measured number becomes text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace culprit::base {

// Millis writes a duration per token or per step with 3 decimals: "1.955". Signed puts a sign on
// everything but zero: "+1.955", "0.000".
std::string Millis(NanosF time);
std::string SignedMillis(NanosF time);

// Micros writes µs with 2 decimals, as for one launch: "13.50".
std::string Micros(NanosF time);

// Percent writes a fraction as percent with 1 decimal: "95.3 %"; SignedPercent with a sign.
std::string Percent(Fraction fraction);
std::string SignedPercent(Fraction fraction);

// FinePercent has 2 decimals, for changes of whole runs, which matter from 1 % on: "0.79 %".
std::string FinePercent(Fraction fraction);
std::string SignedFinePercent(Fraction fraction);

// Rate writes how many things a cost per thing makes in a second, with 2 decimals: "64.14".
std::string Rate(NanosF cost);

// Plain writes a count that may be broken (launches per step): "145", "0.27", "558".
std::string Plain(double value);

// Significant writes a small number with 3 digits that count: "0.0123", "1.2e-07", "infinite".
std::string Significant(double value);

// NearOne writes what lies close to 1, with 5 decimals: "0.99932".
std::string NearOne(double value);

// Grouped writes an integer with thin groups: "3,300,000".
std::string Grouped(std::int64_t value);

// Seconds writes a stretch of time for people: "1.871 s", "35.2 ms", "4.9 µs", "860 ns".
std::string Seconds(Nanos time);

// Roughly writes a stretch of time that is an estimate: "40 s", "6 min", "2 h".
std::string Roughly(Nanos time);

// Bytes writes a size for people: "640 bytes", "37.0 KiB", "12.3 MiB", "1.4 GiB".
std::string Bytes(std::uint64_t size);

// Exact writes a number for machines: the shortest text that reads back as the same double,
// "0.923", "145", "1e-07". What is no number (NaN, infinities) is absent.
std::optional<std::string> Exact(double value);

}  // namespace culprit::base
