#include "sys/shared_objects.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <span>

#include "base/printable.h"
#include "sys/open_file.h"

namespace culprit::sys {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;

template <typename Header>
bool ReadHeader(const Fd& file, std::uint64_t at, Header& header) {
  const std::span bytes(reinterpret_cast<char*>(&header), sizeof(header));
  return ReadAt(file, at, bytes) == sizeof(header);
}

bool ReadElfHeader(const Fd& file, Elf64_Ehdr& elf) {
  return ReadHeader(file, 0, elf) && std::memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
         elf.e_ident[EI_CLASS] == ELFCLASS64;
}

//   linux-vdso.so.1 (0x00007ffd…)
//   libllama.so.0 => /opt/x/lib/libllama.so.0 (0x00007f…)
//   libgone.so.1 => not found
//   /lib64/ld-linux-x86-64.so.2 (0x00007f…)
void ReadLoaderLine(std::string_view line, SharedObjects& resolved) {
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

// Section is the content of a section; empty when it does not lie in the file or is larger than any
// symbol table of a library.
std::string Section(const Fd& file, const Elf64_Shdr& section) {
  constexpr std::uint64_t kLargest = std::uint64_t{256} << 20;
  if (section.sh_size > kLargest || section.sh_offset > INT64_MAX / 2) return {};
  std::string bytes(section.sh_size, '\0');
  return ReadAt(file, section.sh_offset, bytes) == bytes.size() ? bytes : std::string();
}

// Defines looks for a symbol that has a place in this object among the dynamic ones.
bool Defines(std::string_view symbols, std::string_view names, std::string_view function) {
  Elf64_Sym symbol;
  for (; symbols.size() >= sizeof symbol; symbols.remove_prefix(sizeof symbol)) {
    std::memcpy(&symbol, symbols.data(), sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
    const std::string_view name = names.substr(symbol.st_name);
    if (name.substr(0, name.find('\0')) == function) return true;
  }
  return false;
}

}  // namespace

Result<BinaryKind> KindOf(const std::string& path) {
  const auto file = OpenFile(path, O_RDONLY);
  if (!file) return Fail(file.error());
  Elf64_Ehdr elf{};
  if (!ReadElfHeader(*file, elf)) return BinaryKind::kNoElf;
  for (std::uint64_t i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (elf.e_phoff > INT64_MAX / 2) break;
    if (!ReadHeader(*file, elf.e_phoff + i * sizeof(segment), segment)) break;
    if (segment.p_type == PT_INTERP) return BinaryKind::kDynamic;
  }
  return BinaryKind::kStatic;
}

Result<SharedObjects> AskLoader(const std::string& binary, const Environment& environment) {
  std::error_code error;
  const fs::path path = fs::absolute(binary, error);
  if (error) return Fail(ErrorCode::kEnvironment, error.message(), binary);
  const auto listed =
      RunCommand({.argv = {path.string()},
                  .environment = WithVariable(environment, "LD_TRACE_LOADED_OBJECTS", "1")},
                 std::chrono::seconds(20));
  if (!listed) return Fail(listed.error());
  if (!listed->ok()) {
    return Fail(ErrorCode::kEnvironment,
                fmt::format("its libraries cannot be listed ({}): {}", listed->exit.Text(),
                            base::Shortened(base::Printable(listed->err), 300)),
                binary);
  }
  SharedObjects resolved;
  std::string_view rest = listed->out;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    ReadLoaderLine(rest.substr(0, end), resolved);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return resolved;
}

bool Exports(const std::string& object, std::string_view function) {
  const auto file = OpenFile(object, O_RDONLY);
  Elf64_Ehdr elf{};
  if (!file || !ReadElfHeader(*file, elf) || elf.e_shoff > INT64_MAX / 2) return false;
  const auto section_at = [&](std::uint64_t index, Elf64_Shdr& section) {
    return index < elf.e_shnum && ReadHeader(*file, elf.e_shoff + index * sizeof section, section);
  };
  for (std::uint64_t i = 0; i < elf.e_shnum; ++i) {
    Elf64_Shdr symbols{}, names{};
    if (!section_at(i, symbols)) return false;
    if (symbols.sh_type != SHT_DYNSYM || !section_at(symbols.sh_link, names)) continue;
    if (Defines(Section(*file, symbols), Section(*file, names), function)) return true;
  }
  return false;
}

}  // namespace culprit::sys
