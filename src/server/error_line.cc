#include "server/error_line.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/printable.h"

namespace culprit::server {
namespace {

constexpr std::size_t kLongest = 300;

// What only a line that explains a crash says. Sources: ggml, glibc and its loader, ROCm's
// profiler.
constexpr std::array<std::string_view, 12> kCrash = {
    "GGML_ASSERT",
    "GGML_ABORT",
    "CUDA error",
    "ROCm error",
    "HIP error",
    "SYCL error",
    "vk::",
    "error while loading shared libraries",
    "symbol lookup error",
    "terminate called",
    "ROCPROFILER_STATUS_ERROR",
    "hsa_ven_amd_aqlprofile",
};

// What a line says that explains why a server did not get ready. Source: llama.cpp.
constexpr std::array<std::string_view, 11> kRefusal = {
    "failed to open GGUF file",
    "invalid magic characters",
    "error loading model",
    "failed to load model",
    "no backends are loaded",
    "failed to allocate",
    "failed to create context",
    "error: invalid argument",
    "unknown argument",
    "error while handling argument",
    "couldn't bind",
};

// The last one is rocprofv3's, which some releases go on after.
constexpr std::array<std::string_view, 5> kComplaint = {"error:", "Error:", "failed to", "fatal",
                                                        "Unable to find all counters"};

template <std::size_t N>
bool SaysOneOf(std::string_view line, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [line](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

std::string_view TakeLine(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// A backend that is left out (another one may do) and a request that is refused end no server.
bool HasErrorLevel(std::string_view line) {
  const auto text = WithoutPrefix(line);
  return text.size() < line.size() && line[line.size() - text.size() - 2] == 'E' &&
         !text.starts_with("load_backend") && text.find("send_error") == std::string_view::npos;
}

std::string ForPeople(std::string_view line) {
  line = WithoutPrefix(line).substr(0, 4 * kLongest);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  return base::Shortened(base::Printable(line), kLongest);
}

}  // namespace

// 0.00.025.162 E llama_model_load: error loading model: …
std::string_view WithoutPrefix(std::string_view line) {
  std::size_t at = 0;
  int dots = 0;
  while (at < line.size() && at < 24 &&
         (std::isdigit(static_cast<unsigned char>(line[at])) != 0 || line[at] == '.')) {
    dots += line[at++] == '.' ? 1 : 0;
  }
  const bool prefixed =
      dots == 3 && line.size() >= at + 3 && line[at] == ' ' && line[at + 2] == ' ';
  return prefixed ? line.substr(at + 3) : line;
}

std::optional<std::string> FirstErrorLine(std::string_view log) {
  std::optional<std::string_view> refusal, complaint;
  while (!log.empty()) {
    const auto line = TakeLine(log);
    if (SaysOneOf(line, kCrash)) {
      // terminate called after throwing an instance of 'std::runtime_error'
      //   what():  failed to parse …
      const auto next = log.substr(0, log.find('\n'));
      const bool goes_on = line.find("terminate called") != std::string_view::npos &&
                           next.find("what():") != std::string_view::npos;
      return ForPeople(line) + (goes_on ? " " + ForPeople(next) : "");
    }
    if (!refusal && (SaysOneOf(line, kRefusal) || HasErrorLevel(line))) refusal = line;
    if (!complaint && SaysOneOf(line, kComplaint)) complaint = line;
  }
  if (!refusal) refusal = complaint;
  if (!refusal) return std::nullopt;
  return ForPeople(*refusal);
}

}  // namespace culprit::server
