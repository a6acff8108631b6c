#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/collector.h"

namespace culprit::collect::ggml_ops {

// FileOf is the path of a process's trace. ListTraces are the names of all in a folder, sorted.
std::string FileOf(const std::string& folder, pid_t pid);
std::vector<std::string> ListTraces(const std::string& folder);

// ChooseTrace is the name of the server's: that of the process itself, else the largest, because
// what was started may be a script whose child is the server. Empty without any.
std::string ChooseTrace(const std::vector<std::string>& names, const std::string& folder,
                        pid_t pid);

// End is the last record of a trace: when it was written, and the signal that killed the process,
// 0 for none.
struct End {
  base::HostTime at;
  std::uint32_t signal;
};

// ReadEnd is absent as long as there is none.
std::optional<End> ReadEnd(const std::string& path);

// CheckWhole fails with kDamagedTrace when the file has no end, has one that a signal wrote, or was
// ended before the request was.
base::Status CheckWhole(const std::string& path, const RequestTimes& request);

}  // namespace culprit::collect::ggml_ops
