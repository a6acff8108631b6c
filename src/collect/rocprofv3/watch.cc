#include "collect/rocprofv3/watch.h"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "collect/rocprofv3/activity.h"
#include "sys/host_time.h"
#include "sys/open_file.h"
#include "sys/recovered_copy.h"

namespace culprit::collect::rocprofv3 {

Watch::Watch(Places places, sys::Process& started)
    : places_(std::move(places)),
      started_(started),
      group_(sys::IdentifyGroup(started.identity())),
      server_(FindServer()),
      log_(server_.pid) {}

sys::ProcessIdentity Watch::FindServer() const {
  const auto is_tool = [this](const sys::ProcessIdentity& process) {
    return CommandOf(process.pid).find(places_.traces) != std::string::npos;
  };
  if (!is_tool(group_.leader)) return group_.leader;
  auto members = sys::MembersOf(group_);
  std::erase_if(members, is_tool);
  const auto oldest =
      std::min_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
        return std::pair(a.started, a.pid) < std::pair(b.started, b.pid);
      });
  return oldest == members.end() ? group_.leader : *oldest;
}

bool Watch::IsAlive() {
  return server_ == group_.leader ? !started_.Poll().has_value() : sys::IsAlive(server_);
}

void Watch::Signal(int signal) const {
  if (server_ == group_.leader) {
    started_.SignalLeader(signal);
  } else if (sys::IsAlive(server_)) {
    ::kill(server_.pid, signal);
  }
}

void Watch::SignalChildren(int signal) const {
  for (const auto& child : children_) {
    if (sys::IsAlive(child)) ::kill(child.pid, signal);
  }
}

void Watch::ReadLog() {
  const auto file = sys::OpenFile(places_.log, O_RDONLY);
  if (!file) return;
  std::string piece(std::size_t{64} << 10, '\0');
  while (const std::size_t got = sys::ReadAt(*file, log_read_, piece)) {
    log_.Add(std::string_view(piece).substr(0, got));
    log_read_ += got;
  }
}

Observation Watch::Look(const sys::StopSignal& stop) {
  Observation seen;
  seen.now = sys::BoottimeNow().time_since_epoch();
  seen.interrupted = stop.requested();
  // Before everything else: what a process that has left wrote is there to be seen.
  seen.alive = IsAlive();
  ReadLog();
  seen.marks = log_.marks();
  const auto members = sys::MembersOf(group_);
  children_ = members;
  std::erase_if(children_, [this](const auto& process) {
    return process == server_ || process == group_.leader;
  });
  seen.children = children_.size();
  // Who has it open is looked at before what is in it: a writer comes before its bytes.
  if (!files_.trace.empty()) seen.open = HaveOpen(members, files_.trace);
  files_ = ListFiles(places_.traces, places_.spill, server_.pid, places_.pass);
  seen.bytes = files_.bytes;
  seen.others = files_.others.size();
  seen.file = files_.trace_bytes;
  seen.journal = seen.file > 0 && sys::RecoveredCopy::NeedsOne(files_.trace);
  if (const auto stat = sys::ReadProcessStat(server_.pid)) seen.cpu = stat->cpu;
  seen.written = WrittenBy(server_.pid);
  seen.catches_quit = Catches(server_.pid, SIGQUIT);
  return seen;
}

}  // namespace culprit::collect::rocprofv3
