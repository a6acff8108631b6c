#include "inject/ggml/stream.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "inject/ggml/map_zeros.h"

namespace culprit::inject {
namespace {

// 4 MiB of address space; a node's shape changes with the length of the context, so a long trace of
// a deep model has tens of thousands of definitions.
constexpr std::size_t kSlots = std::size_t{1} << 18;
constexpr std::uint32_t kMostDefinitions = kSlots / 4 * 3;

std::uint64_t Mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t MixedBytes(std::uint64_t hash, const void* bytes, std::size_t size) {
  const char* from = static_cast<const char*>(bytes);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, from + at, sizeof word);
    hash = Mixed(hash, word);
  }
  return hash;
}

const Tensor* SourceOf(const Tensor* tensor, std::size_t index, const TensorLayout& layout) {
  return Field<const Tensor*>(tensor, layout.source + index * sizeof(void*));
}

template <std::size_t kSize>
void Fill(char (&field)[kSize], const char* text) {
  if (text != nullptr) std::memcpy(field, text, ::strnlen(text, kSize));
}

bool IsWork(const char* desc) {
  for (const char* const idle : {"NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"}) {
    if (std::strcmp(desc, idle) == 0) return false;
  }
  return true;
}

}  // namespace

bool Definitions::Restart() {
  if (slots_ != nullptr) ::munmap(slots_, kSlots * sizeof(Slot));
  slots_ = MapZeros<Slot>(kSlots);
  std::fill(std::begin(last_), std::end(last_), Slot{});
  count_ = 0;
  return slots_ != nullptr;
}

std::size_t Definitions::IndexOf(std::uint64_t key) const {
  std::size_t at = key % kSlots;
  while (slots_[at].number_plus_1 != 0 && slots_[at].key != key) at = (at + 1) % kSlots;
  return at;
}

std::uint32_t Definitions::Find(std::uint64_t key) {
  Slot& last = last_[place_++ % kPlaces];
  const bool same = last.number_plus_1 != 0 && last.key == key;
  if (!same) last = slots_[IndexOf(key)];
  return last.number_plus_1 - 1;
}

bool Definitions::Add(std::uint64_t key) {
  if (count_ == kMostDefinitions) return false;
  slots_[IndexOf(key)] = {key, ++count_};
  return true;
}

bool Stream::Start(std::uint32_t number, Scheduler* scheduler, OpsFile& file,
                   const TensorLayout& layout) {
  if (buffer_ == nullptr) buffer_ = MapZeros<char>(kBufferBytes);
  if (on_cpu_ == nullptr) on_cpu_ = MapZeros<bool>(kMostDefinitions);
  if (buffer_ == nullptr || on_cpu_ == nullptr) return false;
  if (!definitions_.Restart() || !timeline_.Allocate()) return false;
  cpu_ = FindCpuBackend(scheduler);
  miscounted_ = lost_definitions_ = false;
  file_ = &file;
  layout_ = layout;
  number_ = number;
  dropped_ = 0;
  flushed_ns_ = NowNs();
  used_.store(sizeof(culprit_ops_record), std::memory_order_release);
  scheduler_ = scheduler;
  return true;
}

void Stream::Stop() {
  Flush();
  scheduler_ = nullptr;
}

const Stream::KnownOp& Stream::OpOf(const Tensor* tensor) {
  const char* const desc = Ggml().op_desc(tensor);
  KnownOp& op = known_ops_[(reinterpret_cast<std::uintptr_t>(desc) >> 3) % kKnownOps];
  if (op.desc != desc) {
    op = {desc, IsWork(desc), std::strcmp(desc, "RMS_NORM") == 0, std::strcmp(desc, "MUL") == 0};
  }
  return op;
}

bool Stream::IsEmpty(const Tensor* tensor) const {
  std::int64_t size[4];
  std::memcpy(size, static_cast<const char*>(tensor) + layout_.size, sizeof size);
  return size[0] == 0 || size[1] == 0 || size[2] == 0 || size[3] == 0;
}

bool Stream::IsOnCpu(Tensor* tensor) const {
  return Ggml().tensor_backend(scheduler_, tensor) == cpu_.backend;
}

