// Reader of Chrome's trace event format as PyTorch's profiler (Kineto) writes it, which is what
// vLLM and SGLang record: {"traceEvents": [event, …], …} or the bare array of events.
//
// Read as a stream. Stamps are µs with three decimals, to which baseTimeNanoseconds is added.
// Source: doc/formats/chrome.md.
#pragma once

#include "trace/reader.h"

namespace culprit::trace::chrome {

// Sniff also refuses any other JSON document, so this reader is asked after all that know one.
Verdict Sniff(const sys::Source& source);
// Read fails with kUnsupportedTrace when nothing ran on a GPU. It knows no pids:
// ReadOptions.process is not looked at.
base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options);

inline constexpr Reader kReader = {
    .name = "Chrome JSON",
    .versions = "Kineto of PyTorch 1.12 to 2.x",
    .sniff = Sniff,
    .read = Read,
};

}  // namespace culprit::trace::chrome
