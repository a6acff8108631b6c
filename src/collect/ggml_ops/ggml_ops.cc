#include "collect/ggml_ops/ggml_ops.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/number_format.h"
#include "collect/ggml_ops/trace_files.h"
#include "inject/wire/ggml_ops.h"
#include "sys/folder.h"
#include "sys/host_time.h"
#include "sys/shared_objects.h"

namespace culprit::collect::ggml_ops {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

constexpr std::string_view kLibrary = "libculprit_ggml_ops.so";
constexpr std::string_view kFunction = "ggml_backend_sched_set_eval_callback";

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

// FindLibrary also fails where the loader could not be told its path: LD_PRELOAD is split at colons
// and blanks.
Result<std::string> FindLibrary(const fs::path& program_folder) {
  std::error_code error;
  for (const fs::path& folder : {program_folder, program_folder / "../lib/culprit"}) {
    const fs::path library = fs::canonical(folder / kLibrary, error);
    if (error) continue;
    if (library.string().find_first_of(": \t\n") == std::string::npos) return library.string();
    return Fail(ErrorCode::kEnvironment, "a path with a colon or a blank cannot be preloaded",
                library.string(), "install culprit elsewhere");
  }
  return Fail(ErrorCode::kEnvironment,
              fmt::format("{} lies neither beside culprit nor in ../lib/culprit", kLibrary),
              program_folder.string(), "install culprit whole");
}

std::string InFront(const std::string& first, const std::string& rest) {
  return rest.empty() ? first : first + ":" + rest;
}

// A library can only stand in for functions that one object of the server takes from another.
Status CheckBinds(const Subject& subject) {
  const auto kind = sys::KindOf(subject.binary);
  if (!kind) return Fail(kind.error());
  if (*kind == sys::BinaryKind::kNoElf) return {};  // a script that starts the server
  const auto refused = [&](std::string why) {
    return Fail(ErrorCode::kServer, "its ops cannot be recorded: " + std::move(why), subject.binary,
                "build llama.cpp with BUILD_SHARED_LIBS=ON, or trace with a GPU profiler");
  };
  if (*kind == sys::BinaryKind::kStatic) return refused("it is a static binary");
  const auto objects = sys::AskLoader(subject.binary, subject.environment);
  if (!objects) return Fail(objects.error());
  const bool binds = std::any_of(objects->paths.begin(), objects->paths.end(),
                                 [](const auto& path) { return sys::Exports(path, kFunction); });
  if (binds) return {};
  if (!objects->missing.empty()) return refused(objects->missing.front() + " is not found");
  return refused("libggml is linked into it, no shared object has " + std::string(kFunction));
}

// WaitForEnd returns once the file of the process has its end, the process is gone, or patience is
// over.
Status WaitForEnd(sys::Process& server, const std::string& file, base::Nanos patience,
                  const sys::StopSignal& stop) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!server.Poll() && !ReadEnd(file) && std::chrono::steady_clock::now() < deadline) {
    if (!stop.SleepFor(kBetweenLooks)) return Fail(sys::Interrupted());
  }
  return {};
}

}  // namespace

Status GgmlOps::Check(const Subject& subject, const sys::StopSignal& /*stop*/) const {
  if (auto library = FindLibrary(program_folder_); !library) return Fail(library.error());
  return CheckBinds(subject);
}

Result<Launch> GgmlOps::Prepare(const Subject& subject, const Place& place,
                                const sys::StopSignal& /*stop*/) {
  auto library = FindLibrary(program_folder_);
  if (!library) return Fail(std::move(library.error()));
  if (auto binds = CheckBinds(subject); !binds) return Fail(std::move(binds.error()));
  folder_ = fs::absolute(place.folder).string();
  const std::string preloaded =
      InFront(*library, sys::ValueOf(subject.environment, "LD_PRELOAD").value_or(""));
  return Launch{.wrapper = {},
                .environment = {{"LD_PRELOAD", preloaded}, {CULPRIT_OPS_VARIABLE, folder_}}};
}

Result<Collected> GgmlOps::Finish(sys::Process& server, const RequestTimes& request,
                                  const sys::StopSignal& stop) {
  const pid_t pid = server.identity().pid;
  const base::HostTime asked = sys::BoottimeNow();
  server.Signal(SIGTERM);
  const Status waited = WaitForEnd(server, FileOf(folder_, pid), patience_, stop);
  const base::Nanos flush = sys::BoottimeNow() - asked;
  const bool ended = server.Poll().has_value();
  const auto stopped = server.Stop(std::chrono::nanoseconds(0));
  if (!waited) return Fail(waited.error());

  const auto files = ListTraces(folder_);
  const std::string file = ChooseTrace(files, folder_, pid);
  if (file.empty()) {
    return Fail(ErrorCode::kNotATrace,
                "the server left no trace: it computed nothing through libggml", folder_,
                "look for a line of culprit in its log");
  }
  Collected collected{.file = file, .flush = flush};
  std::copy_if(files.begin(), files.end(), std::back_inserter(collected.others),
               [&](const std::string& name) { return name != file; });
  const std::string path = (fs::path(folder_) / file).string();
  collected.bytes = sys::SizeOf(path);
  collected.how =
      fmt::format("SIGTERM; the trace had its end after {}; the server {}", base::Seconds(flush),
                  ended ? "ended by itself (" + stopped.exit.Text() + ")" : "was killed");
  if (auto whole = CheckWhole(path, request); !whole) return Fail(std::move(whole.error()));
  return collected;
}

}  // namespace culprit::collect::ggml_ops