bool Stream::OnNode(Tensor* tensor, bool ask, void* stream) {
  auto* const self = static_cast<Stream*>(stream);
  return ask ? self->OnAsked(tensor) : self->OnComputed(tensor);
}

bool Stream::OnAsked(Tensor* tensor) {
  if (timeline_.started()) ResolveTimeline();
  application_asked_ = callback_ != nullptr && callback_(tensor, true, user_data_);
  const KnownOp& op = OpOf(tensor);
  const bool empty = IsEmpty(tensor);
  const std::uint32_t definition = op.works && !empty ? Define(tensor) : kNoDefinition;
  const bool works = definition != kNoDefinition;
  if (watching_ && (works ? on_cpu_[definition] : op.works && empty && IsOnCpu(tensor))) {
    Watch(tensor, op, definition);
    return false;
  }
  norm_ = nullptr;
  pending_ = definition;
  begin_ = NowNs();  // last of all: what is done here is none of the node's time
  return works || application_asked_;
}

bool Stream::OnComputed(Tensor* tensor) {
  const std::int64_t end = NowNs();
  if (pending_ != kNoDefinition) AppendNode(pending_, begin_, end);
  pending_ = kNoDefinition;
  return !application_asked_ || callback_(tensor, false, user_data_);
}

// Watch announces a node to the timeline. The CPU backend computes a norm together with the product
// that follows it, where nothing else needs the norm.
void Stream::Watch(Tensor* tensor, const KnownOp& op, std::uint32_t definition) {
  const bool pair =
      norm_ != nullptr && op.multiply &&
      (SourceOf(tensor, 0, layout_) == norm_ || SourceOf(tensor, 1, layout_) == norm_);
  constexpr int kCompute = 16;  // GGML_TENSOR_FLAG_COMPUTE
  const bool whole = pair && definition != kNoDefinition;
  timeline_.Add({definition, whole ? Define(tensor, true) : kNoDefinition, pair,
                 layout_.flags_known && (Field<int>(tensor, layout_.flags) & kCompute) != 0});
  norm_ = op.norm ? tensor : nullptr;
  timeline_.Begin(NowNs());
}

void Stream::ResolveTimeline() {
  const std::size_t lost =
      timeline_.Resolve([this](std::uint32_t definition, std::int64_t begin, std::int64_t end) {
        AppendNode(definition, begin, end);
      });
  dropped_ += static_cast<std::int64_t>(lost);
  miscounted_ = miscounted_ || lost > 0;
  norm_ = nullptr;
}

// An application's own callback wants to see nodes one by one.
void Stream::BeginGraph(bool recorded, bool one_by_one) {
  if (lost_definitions_) lost_definitions_ = !definitions_.Restart();
  definitions_.BeginGraph();
  watching_ = recorded && !one_by_one && !miscounted_ && callback_ == nullptr &&
              cpu_.set_abort_callback != nullptr;
  if (watching_) cpu_.set_abort_callback(cpu_.backend, Timeline::OnComputed, &timeline_);
  Ggml().set_eval_callback(scheduler_, recorded ? OnNode : callback_, recorded ? this : user_data_);
}

void Stream::EndGraph(std::int64_t begin, std::int64_t end) {
  if (watching_) cpu_.set_abort_callback(cpu_.backend, nullptr, nullptr);
  ResolveTimeline();
  pending_ = kNoDefinition;  // a graph that failed left one
  Append({CULPRIT_OPS_GRAPH, in_graph_, begin, end}, nullptr, 0);
  in_graph_ = 0;
  const bool enough = used_.load(std::memory_order_relaxed) >= kEnough;
  if (enough || end - flushed_ns_ >= kLongestNs) Flush();
}

