#include "gpu/idle.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/number_format.h"
#include "base/printable.h"

namespace culprit::gpu {
namespace {

bool Cooled(const IdleRule& rule, std::optional<Celsius> first_gate,
            std::optional<Celsius> temperature) {
  return !first_gate || !temperature || *temperature <= *first_gate + rule.margin;
}

std::string Holders(const std::vector<Process>& holders) {
  std::string text;
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < holders.size() && i < kShown; ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", holders[i].pid,
                        base::Printable(holders[i].command));
  }
  if (holders.size() > kShown) text += fmt::format(" and {} more", holders.size() - kShown);
  return text;
}

std::string Cause(const IdleResult& result) {
  if (result.interrupted) return "the wait was interrupted";
  if (result.busy_unknown) return "it does not say how busy it is";
  if (!result.idle) {
    return fmt::format("still busy after {} readings in {}, last seen at {}", result.readings,
                       base::Seconds(result.waited),
                       result.busy ? base::Percent(*result.busy) : "an unknown share");
  }
  return fmt::format("idle, but not cooled down after {} readings in {}: {} °C, {} °C at first",
                     result.readings, base::Seconds(result.waited),
                     base::Plain(result.temperature->value()),
                     base::Plain(result.first_gate->value()));
}

}  // namespace

IdleRule RuleFor(Vendor vendor) {
  IdleRule rule;
  if (vendor == Vendor::kCpu) rule.busy = base::Fraction(0.1);
  return rule;
}

IdleResult WaitUntilIdle(Device& device, const IdleRule& rule, std::optional<Celsius> first_gate,
                         const Pace& pace, const std::string& proc) {
  CULPRIT_CHECK(rule.readings > 0);
  IdleResult result{.first_gate = first_gate};
  const base::HostTime start = pace.now();
  int streak = 0;
  bool busy_known = false;
  while (result.readings < rule.tries) {
    if (result.readings > 0 && !pace.sleep(rule.pause)) {
      result.interrupted = true;
      break;
    }
    const Reading reading = device.Read(pace.now());
    if (result.readings++ == 0) result.temperature_at_start = reading.temperature;
    result.temperature = reading.temperature;
    if (reading.busy) {
      busy_known = true;
      const bool idle = *reading.busy <= rule.busy;
      streak = idle ? streak + 1 : 0;
      if (!idle) {
        result.busy = reading.busy;
        if (pace.busy) pace.busy(result);
      }
    } else if (!busy_known && result.readings >= rule.readings) {
      break;
    }
    if (streak >= rule.readings && Cooled(rule, first_gate, reading.temperature)) break;
  }
  result.idle = streak >= rule.readings;
  result.busy_unknown = !busy_known && !result.interrupted;
  result.still_warm = result.idle && !Cooled(rule, first_gate, result.temperature);
  result.waited = pace.now() - start;
  const auto pids = device.Processes();
  if (pids) result.holders = ForeignProcesses(proc, *pids, std::nullopt);
  return result;
}

std::string Explain(const IdleResult& result) {
  if (result.ready()) return "";
  std::string text = Cause(result);
  if (!result.holders.empty()) text += "; open in " + Holders(result.holders);
  return text;
}

}  // namespace culprit::gpu
