#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "experiment/variant.h"
#include "experiment/workload.h"

namespace culprit::experiment {

// Design says how many pairs are run and what counts as a difference.
//
// Without pairs, looks are taken at 4, 6, 8 and 10 pairs and the first clear answer ends the
// experiment. seed decides the first arm; absent, culprit ab draws one and records it. A change
// smaller than the margin is no difference, in decode and in prefill.
struct Design {
  std::optional<int> pairs;
  std::optional<std::uint64_t> seed;
  base::Fraction decode_margin{0.01};
  base::Fraction prefill_margin{0.02};
  bool same_variant = false;  // A/A: the baseline against itself, to measure the noise floor
  bool operator==(const Design&) const = default;
};

// MachineWish says what is borrowed of the machine, and given back at the end.
//
// Units are systemd's; only those that run are stopped. health are ports of 127.0.0.1 on which
// /health must answer again afterwards if it did before.
struct MachineWish {
  std::vector<std::string> stop_services;
  std::vector<std::string> stop_user_services;
  std::vector<int> health;
  std::optional<std::string> power_profile;
  bool operator==(const MachineWish&) const = default;
};

// Limits are what a trial waits for at most, and how it waits for an idle machine.
struct Limits {
  std::chrono::seconds load{2400};
  std::chrono::seconds request{3600};
  std::chrono::seconds stop{20};
  std::chrono::seconds health{600};  // for the user's own services to answer again at the end
  int idle_readings = 10;            // consecutive, a second apart
  int idle_tries = 300;
  bool operator==(const Limits&) const = default;
};

// GateWish says how answers are compared before times are.
//
// level is what gate::ParseLevel reads. positions are the tokens that are compared behind each
// prompt; absent, 128 of them, or as many as the workload generates where that is less. prompts are
// the lengths of prompts; none is the workload's. ubatches are sizes at which all variants are
// compared beside the way in which each of them runs.
struct GateWish {
  bool wanted = true;
  std::string level = "default";
  std::optional<base::Tokens> positions;
  std::vector<base::Tokens> prompts;
  std::vector<std::int64_t> ubatches;
  bool operator==(const GateWish&) const = default;
};

// Spec is a whole experiment as its user wrote it. variants[0] is the baseline; labels are unique;
// there is one variant when design.same_variant. collector is what takes traces; "" leaves the
// choice to culprit, by the device.
struct Spec {
  std::vector<Variant> variants;
  Workload workload;
  Design design;
  GateWish gate;
  MachineWish machine;
  Limits limits;
  int port = 8101;
  std::string collector;
  bool operator==(const Spec&) const = default;
};

// CheckSpec fails with kUsage when a Spec breaks what is said above, or asks for fewer than 2
// output tokens, a prompt without tokens, no pairs, a server for what it cannot be given.
base::Status CheckSpec(const Spec& spec);
// CheckComparison fails with kUsage when there are no two variants to compare, nor an A/A. One
// alone can be traced.
base::Status CheckComparison(const Spec& spec);
// CheckValues is the part of CheckSpec that asks for no variants.
base::Status CheckValues(const Spec& spec);

// SpecFlags win over an experiment file: a model and arguments over those of [common], and variants
// over all of the file's. What they leave empty is the file's.
struct SpecFlags {
  std::string model;
  std::vector<std::string> arguments;
  std::vector<Variant> variants;
};

// ParseSpec reads an experiment file (TOML); file is its name in messages. Fails with kUsage, with
// the line, on what is no key or of a wrong type; CheckSpec is still to be asked.
base::Result<Spec> ParseSpec(std::string_view text, std::string_view file,
                             const SpecFlags& flags = {});

// WriteSpec is an experiment file that ParseSpec reads as the same Spec.
std::string WriteSpec(const Spec& spec);

}  // namespace culprit::experiment
