#include "server/server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "server/error_line.h"
#include "sys/folder.h"
#include "sys/http.h"
#include "sys/open_file.h"
#include "sys/ports.h"
#include "sys/strays.h"

namespace culprit::server {
namespace {

using base::Error;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto kBetweenLooks = milliseconds(50);
constexpr int kLooksAtStrangers = 10;  // one can be wrong: see WhoListens
constexpr std::uint64_t kLogPart = std::uint64_t{32} << 20;

std::string ReadPart(const sys::Fd& file, std::uint64_t from, std::uint64_t size) {
  std::string text(size, '\0');
  text.resize(sys::ReadAt(file, from, text));
  return text;
}

}  // namespace

Result<Server> Server::Start(const LaunchOptions& options) {
  sys::ProcessOptions process{.argv = CommandLine(options),
                              .environment = ServerEnvironment(options, sys::OwnEnvironment()),
                              .working_directory = options.working_directory,
                              .output_file = options.log_file,
                              .before_exec = options.before_exec};
  const std::uint64_t log_start = sys::SizeOf(options.log_file);
  sys::AdoptOrphans();
  auto others = sys::Children();
  auto started = sys::Process::Start(process);
  if (!started) return Fail(std::move(started.error()));
  return Server(std::move(*started), options, log_start, std::move(others));
}

sys::Process::Stopped Server::Stop(nanoseconds grace) {
  const auto stopped = process_.Stop(grace);
  strays_ = sys::EndStrays(others_);
  return stopped;
}

Server::Server(sys::Process process, const LaunchOptions& options, std::uint64_t log_start,
               std::vector<sys::ProcessIdentity> others)
    : process_(std::move(process)),
      url_(fmt::format("http://127.0.0.1:{}", options.port)),
      port_(options.port),
      log_file_(options.log_file),
      log_start_(log_start),
      others_(std::move(others)) {}

Status Server::WaitUntilHealthy(nanoseconds limit, const sys::StopSignal& stop) {
  const auto end = steady_clock::now() + limit;
  int strangers = 0;
  while (true) {
    if (stop.requested()) return Fail(sys::Interrupted());
    if (const auto exit = process_.Poll()) return Fail(Left(*exit, "before it was healthy"));
    const auto left = end - steady_clock::now();
    if (left <= nanoseconds::zero()) break;
    const sys::HttpLimits limits{.idle = std::min<nanoseconds>(left, seconds(5)),
                                 .total = std::min<nanoseconds>(left, seconds(5)),
                                 .answer_bytes = 1 << 16};
    const auto answer = sys::Get(url_ + "/health", limits, stop);
    if (answer && answer->status == 200) {
      // Another server's health says nothing. Where /proc doesn't tell (kNobody), ours is believed.
      healthy_ = sys::WhoListens(port_, process_.identity().pid) != sys::Listener::kSomebodyElse;
      if (healthy_) return {};
      if (++strangers == kLooksAtStrangers) return Fail(Stranger());
    }
    // Cut short by the server's end and by the user.
    process_.WaitFor(std::min<nanoseconds>(left, kBetweenLooks), stop);
  }
  return Fail(ErrorCode::kTimeout,
              fmt::format("llama-server was not healthy within {} s",
                          duration_cast<seconds>(limit).count()),
              "", fmt::format("its log is {}", base::Printable(log_file_)));
}

Error Server::Stranger() const {
  return {ErrorCode::kEnvironment,
          fmt::format("another server answers on port {} of 127.0.0.1: there listens {}", port_,
                      sys::NameListeners(port_)),
          "", "end it or choose another port"};
}

Error Server::Explain(Error error) {
  if (error.code != ErrorCode::kServer) return error;
  const sys::StopSignal never;
  const auto exit = process_.WaitFor(seconds(1), never);
  if (!exit) return error;
  return Left(*exit, healthy_ ? "during a request" : "before it was healthy");
}

Error Server::Left(const sys::Exit& exit, std::string_view when) const {
  const auto line = FirstErrorLine(ReadLog());
  return {ErrorCode::kServer,
          fmt::format("llama-server left {} ({}){}{}", when, exit.Text(), line ? ": " : "",
                      line.value_or("")),
          "", fmt::format("its log is {}", base::Printable(log_file_))};
}

std::string Server::ReadLog() const {
  const auto file = sys::OpenFile(log_file_, O_RDONLY);
  const std::uint64_t end = sys::SizeOf(log_file_);
  if (!file || end <= log_start_) return "";
  const std::uint64_t size = end - log_start_;
  if (size <= 2 * kLogPart) return ReadPart(*file, log_start_, size);
  return ReadPart(*file, log_start_, kLogPart) + "\n" + ReadPart(*file, end - kLogPart, kLogPart);
}

}  // namespace culprit::server
