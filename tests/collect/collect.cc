// collect: one trace of one server, for rocprofv3_test.py, which asks for each way in which the
// tool can behave. Prints what became of it as a line of JSON.
//
//   collect --folder TRIAL --port PORT [--scale FACTOR] [--stop-first] [--pmc NAMES] SERVER …
//
// --stop-first ends the server before the collector is asked to. --pmc counts instead of tracing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "collect/rocprofv3/rocprofv3.h"
#include "server/client.h"
#include "server/command.h"
#include "sys/host_time.h"
#include "sys/http.h"
#include "sys/process_group.h"

namespace culprit {
namespace {

using namespace std::chrono_literals;
using base::Fail;
using base::Json;
using base::Result;

struct Options {
  std::string folder;
  std::uint16_t port = 0;
  double scale = 1;
  bool stop_first = false;
  std::vector<std::string> counters;
  std::vector<std::string> server;
};

base::Status WaitUntilHealthy(sys::Process& server, const std::string& url,
                              const sys::StopSignal& stop) {
  for (int i = 0; i < 1000; ++i) {
    const auto answer = sys::Get(url + "/health", {}, stop);
    if (answer && answer->status == 200) return {};
    if (server.WaitFor(20ms, stop) || stop.requested()) break;
  }
  return Fail(base::ErrorCode::kServer, "the server did not become healthy");
}

Result<collect::RequestTimes> Ask(const std::string& url, const sys::StopSignal& stop) {
  server::CompletionRequest request;
  request.prompt = std::string("Tell me of traces.");
  request.most = base::Tokens(64);
  const auto answer = server::Client(url).Complete(request, stop);
  if (!answer) return Fail(answer.error());
  return collect::RequestTimes{*answer->sent, *answer->ended};
}

// What is printed beside the result: who was there, what lives on, how long it took.
struct Around {
  base::HostTime asked{}, finished{};
  std::size_t alive = 0;
};

Result<collect::Collected> Run(const Options& options, const sys::StopSignal& stop,
                               Around& around) {
  const auto limits = collect::rocprofv3::Limits().Scaled(options.scale);
  const auto collector = collect::rocprofv3::MakeCollector({.counters = options.counters},
                                                           sys::OwnEnvironment(), limits);
  auto launch = collector->Prepare(
      {.binary = options.server.at(0), .environment = sys::OwnEnvironment()},
      {.folder = options.folder, .log_file = options.folder + "/server.log"}, stop);
  if (!launch) return Fail(std::move(launch.error()));
  const server::LaunchOptions command{
      .wrapper = launch->wrapper,
      .binary = options.server.at(0),
      .arguments = {options.server.begin() + 1, options.server.end()},
      .environment = launch->environment,
      .port = options.port};
  auto server =
      sys::Process::Start({.argv = server::CommandLine(command),
                           .environment = server::ServerEnvironment(command, sys::OwnEnvironment()),
                           .output_file = options.folder + "/server.log"});
  if (!server) return Fail(std::move(server.error()));
  const auto group = sys::IdentifyGroup(server->identity());
  const auto url = fmt::format("http://127.0.0.1:{}", options.port);
  if (auto healthy = WaitUntilHealthy(*server, url, stop); !healthy) return Fail(healthy.error());
  const auto times = Ask(url, stop);
  if (!times) return Fail(times.error());
  if (options.stop_first) {
    server->SignalLeader(SIGTERM);
    server->WaitFor(60s, stop);
  }
  std::fprintf(stderr, "pid %d\n", server->identity().pid);
  around.asked = sys::BoottimeNow();
  auto collected = collector->Finish(*server, *times, stop);
  around.finished = sys::BoottimeNow();
  around.alive = sys::MembersOf(group).size();
  return collected;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App program("collect");
  program.add_option("--folder", options.folder)->required();
  program.add_option("--port", options.port)->required();
  program.add_option("--scale", options.scale);
  program.add_flag("--stop-first", options.stop_first);
  program.add_option("--pmc", options.counters)->delimiter(',')->allow_extra_args(false);
  program.add_option("server", options.server)->required();
  program.positionals_at_end();
  CLI11_PARSE(program, argc, argv);
  const auto stop = sys::StopOnSignals();
  Around around;
  const auto collected = Run(options, stop, around);
  const double seconds = base::NanosF(around.finished - around.asked).count() / 1e9;
  Json json = {{"finish_s", seconds}, {"alive", around.alive}};
  if (collected) {
    json.update({{"file", collected->file},
                 {"others", collected->others},
                 {"bytes", collected->bytes},
                 {"flush_s", base::NanosF(collected->flush).count() / 1e9},
                 {"how", collected->how},
                 {"notes", collected->notes}});
  } else {
    json.update(
        {{"code", static_cast<int>(collected.error().code)}, {"error", collected.error().Text()}});
  }
  std::puts(json.dump().c_str());
  return collected ? 0 : 1;
}

}  // namespace
}  // namespace culprit

int main(int argc, char** argv) { return culprit::Main(argc, argv); }
