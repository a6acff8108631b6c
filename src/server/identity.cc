#include "server/identity.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sys/open_file.h"
#include "sys/shared_objects.h"

namespace culprit::server {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using sys::StopSignal;

// AddObject skips a file that is there already under another name.
Status AddObject(const std::string& path, const sys::FileHashes& hashes, const StopSignal& stop,
                 Identity& identity) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const std::string file = error ? path : real.string();
  const bool known = std::any_of(identity.objects.begin(), identity.objects.end(),
                                 [&](const LoadedObject& object) { return object.path == file; });
  if (known) return {};
  auto hash = hashes.Of(file, stop);
  if (!hash) return Fail(std::move(hash.error()));
  identity.objects.push_back({file, *std::move(hash)});
  return {};
}

// 7f12…000-7f12…000 r-xp 00026000 08:01 131105                     /usr/lib/libc.so.6
// The path begins behind five columns; \012 stands for a line feed in it.
std::optional<std::string> MappedCode(const std::string& line) {
  std::size_t at = 0;
  for (int column = 0; column < 5; ++column) {
    at = line.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    at = line.find_first_not_of(' ', at);
    if (at == std::string::npos) return std::nullopt;
    if (column == 0 && line.compare(at + 2, 1, "x") != 0) return std::nullopt;
  }
  std::string path = line.substr(at);
  if (!path.starts_with('/')) return std::nullopt;  // [vdso], [stack]
  for (auto escape = path.find("\\012"); escape != std::string::npos;
       escape = path.find("\\012", escape)) {
    path.replace(escape, 4, "\n");
  }
  return path;
}

}  // namespace

std::string Identity::digest() const {
  std::vector<std::string> hashes;
  for (const LoadedObject& object : objects) hashes.push_back(object.sha256);
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  sys::Sha256 all;
  for (const std::string& hash : hashes) all.Update(hash);
  return all.Hex();
}

Result<Identity> IdentifyBinary(const std::string& binary, const sys::Environment& environment,
                                const sys::FileHashes& hashes, const StopSignal& stop) {
  const auto kind = sys::KindOf(binary);
  if (!kind) return Fail(kind.error());
  Identity identity;
  if (auto added = AddObject(binary, hashes, stop, identity); !added) return Fail(added.error());
  if (*kind == sys::BinaryKind::kNoElf)
    identity.limit = "a script: only the file itself was hashed";
  if (*kind == sys::BinaryKind::kStatic)
    identity.limit = "a static binary: it has no shared objects";
  if (*kind != sys::BinaryKind::kDynamic) return identity;

  auto resolved = sys::AskLoader(binary, environment);
  if (!resolved) return Fail(std::move(resolved.error()));
  identity.missing = std::move(resolved->missing);
  for (const std::string& path : resolved->paths) {
    if (auto added = AddObject(path, hashes, stop, identity); !added) return Fail(added.error());
  }
  return identity;
}

Result<Identity> IdentifyProcess(pid_t pid, const sys::FileHashes& hashes, const StopSignal& stop) {
  std::error_code gone;
  const fs::path binary = fs::read_symlink(fmt::format("/proc/{}/exe", pid), gone);
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  if (gone || !maps) {
    return Fail(ErrorCode::kNotFound, "the process has left", fmt::format("pid {}", pid));
  }
  std::vector<std::string> paths = {binary};
  for (std::string line; std::getline(maps, line);) {
    if (auto path = MappedCode(line); path && *path != paths.back()) paths.push_back(*path);
  }
  Identity identity;
  for (const std::string& path : paths) {
    if (path.ends_with(" (deleted)")) {
      return Fail(ErrorCode::kEnvironment, "was replaced while the server runs from it", path,
                  "deploy builds into folders of their own");
    }
    if (auto added = AddObject(path, hashes, stop, identity); !added) return Fail(added.error());
  }
  return identity;
}

Result<std::optional<std::string>> FindText(const std::vector<LoadedObject>& objects,
                                            std::string_view text, const StopSignal& stop) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  for (const LoadedObject& object : objects) {
    const auto file = sys::OpenFile(object.path, O_RDONLY);
    if (!file) return Fail(file.error());
    // Read, not mapped: a file that shrinks under a mapping kills who reads it.
    std::string window;
    std::vector<char> buffer(kStep);
    std::size_t got = kStep;
    for (std::uint64_t at = 0; got == kStep; at += got) {
      if (stop.requested()) return Fail(sys::Interrupted());
      got = sys::ReadAt(*file, at, buffer);
      window.append(buffer.data(), got);
      if (::memmem(window.data(), window.size(), text.data(), text.size()) != nullptr) {
        return std::optional(object.path);
      }
      // What may be the beginning of the text is looked at again with what follows.
      const std::size_t kept = std::min(window.size(), text.empty() ? 0 : text.size() - 1);
      window.erase(0, window.size() - kept);
    }
  }
  return std::nullopt;
}

}  // namespace culprit::server
