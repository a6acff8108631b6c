#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/variant.h"
#include "sys/process.h"

namespace culprit::server {

// LaunchOptions says which llama-server to start, and how.
struct LaunchOptions {
  std::vector<std::string> wrapper;  // a profiler's command line, before the server's; may be empty
  std::string binary;                // a path
  std::optional<std::string> model;
  std::vector<std::string> arguments;
  std::vector<experiment::EnvironmentChange> environment;  // in this order
  std::string working_directory;                           // "" is this process's
  std::uint16_t port = 8101;
  std::string log_file;  // gets stdout and stderr, appended
  // Told of the server before its program runs; see sys::ProcessOptions.
  std::function<base::Status(const sys::ProcessIdentity&)> before_exec = {};
};

// ProgramPath is the absolute path of the binary, which a server sees from its working directory.
std::string ProgramPath(const LaunchOptions& options);

// CommandLine is WRAPPER… BINARY --host 127.0.0.1 --port PORT [-m MODEL] ARGUMENTS….
std::vector<std::string> CommandLine(const LaunchOptions& options);

// ServerEnvironment is `inherited` with the changes of the options. LD_LIBRARY_PATH begins with the
// binary's own folder and the `lib` beside it, where they exist, because the optimization to test
// usually lives in a libggml-*.so; then comes what the options set, then what was inherited.
sys::Environment ServerEnvironment(const LaunchOptions& options, sys::Environment inherited);

}  // namespace culprit::server
