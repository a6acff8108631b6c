#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/process.h"

namespace culprit::host {

// Announce tells the journal of a process before its program runs. What fails is not run.
using Announce = std::function<base::Status(const sys::ProcessIdentity&, std::string_view what)>;

// Knob is one setting of the machine that can be read and written, and be found again by its id.
//
// Ids: "service:system:UNIT", "service:user:UNIT" (values "active" and "inactive"), "power-profile"
// (a profile's name). Nothing else in the program knows one kind of setting from another.
class Knob {
 public:
  virtual ~Knob() = default;
  // Description names it for people: "service qwen.service".
  [[nodiscard]] virtual std::string Description() const = 0;
  // Accepts fails with kUsage on what can be no value of it. It looks at nothing.
  [[nodiscard]] virtual base::Status Accepts(const std::string& value) const = 0;
  // Read returns the present value, once a change under way has ended. Fails with kNotFound when
  // the machine has no such setting, kTimeout when it does not come to rest.
  [[nodiscard]] virtual base::Result<std::string> Read() const = 0;
  // CanReturn fails when the present value, once changed, could not be written again by a program
  // alone. It writes that value, which changes nothing, as a guardian would have to: without a
  // password that the user typed a minute ago.
  [[nodiscard]] virtual base::Status CanReturn(const std::string& present,
                                               const Announce& announce) const = 0;
  // Write changes the value and returns when it holds. Each command it runs is announced.
  [[nodiscard]] virtual base::Status Write(const std::string& value,
                                           const Announce& announce) const = 0;
};

// MakeKnob returns the knob with this id; rest is how long it may take to come to rest after a
// change. Fails with kUsage on an id that is none.
base::Result<std::unique_ptr<Knob>> MakeKnob(const std::string& id, std::chrono::nanoseconds rest);

}  // namespace culprit::host
