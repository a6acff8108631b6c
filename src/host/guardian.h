#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "host/restore.h"
#include "sys/process.h"

namespace culprit::host {

// Guardian is a small process that puts the machine back when the one that started it dies, however
// it dies: it then reads the end of the pipe between them without the word that all is done.
//
// It is `culprit guardian`, the program that runs now, in a session of its own; it ignores the
// signals by which people stop programs. It keeps the machine's lock as long as it lives, and
// writes what it did to guardian.log in the state folder.
class Guardian {
 public:
  // Start returns once the guardian watches. Fails like sys::Process::Start, and with kEnvironment
  // when it does not say that it does.
  static base::Result<Guardian> Start(const std::string& state_folder, int lock_fd);
  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&& other) noexcept;
  ~Guardian();

  [[nodiscard]] bool IsAlive() { return !process_.Poll(); }
  // Dismiss tells it that there is nothing left to do, and waits until it has left.
  void Dismiss();

 private:
  Guardian(sys::Process process, int pipe) : process_(std::move(process)), pipe_(pipe) {}
  sys::Process process_;
  int pipe_;
};

// Guard is what the guardian does: it watches pipe, and when the other end dies restores from the
// state folder's journal. Absent when it was dismissed, or when nothing was left to do.
base::Result<std::optional<RestoreReport>> Guard(int pipe, const std::string& state_folder,
                                                 const RestoreOptions& options,
                                                 AtStep at_step = {});

}  // namespace culprit::host
