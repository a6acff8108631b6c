#pragma once

#include "trace/reader.h"

namespace culprit::trace::ggml_ops {

// Sniff knows the file by its first eight bytes; it refuses versions that are not read.
Verdict Sniff(const sys::Source& source);

// Read makes each node a dispatch, each backend a device and each scheduler a lane. Stamps are
// CLOCK_BOOTTIME. Fails with kDamagedTrace when the header breaks off.
// Source: doc/formats/ggml-ops.md.
base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options);

inline constexpr Reader kReader = {
    .name = "ggml ops",
    .versions = "culprit's own, version 1",
    .sniff = Sniff,
    .read = Read,
};

}  // namespace culprit::trace::ggml_ops
