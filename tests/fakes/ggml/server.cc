// A server that computes graphs of seven nodes with the fake libggml: `server MODE [GRAPHS]`.
//   serve    computes, then waits for SIGTERM and leaves by exit
//   stuck    computes, then takes no notice of SIGTERM
//   crash    computes, then aborts
//   asks     has a callback of its own, which stops the second graph
//   child    serves in a child, and leaves after it
//   nothing  computes nothing, then serves
// It says "ready" before it waits.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ggml.h"

namespace {

ggml_tensor weight{0, {}, "NONE", 0, 8, {64, 5, 1, 1}, "blk.3.ffn_gate.weight"};
ggml_tensor norm_weight{0, {}, "NONE", 0, 0, {64, 1, 1, 1}, "blk.3.ffn_norm.weight"};
constexpr int kMarked = 16;  // GGML_TENSOR_FLAG_COMPUTE
ggml_tensor nodes[] = {
    {kMarked, {&weight}, "VIEW", 0, 8, {64, 1, 1, 1}, "a view"},
    {kMarked, {&weight}, "RMS_NORM", 0, 0, {64, 1, 1, 1}, "norm-3"},
    {kMarked, {&nodes[1], &norm_weight}, "MUL", 0, 0, {64, 1, 1, 1}, "ffn_norm-3"},
    {kMarked, {&weight, &nodes[2]}, "MUL_MAT", 0, 0, {5, 1, 1, 1}, "ffn_gate-3"},
    {kMarked, {&nodes[3]}, "ADD", 0, 0, {5, 0, 1, 1}, "empty"},
    {0, {&nodes[3]}, "DUP", 0, 0, {5, 1, 1, 1}, "not wanted"},
    {kMarked, {&nodes[3]}, "SILU", 0, 0, {5, 1, 1, 1}, "node_7"},
};
constexpr int kNodes = sizeof nodes / sizeof nodes[0];
int asked = 0, told = 0;

bool Callback(ggml_tensor* tensor, bool ask, void*) {
  if (ask) return ++asked, std::strcmp(tensor->op, "SILU") != 0;
  return ++told != 10;
}

void Compute(int graphs, ggml_callback callback) {
  ggml_backend_sched* const scheduler = ggml_backend_sched_new();
  for (int i = 0; i < graphs; ++i) {
    ggml_cgraph graph{nodes, kNodes};
    ggml_backend_sched_set_eval_callback(scheduler, callback, nullptr);
    ggml_backend_sched_graph_compute_async(scheduler, &graph);
  }
  ggml_backend_sched_free(scheduler);
  ggml_backend_sched_free(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const int graphs = argc > 2 ? std::atoi(argv[2]) : 2;
  // Only the handler ends the wait: sigsuspend leaves no moment in which the signal is missed.
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  signal(
      SIGTERM, mode == "stuck" ? SIG_IGN : [](int) {});

  if (mode == "child") {
    const pid_t child = fork();
    if (child > 0) {
      waitpid(child, nullptr, 0);
      return 0;
    }
  }
  if (mode != "nothing") Compute(graphs, mode == "asks" ? Callback : nullptr);
  if (mode == "crash") abort();
  std::printf("ready asked %d told %d\n", asked, told);
  std::fflush(stdout);
  sigsuspend(&before);
  return 0;
}
