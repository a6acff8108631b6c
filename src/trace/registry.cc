#include "trace/registry.h"

#include <array>

#include "trace/chrome/chrome.h"
#include "trace/ggml_ops/ggml_ops.h"
#include "trace/nsys/nsys.h"
#include "trace/rocpd/rocpd.h"
#include "trace/rocprof_csv/rocprof_csv.h"
#include "trace/rocprof_json/rocprof_json.h"

namespace culprit::trace {

std::span<const Reader> Readers() {
  static constexpr std::array kReaders = {
      ggml_ops::kReader,     rocpd::kReader,  nsys::kReader,
      rocprof_json::kReader, chrome::kReader, rocprof_csv::kReader,
  };
  return kReaders;
}

base::Result<Trace> ReadTrace(const sys::Source& source, const ReadOptions& options) {
  for (const Reader& reader : Readers()) {
    const Verdict verdict = reader.sniff(source);
    if (const auto* refused = std::get_if<Refused>(&verdict)) {
      return base::Fail(base::Error(refused->error).In(source.path()));
    }
    if (std::holds_alternative<Mine>(verdict)) return reader.read(source, options);
  }
  if (sys::IsCompressed(source.head())) {
    return base::Fail(base::ErrorCode::kNotATrace, "is compressed twice", source.path(),
                      "unpack it once");
  }
  std::string known;
  for (const Reader& reader : Readers())
    known += (known.empty() ? "" : ", ") + std::string(reader.name);
  return base::Fail(base::ErrorCode::kNotATrace, "is no trace that culprit knows", source.path(),
                    "known formats: " + known);
}

base::Result<Trace> ReadTrace(const std::string& path, const ReadOptions& options) {
  auto source = sys::Source::Open(path);
  if (!source) return base::Fail(std::move(source.error()));
  return ReadTrace(*source, options);
}

}  // namespace culprit::trace
