#include "host/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/printable.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

constexpr std::chrono::seconds kLimit{30};

// `systemctl --user` finds its bus in XDG_RUNTIME_DIR, which cron and sudo do not set.
sys::Environment PlainEnvironment() {
  auto environment = sys::WithVariable(sys::OwnEnvironment(), "LC_ALL", "C");
  const std::string runtime = fmt::format("/run/user/{}", ::getuid());
  std::error_code error;
  if (std::getenv("XDG_RUNTIME_DIR") == nullptr && std::filesystem::exists(runtime, error)) {
    environment = sys::WithVariable(std::move(environment), "XDG_RUNTIME_DIR", runtime);
  }
  return environment;
}

// The first line says what; what follows is advice to use journalctl.
tl::unexpected<base::Error> Failed(const std::vector<std::string>& argv,
                                   const sys::CommandResult& result) {
  std::string said = result.err.empty() ? result.out : result.err;
  said = said.substr(0, std::min<std::size_t>(said.find('\n'), 300));
  return Fail(ErrorCode::kEnvironment, said.empty() ? result.exit.Text() : base::Printable(said),
              fmt::format("{}", fmt::join(argv, " ")));
}

// Failed to stop qwen.service: Access denied
// Failed to stop qwen.service: Interactive authentication required.
// … Not Authorized: net.hadess.PowerProfiles
bool IsDenied(const sys::CommandResult& result) {
  constexpr std::array kRefusals = {"access denied", "interactive authentication required",
                                    "not authorized", "permission denied"};
  std::string said = result.err;
  std::transform(said.begin(), said.end(), said.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kRefusals.begin(), kRefusals.end(),
                     [&](const char* words) { return said.find(words) != std::string::npos; });
}

}  // namespace

Result<std::string> ReadByCommand(const std::vector<std::string>& argv) {
  auto result = sys::RunCommand({.argv = argv, .environment = PlainEnvironment()}, kLimit);
  if (!result) return Fail(std::move(result.error()));
  if (!result->ok()) return Failed(argv, *result);
  return result->out;
}

bool IsRoot() { return ::geteuid() == 0; }

Status ChangeByCommand(const std::vector<std::string>& argv, Privilege privilege,
                       const Announce& announce) {
  const auto run = [&](const std::vector<std::string>& words) {
    sys::ProcessOptions options{.argv = words, .environment = PlainEnvironment()};
    options.before_exec = [&](const sys::ProcessIdentity& process) {
      return announce(process, fmt::format("{}", fmt::join(words, " ")));
    };
    return sys::RunCommand(options, kLimit);
  };
  auto result = run(argv);
  if (!result) return Fail(std::move(result.error()));
  if (result->ok()) return {};
  if (privilege == Privilege::kOwn || IsRoot() || !IsDenied(*result)) return Failed(argv, *result);

  std::vector<std::string> with_sudo{"sudo", "-n"};
  if (privilege == Privilege::kSudoWithoutMemory) with_sudo.emplace_back("-k");
  with_sudo.insert(with_sudo.end(), argv.begin(), argv.end());
  result = run(with_sudo);
  if (!result) return Fail(std::move(result.error()));
  return result->ok() ? Status() : Failed(with_sudo, *result);
}

}  // namespace culprit::host
