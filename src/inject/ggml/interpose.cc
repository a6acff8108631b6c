// A library to preload into a llama-server: it stands in for four functions of libggml, through
// which every graph is computed, and writes down when each node ran. Where anything it needs is
// missing it passes all calls on and records nothing.
//
//   CULPRIT_GGML_OPS=FOLDER LD_PRELOAD=…/libculprit_ggml_ops.so llama-server …
//
// leaves FOLDER/PID.ggml-ops. Source: doc/formats/ggml-ops.md.

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <iterator>

#include "inject/ggml/ggml_api.h"
#include "inject/ggml/ops_file.h"
#include "inject/ggml/stream.h"
#include "inject/wire/ggml_ops.h"

#define CULPRIT_EXPORT extern "C" __attribute__((visibility("default")))

namespace culprit::inject {
namespace {

// A server has one for each model and one for its encoder of images.
constexpr std::size_t kMostStreams = 64;

OpsFile file;
Stream streams[kMostStreams];
std::uint32_t streams_made = 0;
pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;  // taken once a graph
std::atomic<bool> application_aborts{false};               // it has an abort callback of its own

// For measuring what recording costs.
bool every_second = false;  // graph is recorded
bool one_by_one = false;    // nodes of a CPU as well
std::atomic<std::uint32_t> graphs{0};

void Say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, ::strlen(text))); }

const TensorLayout& Layout() {
  static const TensorLayout layout = [] {
    const TensorLayout found = FindLayout();
    if (!found.known) Say("culprit: this libggml is not one that ops can be recorded of\n");
    return found;
  }();
  return layout;
}

// StreamOf finds the stream of a scheduler, and makes one where make is set.
Stream* StreamOf(Scheduler* scheduler, bool make) {
  if (!file.open() || scheduler == nullptr) return nullptr;
  ::pthread_mutex_lock(&streams_lock);
  Stream* found = nullptr;
  Stream* free_one = nullptr;
  for (Stream& stream : streams) {
    if (stream.scheduler() == scheduler) found = &stream;
    if (stream.scheduler() == nullptr && free_one == nullptr) free_one = &stream;
  }
  if (found == nullptr && make && Layout().known) {
    if (free_one != nullptr && free_one->Start(streams_made, scheduler, file, Layout())) {
      ++streams_made;
      found = free_one;
    } else if (free_one != nullptr) {
      Say("culprit: no memory to record ops\n");
    }
  }
  ::pthread_mutex_unlock(&streams_lock);
  return found;
}

// WriteEnd writes what is in memory and the end: reason is 0 or a signal.
void WriteEnd(std::uint32_t reason) {
  if (!file.Lock(false)) return;
  std::int64_t nodes = 0;
  for (Stream& stream : streams) {
    stream.WriteLocked();
    nodes += stream.nodes();
  }
  const culprit_ops_record end{CULPRIT_OPS_END, reason, NowNs(), nodes};
  if (streams_made > 0) file.Append(&end, sizeof end);
  file.Close();
  file.Unlock();
}

void SetAbortCallback(void* backend, AbortCallback callback, void* user_data) {
  if (callback != nullptr) application_aborts = true;
  if (const auto set = AbortSetterOf(backend); set != nullptr) set(backend, callback, user_data);
}

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
struct sigaction actions_before[std::size(kFatal)];

// The signal is then handled as it would have been without this library.
void OnFatal(int signal) {
  WriteEnd(static_cast<std::uint32_t>(signal));
  for (std::size_t i = 0; i < std::size(kFatal); ++i) {
    if (kFatal[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
  }
  ::raise(signal);
}

__attribute__((constructor)) void OnLoad() {
  const char* const folder = ::getenv(CULPRIT_OPS_VARIABLE);
  if (folder == nullptr || folder[0] == '\0') return;
  file.Open(folder);
  every_second = ::getenv(CULPRIT_OPS_VARIABLE "_EVERY_SECOND") != nullptr;
  one_by_one = ::getenv(CULPRIT_OPS_VARIABLE "_ONE_BY_ONE") != nullptr;
  struct sigaction action {};
  action.sa_handler = OnFatal;
  for (std::size_t i = 0; i < std::size(kFatal); ++i) {
    ::sigaction(kFatal[i], &action, &actions_before[i]);
  }
}

__attribute__((destructor)) void OnExit() { WriteEnd(0); }

}  // namespace
}  // namespace culprit::inject

CULPRIT_EXPORT void ggml_backend_sched_set_eval_callback(culprit::inject::Scheduler* scheduler,
                                                         culprit::inject::EvalCallback callback,
                                                         void* user_data) {
  using namespace culprit::inject;  // NOLINT(google-build-using-namespace)
  if (Stream* const stream = StreamOf(scheduler, true); stream != nullptr) {
    stream->SetCallback(callback, user_data);
  }
  // For graphs that are computed without this library's knowledge.
  Ggml().set_eval_callback(scheduler, callback, user_data);
}

CULPRIT_EXPORT int ggml_backend_sched_graph_compute_async(culprit::inject::Scheduler* scheduler,
                                                          void* graph) {
  using namespace culprit::inject;  // NOLINT(google-build-using-namespace)
  Stream* const stream = StreamOf(scheduler, false);
  const std::int64_t begin = NowNs();
  if (stream != nullptr) {
    stream->BeginGraph(!every_second || graphs++ % 2 == 0, one_by_one || application_aborts);
  }
  const int status = Ggml().graph_compute_async(scheduler, graph);
  if (stream != nullptr) stream->EndGraph(begin, NowNs());
  return status;
}

CULPRIT_EXPORT void ggml_backend_sched_free(culprit::inject::Scheduler* scheduler) {
  using namespace culprit::inject;  // NOLINT(google-build-using-namespace)
  if (Stream* const stream = StreamOf(scheduler, false); stream != nullptr) stream->Stop();
  Ggml().scheduler_free(scheduler);
}

// An application that sets an abort callback gets it, and its CPU backend is left alone.
CULPRIT_EXPORT void* ggml_backend_reg_get_proc_address(void* registry, const char* name) {
  using namespace culprit::inject;  // NOLINT(google-build-using-namespace)
  void* const function = Ggml().get_proc_address(registry, name);
  if (function == nullptr || ::strcmp(name, "ggml_backend_set_abort_callback") != 0)
    return function;
  return reinterpret_cast<void*>(SetAbortCallback);
}
