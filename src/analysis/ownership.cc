#include "analysis/ownership.h"

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <queue>
#include <utility>

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

// Sweep walks through the window once. Between two changes of who runs, the owners stay the same
// and get the same: share_ is what an owner of all the time so far would have got, and each gets
// what it grew by between its turn and its end. So the work does not go with the number of lanes.
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
    TakeTurn(lane, dispatch);
  }

  Ownership Finish() {
    EndOwnersUntil(window_.end);
    Book(window_.end);
    for (LaneState& lane : lanes_) {
      if (lane.owner) EndTurn(lane);
    }
    return std::move(own_);
  }

 private:
  struct LaneState {
    std::optional<std::size_t> owner;
    std::list<std::size_t> waiting;  // started, behind the owner; an empty deque takes 600 bytes
  };

  Nanos& exclusive(std::size_t dispatch) { return own_.exclusive[dispatch - window_.first]; }
  LaneState& lane_of(std::size_t dispatch) { return lanes_[trace_.lane[dispatch].index()]; }

  void TakeTurn(LaneState& lane, std::size_t dispatch) {
    lane.owner = dispatch;
    exclusive(dispatch) -= share_;
    by_end_.emplace(trace_.end[dispatch], dispatch);
    by_start_.push(dispatch);
    ++owners_;
  }
  void EndTurn(LaneState& lane) {
    exclusive(*lane.owner) += share_;
    lane.owner.reset();
    --owners_;
  }

  // EndOwnersUntil books up to the last end of an owner that is not after `until`, handing lanes
  // on to the earliest-started dispatch still running.
  void EndOwnersUntil(TraceTime until) {
    while (!by_end_.empty() && by_end_.top().first <= until) {
      const auto [end, dispatch] = by_end_.top();
      by_end_.pop();
      Book(end);
      LaneState& lane = lane_of(dispatch);
      EndTurn(lane);
      while (!lane.waiting.empty() && !lane.owner) {
        if (trace_.end[lane.waiting.front()] > now_) TakeTurn(lane, lane.waiting.front());
        lane.waiting.pop_front();
      }
    }
  }

  // Book shares [now, until) among the owners; what does not divide goes to the earliest-started.
  void Book(TraceTime until) {
    const Nanos time = until - now_;
    now_ = until;
    if (owners_ == 0) {
      own_.idle += time;
      return;
    }
    while (lane_of(by_start_.top()).owner != by_start_.top()) by_start_.pop();  // has ended
    share_ += time / owners_;
    exclusive(by_start_.top()) += time % owners_;
  }

  template <typename T>
  using Smallest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  const trace::Trace& trace_;
  const Window& window_;
  std::vector<LaneState> lanes_;
  Smallest<std::pair<TraceTime, std::size_t>> by_end_;  // owners
  Smallest<std::size_t> by_start_;                      // owners, and some that were
  Nanos::rep owners_ = 0;
  Nanos share_{};
  TraceTime now_;
  Ownership own_;
};

}  // namespace

Ownership Own(const trace::Trace& trace, const Window& window) {
  CULPRIT_CHECK(window.end >= window.begin);
  CULPRIT_CHECK(window.first <= window.last && window.last <= trace.size());
  bool one_lane = true;
  for (std::size_t i = window.first; i < window.last && one_lane; ++i) {
    one_lane = trace.lane[i] == trace.lane[window.first];
  }
  Ownership own;
  if (one_lane) {
    own = OwnOneLane(trace, window);
  } else {
    Sweep sweep(trace, window);
    for (std::size_t i = window.first; i < window.last; ++i) sweep.Start(i);
    own = sweep.Finish();
  }
  Nanos sum = own.idle;
  for (const Nanos time : own.exclusive) sum += time;
  CULPRIT_CHECK(sum == window.length());  // the first law
  return own;
}

}  // namespace culprit::analysis
