#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace culprit::trace::chrome {

// Event is one element of traceEvents: what was readable of it, stamps in ns.
struct Event {
  std::string phase, category, name;
  std::optional<std::int64_t> start, duration;
  std::optional<std::int64_t> process, thread;
  std::optional<std::int64_t> device, queue, stream, correlation;
  std::vector<std::int64_t> grid, block;
};

// Recording gathers events until the end of the file tells the rest: the base of the stamps, the
// names of devices, and which call launched what.
class Recording {
 public:
  explicit Recording(TraceBuilder& builder) : builder_(builder) {}

  void Add(const Event& event);
  void NameDevice(std::int64_t number, std::string name);
  void SetBase(std::optional<std::int64_t> base_ns);

  [[nodiscard]] bool HasWork() const { return !work_.empty(); }
  // MoveToBuilder hands everything to the builder.
  void MoveToBuilder() &&;

 private:
  struct Work {
    std::int64_t start, end;
    std::int64_t correlation;  // kNone without one
    KernelId kernel;
    GeometryId geometry;
    LaneId lane;
  };
  struct Call {
    std::int64_t start, end;
    std::int64_t correlation;
    base::StringId name;
  };
  // Correlations is a sorted set of them.
  using Correlations = std::vector<std::int64_t>;

  void AddWork(const Event& event, WorkKind kind);
  void AddCall(const Event& event);
  [[nodiscard]] Correlations CorrelationsOf(bool (*wanted)(std::string_view name)) const;
  void ConvertWorkItemGrids();
  void CheckGraphs();
  [[nodiscard]] std::int64_t Shift() const;
  void NameDevices();

  TraceBuilder& builder_;
  std::vector<Work> work_;
  std::vector<Call> calls_;
  std::map<std::int64_t, std::string> device_names_;
  std::optional<std::int64_t> base_;
};

}  // namespace culprit::trace::chrome
