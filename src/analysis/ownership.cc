#include "analysis/ownership.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

#include "base/check.h"

namespace culprit::analysis {
namespace {

using base::Nanos;
using base::TraceTime;

// One lane's dispatches are in order, so it needs no more than how far it is covered.
Ownership OwnOneLane(const trace::Trace& trace, const Window& window) {
  Ownership own;
  own.exclusive.resize(window.last - window.first);
  TraceTime covered = window.begin;
  for (std::size_t i = window.first; i < window.last; ++i) {
    const TraceTime begin = std::max(trace.start[i], covered);
    const TraceTime end = std::min(trace.end[i], window.end);
    if (end <= begin) continue;
    own.idle += begin - covered;
    own.exclusive[i - window.first] = end - begin;
    covered = end;
  }
  own.idle += window.end - covered;
  return own;
}

// Sweep walks through the window once. Between two changes of who runs, the owners stay the same.
class Sweep {
 public:
  Sweep(const trace::Trace& trace, const Window& window)
      : trace_(trace), window_(window), lanes_(trace.lanes.size()), now_(window.begin) {
    own_.exclusive.resize(window.last - window.first);
  }

  void Start(std::size_t dispatch) {
    const TraceTime start = std::max(trace_.start[dispatch], window_.begin);
    EndOwnersUntil(start);
    if (trace_.end[dispatch] <= start) return;
    LaneState& lane = lanes_[trace_.lane[dispatch].index()];
    if (lane.owner) {
      lane.waiting.push_back(dispatch);
      return;
    }
    Book(start);
    lane.owner = dispatch;
    busy_.push_back(trace_.lane[dispatch].index());
  }

  Ownership Finish() {
    EndOwnersUntil(window_.end);
    Book(window_.end);
    return std::move(own_);
  }

 private:
  struct LaneState {
    std::optional<std::size_t> owner;
    std::deque<std::size_t> waiting;  // started, behind the owner
  };

  TraceTime end_of(std::size_t lane) const { return trace_.end[*lanes_[lane].owner]; }

  // EndOwnersUntil books up to the last end of an owner that is not after `until`, handing lanes
  // on to waiting dispatches on the way.
  void EndOwnersUntil(TraceTime until) {
    while (!busy_.empty()) {
      TraceTime next = end_of(busy_.front());
      for (const std::size_t lane : busy_) next = std::min(next, end_of(lane));
      if (next > until) return;
      Book(next);
      HandOver();
    }
  }

  // HandOver replaces owners that have ended by the earliest-started dispatch still running.
  void HandOver() {
    std::erase_if(busy_, [&](std::size_t lane) {
      LaneState& state = lanes_[lane];
      if (end_of(lane) > now_) return false;
      state.owner.reset();
      while (!state.waiting.empty() && !state.owner) {
        if (trace_.end[state.waiting.front()] > now_) state.owner = state.waiting.front();
        state.waiting.pop_front();
      }
      return !state.owner.has_value();
    });
  }

  // Book shares [now, until) among the owners.
  void Book(TraceTime until) {
    const Nanos time = until - now_;
    now_ = until;
    if (busy_.empty()) {
      own_.idle += time;
      return;
    }
    const auto owners = static_cast<Nanos::rep>(busy_.size());
    std::size_t earliest = std::numeric_limits<std::size_t>::max();
    for (const std::size_t lane : busy_) {
      const std::size_t owner = *lanes_[lane].owner;
      earliest = std::min(earliest, owner);  // dispatches are sorted by start
      own_.exclusive[owner - window_.first] += time / owners;
    }
    own_.exclusive[earliest - window_.first] += time % owners;
  }

  const trace::Trace& trace_;
  const Window& window_;
  std::vector<LaneState> lanes_;
  std::vector<std::size_t> busy_;  // lanes that have an owner
  TraceTime now_;
  Ownership own_;
};

template <typename Wanted>
Ownership OwnLanes(const trace::Trace& trace, const Window& window, Wanted wanted) {
  CULPRIT_CHECK(window.end >= window.begin);
  CULPRIT_CHECK(window.first <= window.last && window.last <= trace.size());
  bool one_lane = true;
  for (std::size_t i = window.first; i < window.last && one_lane; ++i) {
    one_lane = trace.lane[i] == trace.lane[window.first] && wanted(trace.lane[i]);
  }
  Ownership own;
  if (one_lane) {
    own = OwnOneLane(trace, window);
  } else {
    Sweep sweep(trace, window);
    for (std::size_t i = window.first; i < window.last; ++i) {
      if (wanted(trace.lane[i])) sweep.Start(i);
    }
    own = sweep.Finish();
  }
  Nanos sum = own.idle;
  for (const Nanos time : own.exclusive) sum += time;
  CULPRIT_CHECK(sum == window.length());  // the first law
  return own;
}

}  // namespace

Ownership Own(const trace::Trace& trace, const Window& window) {
  return OwnLanes(trace, window, [](trace::LaneId) { return true; });
}

Ownership OwnDevice(const trace::Trace& trace, const Window& window, trace::DeviceId device) {
  return OwnLanes(trace, window,
                  [&](trace::LaneId lane) { return trace.lanes[lane.index()].device == device; });
}

}  // namespace culprit::analysis
