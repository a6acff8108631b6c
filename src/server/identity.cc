#include "server/identity.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/printable.h"
#include "sys/open_file.h"

namespace culprit::server {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using sys::StopSignal;

enum class BinaryKind { kDynamic, kStatic, kNoElf };

template <typename Header>
bool ReadHeader(const sys::Fd& file, std::uint64_t at, Header& header) {
  const std::span bytes(reinterpret_cast<char*>(&header), sizeof(header));
  return sys::ReadAt(file, at, bytes) == sizeof(header);
}

// Only what names an interpreter (PT_INTERP) is loaded by one; asking anything else to list its
// objects would run it.
Result<BinaryKind> KindOf(const std::string& path) {
  const auto file = sys::OpenFile(path, O_RDONLY);
  if (!file) return Fail(file.error());
  Elf64_Ehdr elf{};
  const bool is_elf = ReadHeader(*file, 0, elf) && std::memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
                      elf.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf) return BinaryKind::kNoElf;
  for (std::uint64_t i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (elf.e_phoff > INT64_MAX / 2) break;
    if (!ReadHeader(*file, elf.e_phoff + i * sizeof(segment), segment)) break;
    if (segment.p_type == PT_INTERP) return BinaryKind::kDynamic;
  }
  return BinaryKind::kStatic;
}

struct Resolved {
  std::vector<std::string> paths;
  std::vector<std::string> missing;
};

//   linux-vdso.so.1 (0x00007ffd…)
//   libllama.so.0 => /opt/x/lib/libllama.so.0 (0x00007f…)
//   libgone.so.1 => not found
//   /lib64/ld-linux-x86-64.so.2 (0x00007f…)
void ReadLoaderLine(std::string_view line, Resolved& resolved) {
  while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
  const auto arrow = line.find(" => ");
  const auto name = line.substr(0, arrow);
  if (arrow != std::string_view::npos) line.remove_prefix(arrow + 4);
  if (line.starts_with("not found")) {
    resolved.missing.emplace_back(name);
  } else if (const auto address = line.rfind(" (0x");
             line.starts_with('/') && address != std::string_view::npos) {
    resolved.paths.emplace_back(line.substr(0, address));
  }
}

Result<Resolved> AskLoader(const std::string& binary, const sys::Environment& environment) {
  std::error_code error;
  const fs::path path = fs::absolute(binary, error);
  if (error) return Fail(ErrorCode::kEnvironment, error.message(), binary);
  const auto listed = sys::RunCommand(
      {.argv = {path.string()},
       .environment = sys::WithVariable(environment, "LD_TRACE_LOADED_OBJECTS", "1")},
      std::chrono::seconds(20));
  if (!listed) return Fail(listed.error());
  if (!listed->ok()) {
    return Fail(ErrorCode::kEnvironment,
                fmt::format("its libraries cannot be listed ({}): {}", listed->exit.Text(),
                            base::Shortened(base::Printable(listed->err), 300)),
                binary);
  }
  Resolved resolved;
  std::string_view rest = listed->out;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    ReadLoaderLine(rest.substr(0, end), resolved);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return resolved;
}

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
  const auto kind = KindOf(binary);
  if (!kind) return Fail(kind.error());
  Identity identity;
  if (auto added = AddObject(binary, hashes, stop, identity); !added) return Fail(added.error());
  if (*kind == BinaryKind::kNoElf) identity.limit = "a script: only the file itself was hashed";
  if (*kind == BinaryKind::kStatic) identity.limit = "a static binary: it has no shared objects";
  if (*kind != BinaryKind::kDynamic) return identity;

  auto resolved = AskLoader(binary, environment);
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
