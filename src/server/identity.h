#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/process.h"
#include "sys/sha256.h"
#include "sys/stop_signal.h"

namespace culprit::server {

// LoadedObject is an executable or shared object and the SHA-256 of its bytes.
struct LoadedObject {
  std::string path;
  std::string sha256;
  bool operator==(const LoadedObject&) const = default;
};

// Identity is what a server is made of: its binary first, then the shared objects. Two servers with
// the same digest run the same code, wherever it lies.
struct Identity {
  std::vector<LoadedObject> objects;
  std::vector<std::string> missing;  // names that the loader did not find
  // What was not looked into, as a sentence part; absent when all was.
  std::optional<std::string> limit;

  // digest depends on the objects' bytes alone, not on their paths and order.
  [[nodiscard]] std::string digest() const;
};

// IdentifyBinary asks the loader which objects the binary would get in an environment. Backends
// that a server opens later (libggml-cuda.so) are not among them: IdentifyProcess finds those.
// A script or a static binary is only itself, and limit says so. Fails with kNotFound, kUnreadable,
// kEnvironment when the loader refuses, kInterrupted.
base::Result<Identity> IdentifyBinary(const std::string& binary,
                                      const sys::Environment& environment,
                                      const sys::FileHashes& hashes, const sys::StopSignal& stop);

// IdentifyProcess hashes every file that a live process has mapped as code. Fails with kNotFound
// when it has left and with kEnvironment when a file was replaced under it: what runs is no longer
// on disk then.
base::Result<Identity> IdentifyProcess(pid_t pid, const sys::FileHashes& hashes,
                                       const sys::StopSignal& stop);

// FindText is the path of the first object that holds text, absent when none does. Fails with
// kUnreadable, kInterrupted.
base::Result<std::optional<std::string>> FindText(const std::vector<LoadedObject>& objects,
                                                  std::string_view text,
                                                  const sys::StopSignal& stop);

}  // namespace culprit::server
