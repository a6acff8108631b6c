#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/ggml/ggml_api.h"
#include "inject/ggml/ops_file.h"
#include "inject/ggml/timeline.h"
#include "inject/wire/ggml_ops.h"

namespace culprit::inject {

// Definitions numbers what nodes are, by a hash of what is in them: the same node of the next token
// gets the same number without a look at any text. Grows to a fixed size and not beyond.
class Definitions {
 public:
  // Restart forgets all; false without memory.
  bool Restart();
  // BeginGraph is told before the nodes of a graph are looked for. They come in the order in which
  // those of the last graph came, so each is looked for first where its place was then: in the
  // table, which is large, each would be a walk to memory.
  void BeginGraph() { place_ = 0; }
  // Find is the number of a key, or kNoDefinition where it is new. Add numbers it; false when there
  // are too many.
  std::uint32_t Find(std::uint64_t key);
  bool Add(std::uint64_t key);
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t number_plus_1;  // 0: free
  };
  [[nodiscard]] std::size_t IndexOf(std::uint64_t key) const;

  static constexpr std::size_t kPlaces = 8192;

  Slot* slots_ = nullptr;    // zeros at first, and only touched where used
  Slot last_[kPlaces] = {};  // by place in the last graph
  std::size_t place_ = 0;
  std::uint32_t count_ = 0;
};

// Stream is what one scheduler of the process computed. ggml lets one thread at a time use a
// scheduler, so its records need no lock: there is one for the file, taken once a chunk.
//
// Records are gathered in memory and written between graphs: when there are enough, and after a
// quarter of a second, which is all that a server killed outright can lose.
class Stream {
 public:
  // Start makes it ready for a scheduler; false without memory.
  bool Start(std::uint32_t number, Scheduler* scheduler, OpsFile& file, const TensorLayout& layout);
  // Stop writes what is left; the stream can be started again for another scheduler.
  void Stop();
  [[nodiscard]] Scheduler* scheduler() const { return scheduler_; }

  void SetCallback(EvalCallback callback, void* user_data) {
    callback_ = callback;
    user_data_ = user_data;
  }
  // OnNode is the callback that the scheduler gets: asked before a node whether it is of interest,
  // and told after it was computed.
  static bool OnNode(Tensor* tensor, bool ask, void* stream);
  // BeginGraph sets that callback, or the application's own for a graph that is not to be recorded.
  // one_by_one asks for each node of a CPU as well, instead of watching its backend.
  void BeginGraph(bool recorded, bool one_by_one);
  void EndGraph(std::int64_t begin, std::int64_t end);

  // WriteLocked writes what is there, for whoever holds the file's lock while the process ends.
  void WriteLocked();
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
  static constexpr std::size_t kEnough = std::size_t{32} << 10;
  static constexpr std::int64_t kLongestNs = 250'000'000;

  // KnownOp is an op by the address of its name, which ggml keeps in a table.
  struct KnownOp {
    const char* desc;
    bool works;
    bool norm;      // RMS_NORM, with which the CPU backend computes
    bool multiply;  // a MUL of its result
  };
  static constexpr std::size_t kKnownOps = 256;

  bool OnAsked(Tensor* tensor);
  bool OnComputed(Tensor* tensor);
  const KnownOp& OpOf(const Tensor* tensor);
  [[nodiscard]] bool IsEmpty(const Tensor* tensor) const;
  [[nodiscard]] bool IsOnCpu(Tensor* tensor) const;
  void Watch(Tensor* tensor, const KnownOp& op, std::uint32_t definition);
  void ResolveTimeline();
  std::uint32_t Define(Tensor* tensor, bool fused = false);
  void AppendNode(std::uint32_t definition, std::int64_t begin, std::int64_t end);
  void Describe(const Tensor* tensor, culprit_ops_tensor& out) const;
  [[nodiscard]] std::uint64_t KeyOf(const Tensor* tensor) const;
  void Append(const culprit_ops_record& record, const void* body, std::size_t body_bytes);
  void Flush();
  void StampChunk();

  OpsFile* file_ = nullptr;
  TensorLayout layout_{};
  std::uint32_t number_ = 0;
  std::uint32_t pending_ = kNoDefinition;  // the node that is being computed
  Scheduler* scheduler_ = nullptr;
  EvalCallback callback_ = nullptr;  // the application's own, or none
  void* user_data_ = nullptr;

  CpuBackend cpu_{};
  Timeline timeline_;
  const Tensor* norm_ = nullptr;  // the node announced last, where it is one
  std::int64_t begin_ = 0;

  KnownOp known_ops_[kKnownOps] = {};
  Definitions definitions_;
  bool* on_cpu_ = nullptr;  // by definition
  char* buffer_ = nullptr;
  std::atomic<std::size_t> used_{0};  // whole records only
  std::uint32_t in_graph_ = 0;        // nodes
  bool watching_ = false;             // the CPU backend, in this graph
  bool miscounted_ = false;           // once, so that it is not watched again
  bool application_asked_ = false;
  bool lost_definitions_ = false;  // maybe, in what could not be written
  std::int64_t in_buffer_ = 0;     // nodes
  std::int64_t nodes_ = 0;         // written
  std::int64_t dropped_ = 0;
  std::int64_t flushed_ns_ = 0;
};

}  // namespace culprit::inject
