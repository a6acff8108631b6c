#include "server/log.h"

#include <algorithm>
#include <charconv>

#include "server/error_line.h"

namespace culprit::server {
namespace {

using base::NanosF;
using base::Tokens;
using experiment::DraftCounters;
using experiment::ServerTimings;

// Cursor reads numbers from a line, skipping blanks and expected words.
class Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}

  // After moves behind the first occurrence of word.
  bool After(std::string_view word) {
    const auto at = rest_.find(word);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + word.size());
    return true;
  }
  template <typename Number>
  std::optional<Number> Read() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Numbers beyond these are no request's: 115 days, and more tokens than any context holds.
constexpr double kLongestMs = 1e10;
constexpr std::int64_t kMostTokens = 1'000'000'000;
constexpr double kMostMib = 1e9;
// No more than this is kept of a hostile log.
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kMostEntries = 20;

struct TimingLine {
  NanosF time;
  Tokens tokens;
};

//   prompt eval time =    1599.98 ms / 20000 tokens (    0.08 ms per token, 12500.16 tokens per s…
//          eval time =    2049.17 ms /   512 tokens (    4.01 ms per token,   249.37 tokens per s…
std::optional<TimingLine> ReadTimingLine(std::string_view line) {
  Cursor cursor(line);
  if (!cursor.After("eval time =")) return std::nullopt;
  const auto ms = cursor.Read<double>();
  if (!ms || !(*ms >= 0 && *ms <= kLongestMs) || !cursor.After("ms /")) return std::nullopt;
  const auto tokens = cursor.Read<std::int64_t>();
  if (!tokens || *tokens < 0 || *tokens > kMostTokens) return std::nullopt;
  if (!cursor.rest().starts_with(" token")) return std::nullopt;
  return TimingLine{NanosF(*ms * 1e6), Tokens(*tokens)};
}

// draft acceptance rate = 0.97000 (  388 accepted /   400 generated)      (older)
// draft acceptance = 0.56890 (  322 accepted /   566 generated), mean len =  2.70
std::optional<DraftCounters> ReadDraftLine(std::string_view line) {
  Cursor cursor(line);
  if (!cursor.After("draft acceptance") || !cursor.After("(")) return std::nullopt;
  const auto accepted = cursor.Read<std::int64_t>();
  if (!accepted || !cursor.After("accepted /")) return std::nullopt;
  const auto generated = cursor.Read<std::int64_t>();
  if (!generated || *accepted < 0 || *generated < *accepted) return std::nullopt;
  return DraftCounters{Tokens(*generated), Tokens(*accepted)};
}

// Text keeps the first value.
void KeepFirst(std::optional<std::string>& kept, std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\r')) value.remove_suffix(1);
  if (!kept && !value.empty()) kept = std::string(value.substr(0, kLongestText));
}

