// The first byte of the input chooses a fixture; each three bytes after it are an offset and a
// value that change the database made from it; the last one or two left over cut the file. So every
// input is nearly a rocpd database.
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "read_and_check.h"
#include "sys/sample_files.h"
#include "trace/demangle.h"
#include "trace/rocpd/rocpd.h"

namespace {

constexpr std::array kFixtures = {"schema_3_0_0.sql", "schema_3_0_2.sql", "schema_4.sql",
                                  "two_uuids.sql", "two_guids_in_a_table.sql"};

std::string ReadFixture(const char* fixture) {
  std::ifstream in(std::string(CULPRIT_SOURCE_DIR "/tests/fixtures/rocpd/") + fixture);
  const std::string sql =
      "PRAGMA page_size = 512;" + std::string(std::istreambuf_iterator<char>(in), {});
  return culprit::sys::MakeDatabase(sql);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  static const std::array<std::string, kFixtures.size()> kDatabases = [] {
    std::array<std::string, kFixtures.size()> databases;
    for (std::size_t i = 0; i < kFixtures.size(); ++i) databases[i] = ReadFixture(kFixtures[i]);
    return databases;
  }();
  if (size == 0) return 0;
  static_cast<void>(trace::Demangled({reinterpret_cast<const char*>(data), size}));
  std::string bytes = kDatabases[data[0] % kDatabases.size()];
  for (++data, --size; size >= 3; data += 3, size -= 3) {
    bytes[(data[0] * 256u + data[1]) % bytes.size()] = static_cast<char>(data[2]);
  }
  if (size > 0) bytes.resize(bytes.size() * data[0] / 256);
  trace::ReadOptions options;
  options.full_check = size > 1;
  trace::ReadAndCheck(trace::rocpd::kReader, sys::Source::FromMemory("fuzz.db", std::move(bytes)),
                      options);
  return 0;
}
