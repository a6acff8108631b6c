#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/command.h"
#include "sys/process.h"
#include "sys/stop_signal.h"

namespace culprit::server {

// Server is a llama-server that we started, in a process group of its own.
//
// Owner: whoever started it. The destructor kills it.
class Server {
 public:
  // Start returns once the program runs, long before it is healthy. Fails as sys::Process does.
  static base::Result<Server> Start(const LaunchOptions& options);

  // WaitUntilHealthy waits until /health answers 200. Fails with kServer as soon as the server has
  // left, with kEnvironment when somebody else listens on its port, with kTimeout after limit, and
  // with kInterrupted.
  base::Status WaitUntilHealthy(std::chrono::nanoseconds limit, const sys::StopSignal& stop);

  // Explain turns the error of a request into that of the server's death, if it died: with the
  // line of the log that tells why. A server that broke a connection is given a second to leave.
  base::Error Explain(base::Error error);

  // Stop ends the whole group, with SIGTERM and after grace with SIGKILL, and then whatever the
  // server started that had left the group; it says how. Call it from the thread that started.
  sys::Process::Stopped Stop(std::chrono::nanoseconds grace);
  // strays are what had left the group, as "4711 sleep"; known after Stop.
  [[nodiscard]] const std::vector<std::string>& strays() const { return strays_; }

  // process is for who ends it in another way than Stop.
  [[nodiscard]] sys::Process& process() { return process_; }
  [[nodiscard]] const sys::ProcessIdentity& identity() const { return process_.identity(); }
  // url is "http://127.0.0.1:8101".
  [[nodiscard]] const std::string& url() const { return url_; }
  // ReadLog returns what this server has written so far, at most its first and last 32 MiB.
  [[nodiscard]] std::string ReadLog() const;

 private:
  Server(sys::Process process, const LaunchOptions& options, std::uint64_t log_start,
         std::vector<sys::ProcessIdentity> others);
  [[nodiscard]] base::Error Stranger() const;
  [[nodiscard]] base::Error Left(const sys::Exit& exit, std::string_view when) const;

  sys::Process process_;
  std::string url_;
  std::uint16_t port_;
  std::string log_file_;
  std::uint64_t log_start_;                   // the log was there before, up to here
  std::vector<sys::ProcessIdentity> others_;  // children of ours that were there before
  std::vector<std::string> strays_;
  bool healthy_ = false;
};

}  // namespace culprit::server
