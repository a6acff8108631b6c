#include <cstddef>
#include <cstdint>
#include <string>

#include "inject/wire/ggml_ops.h"
#include "read_and_check.h"
#include "trace/ggml_ops/ggml_ops.h"

// The magic is put in front, and a header where the first byte is odd, so that little time is spent
// on finding them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  std::string bytes(CULPRIT_OPS_MAGIC, 8);
  if (size > 0 && data[0] % 2 == 1) {
    const culprit_ops_header header{{}, CULPRIT_OPS_VERSION, sizeof header, 7, 1, 1};
    bytes.append(reinterpret_cast<const char*>(&header) + 8, sizeof header - 8);
  }
  bytes.append(reinterpret_cast<const char*>(data), size);
  trace::ReadAndCheck(trace::ggml_ops::kReader,
                      sys::Source::FromMemory("fuzz.ggml-ops", std::move(bytes)));
  return 0;
}
