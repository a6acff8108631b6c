#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "trace/reader.h"

namespace culprit::trace {

// Readers lists all formats in the order in which they are asked.
std::span<const Reader> Readers();

// ReadTrace opens path (plain, gzip or xz), asks each reader, and reads with the first that says
// Mine. Fails with the reader's own sentence when one refuses, with kNotATrace when none knows it.
base::Result<Trace> ReadTrace(const std::string& path, const ReadOptions& options = {});
base::Result<Trace> ReadTrace(const sys::Source& source, const ReadOptions& options = {});

}  // namespace culprit::trace