// The operands' own content is part of the key: their addresses are used again for others when a
// graph is built anew.
std::uint64_t Stream::KeyOf(const Tensor* tensor) const {
  std::uint64_t key = Mixed(0, reinterpret_cast<std::uintptr_t>(Ggml().op_desc(tensor)));
  for (int i = -1; i < CULPRIT_OPS_SOURCES; ++i) {
    const Tensor* const part =
        i < 0 ? tensor : SourceOf(tensor, static_cast<std::size_t>(i), layout_);
    if (part == nullptr) break;
    key = Mixed(key, static_cast<std::uint64_t>(Field<int>(part, layout_.type)));
    key = MixedBytes(key, static_cast<const char*>(part) + layout_.size, 4 * sizeof(std::int64_t));
    key = MixedBytes(key, static_cast<const char*>(part) + layout_.name, CULPRIT_OPS_NAME_BYTES);
  }
  return key;
}

// Define is kNoDefinition where there are too many. fused: the tensor with the norm that it
// multiplies.
std::uint32_t Stream::Define(Tensor* tensor, bool fused) {
  const std::uint64_t key = Mixed(KeyOf(tensor), fused ? 1 : 0);
  const std::uint32_t known = definitions_.Find(key);
  if (known != kNoDefinition) return known;
  if (!definitions_.Add(key)) {
    ++dropped_;
    return kNoDefinition;
  }
  culprit_ops_definition definition{};
  Fill(definition.op, fused ? "RMS_NORM+MUL" : Ggml().op_desc(tensor));
  void* const backend = Ggml().tensor_backend(scheduler_, tensor);
  if (backend != nullptr) Fill(definition.backend, Ggml().backend_name(backend));
  Describe(tensor, definition.node);
  for (std::size_t i = 0; i < CULPRIT_OPS_SOURCES; ++i) {
    const Tensor* const source = SourceOf(tensor, i, layout_);
    if (source != nullptr) Describe(source, definition.source[i]);
  }
  const std::uint32_t number = definitions_.count() - 1;
  on_cpu_[number] = backend == cpu_.backend;
  Append({CULPRIT_OPS_DEFINITION, number, sizeof definition, 0}, &definition, sizeof definition);
  return number;
}

void Stream::Describe(const Tensor* tensor, culprit_ops_tensor& out) const {
  Fill(out.name, Ggml().get_name(tensor));
  Fill(out.type, Ggml().type_name(Field<int>(tensor, layout_.type)));
  std::memcpy(out.size, static_cast<const char*>(tensor) + layout_.size, sizeof out.size);
}

void Stream::AppendNode(std::uint32_t definition, std::int64_t begin, std::int64_t end) {
  Append({CULPRIT_OPS_NODE, definition, begin, end}, nullptr, 0);
  ++in_graph_;
  ++in_buffer_;
}

void Stream::Append(const culprit_ops_record& record, const void* body, std::size_t body_bytes) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  if (used + sizeof record + body_bytes > kBufferBytes) {
    Flush();
    used = used_.load(std::memory_order_relaxed);
  }
  std::memcpy(buffer_ + used, &record, sizeof record);
  if (body_bytes > 0) std::memcpy(buffer_ + used + sizeof record, body, body_bytes);
  used_.store(used + sizeof record + body_bytes, std::memory_order_release);
}

// The buffer begins with the record of its own chunk.
void Stream::StampChunk() {
  const std::size_t used = used_.load(std::memory_order_acquire);
  const culprit_ops_record chunk{CULPRIT_OPS_CHUNK, number_,
                                 static_cast<std::int64_t>(used - sizeof(culprit_ops_record)),
                                 dropped_};
  std::memcpy(buffer_, &chunk, sizeof chunk);
}

void Stream::Flush() {
  const std::size_t used = used_.load(std::memory_order_relaxed);
  flushed_ns_ = NowNs();
  if (used == sizeof(culprit_ops_record)) return;
  StampChunk();
  if (file_->Write(buffer_, used)) {
    nodes_ += in_buffer_;
  } else {
    dropped_ += in_buffer_;
    lost_definitions_ = true;
  }
  in_buffer_ = 0;
  used_.store(sizeof(culprit_ops_record), std::memory_order_relaxed);
}

void Stream::WriteLocked() {
  const std::size_t used = used_.load(std::memory_order_acquire);
  if (buffer_ == nullptr || used == sizeof(culprit_ops_record)) return;
  StampChunk();
  if (file_->Append(buffer_, used)) nodes_ += in_buffer_;
}

}  // namespace culprit::inject
