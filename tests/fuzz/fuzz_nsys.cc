// A small export in which the input changes bytes: each three bytes of it are an offset and a
// value; the last one or two bytes left over cut the file. So every input is nearly a database.
#include <cstdint>
#include <string>

#include "read_and_check.h"
#include "sys/sample_files.h"
#include "trace/nsys/nsys.h"

namespace {

constexpr const char* kSql = R"(
  PRAGMA page_size = 512;
  CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
  CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
    streamId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER,
    gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, copyKind);
  CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId, graphId);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, nameId);
  INSERT INTO StringIds VALUES (1, 'k<1>(int)'), (2, 'cudaLaunchKernel');
  INSERT INTO TARGET_INFO_GPU VALUES (0, 'GPU');
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
      SELECT i * 100, i * 100 + 50, 0, 7, 281474976710656 + i, 1, i, 1, 1, 256, 1, 1 FROM n;
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5000, 5100, 0, 7, 1);
  INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (6000, 6100, 0, 7, 1);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90, 95, 1, 2);)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  static const std::string kExport = sys::MakeDatabase(kSql);
  std::string bytes = kExport;
  for (; size >= 3; data += 3, size -= 3) {
    bytes[(data[0] * 256u + data[1]) % bytes.size()] = static_cast<char>(data[2]);
  }
  if (size > 0) bytes.resize(bytes.size() * data[0] / 256);
  trace::ReadOptions options;
  options.full_check = size > 0;
  trace::ReadAndCheck(trace::nsys::kReader,
                      sys::Source::FromMemory("fuzz.sqlite", std::move(bytes)), options);
  return 0;
}
