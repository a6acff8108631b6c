// synthetic_trace: recordings of servers that never ran, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "experiment/completion.h"
#include "trace/builder.h"

namespace culprit::analysis::synthetic {

using base::Nanos;
using base::Tokens;
using experiment::Completion;
using namespace std::chrono_literals;

// Work is a kernel that is launched `times` times in a row on one stream.
struct Work {
  std::string kernel;
  Nanos time;             // of each launch, once it is its turn
  trace::Dim3 grid = {};  // in blocks; {} is unknown
  int times = 1;
  // The stream rests so long before each launch. Negative: each is launched so much too early and
  // waits for the one before it, which starts no later.
  Nanos gap = {};
  std::int64_t stream = 1;
  std::int64_t device = 0;
};
using Works = std::vector<Work>;

inline Works operator+(Works first, const Works& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
inline Works Repeat(const Works& works, int times) {
  Works all;
  for (int i = 0; i < times; ++i) all = std::move(all) + works;
  return all;
}

// Recording plays works into a trace, starting 1 s after the epoch of its clock.
class Recording {
 public:
  // noise: each launch of a step takes up to this share of its time longer or shorter. Steps come
  // in pairs with opposite noise, so an even number of them has exactly the mean it has without.
  explicit Recording(double noise = 0, std::uint32_t seed = 1) : noise_(noise), random_(seed) {}

  // Run starts when all before it has ended. Streams go side by side.
  void Run(const Works& works) { Play(works, std::vector<double>(Launches(works), 0.0)); }
  void Rest(Nanos time) { now_ += time; }

  // Serve runs prefill and then a step for each token after the first, and returns what client and
  // server saw of it.
  Completion Serve(const Works& prefill, const std::vector<Works>& steps) {
    Completion request;
    request.sent = HostNow();
    Run(prefill);
    request.arrivals.push_back(HostNow());
    std::vector<double> wobble;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i % 2 == 0) {
        wobble.clear();
        for (std::size_t n = Launches(steps[i]); n > 0; --n) wobble.push_back(Wobble());
      } else {
        for (double& w : wobble) w = -w;
        wobble.resize(Launches(steps[i]), 0.0);
      }
      Play(steps[i], wobble);
      request.arrivals.push_back(HostNow());
    }
    request.ended = HostNow();
    request.prompt = Tokens(20000);
    request.generated = Tokens(static_cast<std::int64_t>(steps.size()) + 1);
    request.timings = experiment::ServerTimings{
        .prompt_time = request.arrivals.front() - *request.sent,
        .prompt = request.prompt,
        .cached = std::nullopt,
        .predicted_time = request.arrivals.back() - request.arrivals.front(),
        .predicted = request.generated,
        .draft = std::nullopt};
    return request;
  }
  Completion Serve(const Works& prefill, const Works& step, std::size_t steps) {
    return Serve(prefill, std::vector<Works>(steps, step));
  }

  [[nodiscard]] base::TraceTime now() const { return base::TraceTime(now_); }
  trace::TraceBuilder& builder() { return builder_; }
  trace::Trace Finish() {
    auto trace = std::move(builder_).Finish();
    EXPECT_TRUE(trace);
    return *std::move(trace);
  }

 private:
  static std::size_t Launches(const Works& works) {
    std::size_t launches = 0;
    for (const Work& work : works) launches += static_cast<std::size_t>(work.times);
    return launches;
  }
  double Wobble() {
    return noise_ == 0 ? 0 : std::uniform_real_distribution<double>(-noise_, noise_)(random_);
  }
  [[nodiscard]] base::HostTime HostNow() const { return base::HostTime(now_); }

  // wobble has a share of its time for each launch.
  void Play(const Works& works, const std::vector<double>& wobble) {
    struct LaneState {
      Nanos free, last_start;
    };
    std::map<trace::LaneId, LaneState> lanes;
    const Nanos begin = now_;
    std::size_t launch = 0;
    for (const Work& work : works) {
      const auto kernel = builder_.AddKernel(work.kernel);
      trace::Geometry geometry;
      if (work.grid.x > 0) geometry = {work.grid, {32, 1, 1}};
      const auto shape = builder_.AddGeometry(geometry);
      const auto lane = builder_.AddLane(work.device, std::nullopt, work.stream);
      LaneState& state = lanes.try_emplace(lane, LaneState{begin, Nanos(1)}).first->second;
      for (int i = 0; i < work.times; ++i, ++launch) {
        const double share = wobble[launch];
        const Nanos wobbled(std::llround(static_cast<double>(work.time.count()) * share));
        const Nanos start = std::max(state.free + work.gap, state.last_start);
        const Nanos end = std::max(state.free, start) + work.time + wobbled;
        builder_.AddDispatch(start.count(), end.count(), kernel, shape, lane);
        state = {end, start};
        now_ = std::max(now_, end);
      }
    }
  }

  double noise_;
  std::mt19937 random_;
  trace::TraceBuilder builder_{"synthetic", "memory"};
  Nanos now_ = 1s;
};

// Real names, as llama.cpp's kernels are called in traces.
inline constexpr const char* kNorm = "void rms_norm_f32<1024, true, false>(float const*, float*)";
inline constexpr const char* kQuantize = "quantize_q8_1(float const*, void*, long)";
inline constexpr const char* kMul =
    "void mul_mat_vec_q<(ggml_type)2, 1, false, false>(void const*)";
inline constexpr const char* kRope = "void rope_neox<true, false, float, float>(float const*)";
inline constexpr const char* kKvWrite = "void k_set_rows<float, long, __half>(float const*)";
inline constexpr const char* kAttention =
    "void flash_attn_ext_vec<128, 1, (ggml_type)1, (ggml_type)1, false>(char const*)";
inline constexpr const char* kHead =
    "void mul_mat_vec_q<(ggml_type)14, 1, false, false>(void const*)";
inline constexpr const char* kPrefillMul = "void mul_mat_q<(ggml_type)2, 128, false>(char const*)";
inline constexpr std::uint32_t kVocabulary = 151936;

// Layer is one dense layer of 9 launches, 800 µs long.
inline Works Layer() {
  return {
      {kNorm, 50us, {1, 1, 1}},    {kQuantize, 50us, {16, 1, 1}}, {kMul, 100us, {6144, 1, 1}},
      {kRope, 50us, {32, 1, 1}},   {kKvWrite, 50us, {4, 1, 1}},   {kAttention, 200us, {1, 8, 4}},
      {kMul, 100us, {2048, 1, 1}}, {kNorm, 50us, {1, 1, 1}},      {kMul, 150us, {2048, 1, 1}}};
}
// Step is a forward pass of 3 layers and the head, which ends it: 29 launches, 4 ms, of which
// 100 µs are idle.
inline Works Step() {
  return Works{{kNorm, 100us, {2, 1, 1}, 1, 100us}} + Repeat(Layer(), 3) +
         Works{{kHead, 1400us, {kVocabulary, 1, 1}}};
}
// Prefill is 100 ms of work that ends with the head.
inline Works Prefill() {
  return Works{{kPrefillMul, 9860us, {48, 16, 1}, 10}} +
         Works{{kHead, 1400us, {kVocabulary, 1, 1}}};
}

}  // namespace culprit::analysis::synthetic