// Value is what stands behind "key   = ".
std::optional<std::string_view> Value(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (!line.starts_with("= ")) return std::nullopt;
  line.remove_prefix(2);
  while (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

std::optional<std::int64_t> PositiveValue(std::string_view line, std::string_view key) {
  const auto value = Value(line, key);
  if (!value) return std::nullopt;
  const auto number = Cursor(*value).Read<std::int64_t>();
  return number && *number > 0 ? number : std::nullopt;
}

// Between is the text between two others: f(x) gives x for "(" and ")".
std::string_view Between(std::string_view line, std::string_view before, std::string_view after) {
  Cursor cursor(line);
  if (!cursor.After(before)) return "";
  const auto end = cursor.rest().find(after);
  return end == std::string_view::npos ? "" : cursor.rest().substr(0, end);
}

// LogReader takes a log line by line.
class LogReader {
 public:
  void Read(std::string_view line);
  ServerLog Finish();

 private:
  bool ReadTimings(std::string_view line);
  bool ReadModel(std::string_view line);
  bool ReadContext(std::string_view line);
  bool ReadKvCache(std::string_view line);
  bool ReadMachine(std::string_view line);
  void ReadWarning(std::string_view line);

  ServerLog log_;
  std::optional<TimingLine> prompt_;
  bool has_buffers_ = false;  // of the present context: its total says the same again
};

// slot print_timing: id  0 | task 0 |    graphs reused =          3
bool LogReader::ReadTimings(std::string_view line) {
  if (line.find("prompt eval time =") != std::string_view::npos) {
    prompt_ = ReadTimingLine(line);
    return true;
  }
  if (const auto decode = ReadTimingLine(line); decode && prompt_) {
    ServerTimings timings;
    timings.prompt_time = prompt_->time;
    timings.prompt = prompt_->tokens;
    timings.predicted_time = decode->time;
    timings.predicted = decode->tokens;
    log_.requests.push_back(timings);
    prompt_.reset();
    return true;
  }
  if (const auto draft = ReadDraftLine(line); draft && !log_.requests.empty()) {
    log_.requests.back().draft = draft;
    return true;
  }
  Cursor cursor(line);
  if (!cursor.After("graphs reused =")) return false;
  log_.graphs_reused = cursor.Read<std::int64_t>();
  return true;
}

// srv    load_model: loading model '/models/m.gguf'
// print_info: general.name          = Qwen3.6-35B-A3B
// load_tensors: offloaded 41/41 layers to GPU
// llama_prepare_model_devices: using device ROCm0 (Radeon 8060S Graphics) (0000:c6:00.0) - 114327…
// llama_model_load_from_file_impl: using device CUDA0 (NVIDIA H200) - 142615 MiB free      (older)
bool LogReader::ReadModel(std::string_view line) {
  if (Cursor info(line); line.starts_with("print_info: ") && info.After("print_info: ")) {
    const auto first = [&](std::string_view key, std::optional<std::int64_t>& number) {
      if (!number) number = PositiveValue(info.rest(), key);
    };
    first("n_vocab", log_.vocabulary);
    first("n_expert_used", log_.experts_used);
    KeepFirst(log_.model_name, Value(info.rest(), "general.name").value_or(""));
    return true;
  }
  KeepFirst(log_.model_path, Between(line, "load_model: loading model '", "'"));
  Cursor offloaded(line);
  if (!log_.layers && offloaded.After("load_tensors: offloaded ")) {
    const auto layers = offloaded.Read<std::int64_t>();
    const bool slash = offloaded.After("/");
    const auto all = offloaded.Read<std::int64_t>();
    if (layers && slash && all) log_.layers = LayersOffloaded{*layers, *all};
    return true;
  }
  Cursor device(line);
  if (!device.After(": using device ")) return false;
  const auto name = device.rest().substr(0, device.rest().find(')') + 1);
  const bool known =
      std::find(log_.devices.begin(), log_.devices.end(), name) != log_.devices.end();
  if (!name.empty() && !known && log_.devices.size() < kMostEntries) {
    log_.devices.emplace_back(name.substr(0, kLongestText));
  }
  return true;
}

// llama_context: constructing llama_context
// llama_context: n_ctx                 = 4096
// llama_context: flash_attn            = auto
// resolve_fused_ops: Flash Attention enabled
// llama_context: Flash Attention was auto, set to enabled                              (older)
bool LogReader::ReadContext(std::string_view line) {
  if (line.starts_with("llama_context: constructing")) {
    if (log_.contexts.size() < kMostEntries) log_.contexts.emplace_back();
    has_buffers_ = false;
    return true;
  }
  if (log_.contexts.empty()) return false;
  LogContext& context = log_.contexts.back();
  if (Cursor info(line); line.starts_with("llama_context: ") && info.After("llama_context: ")) {
    if (!context.size) context.size = PositiveValue(info.rest(), "n_ctx");
    KeepFirst(context.flash_attention, Value(info.rest(), "flash_attn").value_or(""));
  }
  for (const char* before : {"Flash Attention was auto, set to ", "Flash Attention "}) {
    Cursor resolved(line);
    if (!resolved.After(before)) continue;
    for (const char* state : {"enabled", "disabled"}) {
      if (resolved.rest().starts_with(state)) context.flash_attention = state;
    }
    return true;
  }
  return false;
}

// llama_kv_cache:      CUDA0 KV buffer size =   432.00 MiB
// llama_kv_cache: size =  432.00 MiB ( 32768 cells, 24 layers, 1/1 seqs), K (q4_0): 216.00 MiB, V
// (… llama_new_context_with_model: KV self size  =   80.00 MiB, K (f16):   40.00 MiB, V (f16): …
// (older)
bool LogReader::ReadKvCache(std::string_view line) {
  Cursor buffer(line), total(line);
  const bool is_buffer = buffer.After("KV buffer size =");
  const bool is_total = !is_buffer &&
                        (total.After("KV self size") || total.After("llama_kv_cache: size")) &&
                        total.After("=");
  if (!is_buffer && !is_total) return false;
  const auto mib = (is_buffer ? buffer : total).Read<double>();
  if (!mib || !(*mib >= 0 && *mib <= kMostMib)) return true;
  if (log_.contexts.empty()) log_.contexts.emplace_back();
  auto& kv = log_.contexts.back().kv;
  if (!kv) kv.emplace();
  if (is_buffer || !has_buffers_) kv->mib += *mib;
  has_buffers_ = has_buffers_ || is_buffer;
  if (is_total) {
    KeepFirst(kv->k_type, Between(line, "K (", ")"));
    KeepFirst(kv->v_type, Between(line, "V (", ")"));
  }
  return true;
}

// build_info: b1-e77056f                                                               (older)
// cmn  common_param: common_params_print_info: build 11669 (Debian) with GNU 16.2.0 for Linux
// x86_64 load_backend: loaded CPU backend from
// /usr/lib/x86_64-linux-gnu/ggml/libggml-cpu-haswell.so system_info: n_threads = 16
// (n_threads_batch = 16) / 32 | ROCm : NO_VMM = 1 | … cmn          init: llama threadpool init,
// n_threads = 16
bool LogReader::ReadMachine(std::string_view line) {
  for (const char* before : {"build_info: ", "print_info: build "}) {
    Cursor cursor(line);
    if (cursor.After(before)) return KeepFirst(log_.build, cursor.rest()), true;
  }
  if (const auto backend = Between(line, "load_backend: loaded ", " backend from");
      !backend.empty()) {
    if (log_.backends.size() < kMostEntries) {
      log_.backends.emplace_back(backend.substr(0, kLongestText));
    }
    return true;
  }
  for (const char* before : {"system_info: n_threads =", "threadpool init, n_threads ="}) {
    Cursor cursor(line);
    if (!cursor.After(before)) continue;
    if (!log_.threads) log_.threads = cursor.Read<std::int64_t>();
    return true;
  }
  return false;
}

// warning: no usable GPU found, --gpu-layers option will be ignored
// load_backend: failed to load /opt/x/bin/libggml-cuda.so: libcuda.so.1: cannot open shared object
// … llama_context: layer 3 is assigned to device CUDA0 but the Flash Attention tensor is assigned
// to
//   device CPU (usually due to missing support)
void LogReader::ReadWarning(std::string_view line) {
  if (log_.warnings.size() == kMostEntries) return;
  for (const char* sign :
       {"no usable GPU found", "compiled without GPU support", "no backends are loaded",
        "load_backend: failed", "missing support", "is not supported by", "requires flash_attn",
        "requires Flash Attention", "falling back to"}) {
    if (line.find(sign) == std::string_view::npos) continue;
    log_.warnings.emplace_back(line.substr(0, kLongestText));
    return;
  }
}

void LogReader::Read(std::string_view line) {
  const auto text = WithoutPrefix(line);
  if (ReadTimings(text)) return;
  const bool known = ReadModel(text) || ReadKvCache(text) || ReadContext(text) || ReadMachine(text);
  if (!known) ReadWarning(text);
}

ServerLog LogReader::Finish() { return std::move(log_); }

}  // namespace

std::optional<double> ServerLog::kv_mib() const {
  std::optional<double> sum;
  for (const LogContext& context : contexts) {
    if (context.kv) sum = sum.value_or(0) + context.kv->mib;
  }
  return sum;
}

ServerLog ParseLog(std::string_view text) {
  LogReader reader;
  while (!text.empty()) {
    const auto end = text.find('\n');
    reader.Read(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.Finish();
}

}  // namespace culprit::server
