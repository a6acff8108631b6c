#include "analysis/classify.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "analysis/pass_order.h"
#include "base/check.h"

namespace culprit::analysis {
namespace {

constexpr std::uint32_t kUnset = 0xFFFFFFFFu;

// Candidates are the rules and marks that a kernel can match, whatever its launches are.
struct Candidates {
  std::vector<std::uint32_t> rules;
  std::vector<std::uint32_t> marks;
};

Candidates FindCandidates(const RuleSet& set, const KernelName& name, std::string_view full_name,
                          trace::WorkKind kind) {
  Candidates found;
  for (std::size_t i = 0; i < set.rules.size(); ++i) {
    if (set.rules[i].when.HoldsFor(name, full_name, kind))
      found.rules.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = 0; i < set.marks.size(); ++i) {
    if (set.marks[i].when.HoldsFor(name, full_name, kind))
      found.marks.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

// ForEachRule calls visit(rule index) for the rules a launch can match, in order, up to the
// first that does not ask for an order.
template <typename Visit>
void ForEachRule(const RuleSet& set, const Candidates& candidates, const Launch& launch,
                 Visit visit) {
  for (const std::uint32_t index : candidates.rules) {
    const Condition& when = set.rules[index].when;
    if (!when.HoldsFor(launch)) continue;
    if (!visit(index) || !when.depends_on_order()) return;
  }
}

std::optional<std::size_t> MatchRule(const RuleSet& set, const Candidates& candidates,
                                     const Launch& launch, Place place,
                                     std::optional<PassKind> pass) {
  std::optional<std::size_t> match;
  ForEachRule(set, candidates, launch, [&](std::uint32_t index) {
    if (!set.rules[index].when.HoldsIn(place, pass)) return true;
    match = index;
    return false;
  });
  return match;
}

Sign MatchSign(const RuleSet& set, const Candidates& candidates, const Launch& launch) {
  for (const std::uint32_t index : candidates.marks) {
    if (set.marks[index].when.HoldsFor(launch)) return set.marks[index].sign;
  }
  return Sign::kNone;
}

// ShowsItsPlace tells signs of kernels that a report and a pairing tell apart by place.
bool ShowsItsPlace(Sign sign) {
  return sign == Sign::kMul || sign == Sign::kBatchedMul || sign == Sign::kExpertMul ||
         sign == Sign::kMulPart || sign == Sign::kHead;
}

std::string CategoryOf(const RuleSet& set, std::optional<std::size_t> rule,
                       const KernelName& name) {
  if (!rule) return std::string(kUnclassified);
  std::string category = set.rules[*rule].category;
  constexpr std::string_view kType = "{type}";
  if (const std::size_t at = category.find(kType); at != std::string::npos) {
    category.replace(at, kType.size(), name.type_name.empty() ? "float" : name.type_name);
  }
  return category;
}

std::string RoleOf(const RuleSet& set, std::optional<std::size_t> rule, Sign sign, Place place) {
  if (rule && !set.rules[*rule].role.empty()) return set.rules[*rule].role;
  return ShowsItsPlace(sign) ? std::string(Name(place)) : std::string();
}

// Tensile writes a kernel's whole tuning into its name: Cijk_Alik_Bljk_BBS_BH_…_MT64x32x256_….
// The tuning is the library's choice; what is multiplied stands before it.
std::string IdentityOf(const KernelName& name, std::string_view role) {
  std::string identity = name.Short();
  if (const std::size_t cijk = identity.find("Cijk_"); cijk <= 7) {
    identity = identity.substr(0, identity.find("_MT"));
  }
  if (!name.type_name.empty()) identity += " " + name.type_name;
  if (!role.empty()) identity += " (" + std::string(role) + ")";
  return identity;
}

// Decision is what is known of a launch group before the order of launches is looked at.
struct Decision {
  Sign sign = Sign::kNone;
  bool ordered = false;            // its class depends on place or pass
  bool draft_head = false;         // guessed, where passes are unknown
  std::uint32_t classes = kUnset;  // ordered: first of its cells; else its class
};

// An ordered group has a cell for each place, in a pass unknown, of the target and of the draft.
constexpr std::size_t kPassCells = 3;

void EndPasses(std::vector<PassOrder>& orders) {
  for (PassOrder& order : orders) order.EndPass();
}

// Classifier carries one Classify.
class Classifier {
 public:
  Classifier(const trace::Trace& trace, const Window& window, const LaunchGroups& groups,
             const std::optional<Passes>& passes, std::optional<std::int64_t> vocabulary,
             const RuleSet& rules)
      : trace_(trace),
        window_(window),
        groups_(groups),
        passes_(passes),
        steps_(passes ? Count(passes->steps()) : 0),
        vocabulary_(vocabulary),
        rules_(rules) {}

  Classification Run() {
    result_.of.resize(groups_.of.size());
    result_.names.resize(trace_.kernels.size());
    candidates_.resize(trace_.kernels.size());
    for (std::size_t i = 0; i < groups_.groups.size(); ++i)
      decisions_.push_back(Decide(GroupId(i)));
    if (!passes_) GuessDraftHead();
    FollowOrder();
    return std::move(result_);
  }

 private:
  Decision Decide(GroupId group);
  void GuessDraftHead();
  void FollowOrder();
  Launch LaunchOf(GroupId group);
  std::uint32_t ClassOf(GroupId group, Place place, std::optional<PassKind> pass);
  std::uint32_t AddClass(GroupId group, Place place, std::optional<PassKind> pass);
  const Candidates& CandidatesOf(trace::KernelId kernel);
  [[nodiscard]] const KernelName& NameOf(GroupId group) const {
    return result_.names[groups_.groups[group.index()].kernel.index()];
  }

  const trace::Trace& trace_;
  const Window& window_;
  const LaunchGroups& groups_;
  const std::optional<Passes>& passes_;
  const std::int64_t steps_;  // counted once: passes_ counts its steps each time it is asked
  std::optional<std::int64_t> vocabulary_;
  const RuleSet& rules_;

  Classification result_;
  std::vector<std::optional<Candidates>> candidates_;  // by KernelId
  std::vector<Decision> decisions_;                    // by GroupId
  std::vector<std::uint32_t> cells_;                   // classes of ordered groups
  std::unordered_map<std::string, std::uint32_t> class_ids_;
};

const Candidates& Classifier::CandidatesOf(trace::KernelId kernel) {
  std::optional<Candidates>& found = candidates_[kernel.index()];
  if (!found) {
    const std::string_view full_name = trace_.kernel_name(kernel);
    KernelName& name = result_.names[kernel.index()];
    name = ParseKernelName(full_name);
    found = FindCandidates(rules_, name, full_name, trace_.kernels[kernel.index()].kind);
  }
  return *found;
}

Launch Classifier::LaunchOf(GroupId id) {
  const LaunchGroup& group = groups_.groups[id.index()];
  Launch launch{trace_.geometries[group.geometry.index()], std::nullopt, vocabulary_};
  if (steps_ > 0) {
    launch.per_step = static_cast<double>(group.launches) / static_cast<double>(steps_);
  }
  launch.sign = MatchSign(rules_, CandidatesOf(group.kernel), launch);
  return launch;
}

Decision Classifier::Decide(GroupId group) {
  const Candidates& candidates = CandidatesOf(groups_.groups[group.index()].kernel);
  const Launch launch = LaunchOf(group);
  Decision decision;
  decision.sign = launch.sign;
  decision.ordered = ShowsItsPlace(decision.sign);
  ForEachRule(rules_, candidates, launch, [&](std::uint32_t index) {
    decision.ordered = decision.ordered || rules_.rules[index].when.depends_on_order();
    return true;
  });
  if (decision.ordered) {
    if (decision.sign == Sign::kNone) decision.sign = Sign::kOther;
    decision.classes = static_cast<std::uint32_t>(cells_.size());
    cells_.resize(cells_.size() + kPlaces * kPassCells, kUnset);
  } else {
    decision.classes = AddClass(group, Place::kUnknown, std::nullopt);
  }
  return decision;
}

// TokensAtOnce is how many columns a matrix-vector kernel of ggml multiplies with: its second
// template argument, in `mul_mat_vec_q<(ggml_type)14, 4, …>` 4.
int TokensAtOnce(const KernelName& name) {
  int tokens = 1;
  if (name.arguments.size() > 1) {
    const std::string& text = name.arguments[1];
    std::from_chars(text.data(), text.data() + text.size(), tokens);
  }
  return tokens;
}

// Without passes a draft model is known by its head: it looks at one token at a time and is
// launched more often than the head that verifies several.
void Classifier::GuessDraftHead() {
  std::int64_t single = 0, several = 0;
  std::vector<std::size_t> singles;
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    if (decisions_[i].sign != Sign::kHead) continue;
    if (TokensAtOnce(NameOf(GroupId(i))) > 1) {
      several += groups_.groups[i].launches;
    } else {
      single += groups_.groups[i].launches;
      singles.push_back(i);
    }
  }
  if (several == 0 || single < several) return;
  for (const std::size_t i : singles) decisions_[i].draft_head = true;
}

std::uint32_t Classifier::AddClass(GroupId id, Place place, std::optional<PassKind> pass) {
  const trace::KernelId kernel = groups_.groups[id.index()].kernel;
  const Launch launch = LaunchOf(id);
  const auto rule = MatchRule(rules_, CandidatesOf(kernel), launch, place, pass);
  const KernelName& name = result_.names[kernel.index()];
  Class made{
      CategoryOf(rules_, rule, name), RoleOf(rules_, rule, launch.sign, place), {}, kernel, rule};
  made.identity = IdentityOf(name, made.role);
  const std::string key = std::to_string(kernel.index()) + '\n' + made.category + '\n' + made.role +
                          '\n' + std::to_string(rule.value_or(rules_.rules.size()));
  const auto [found, added] =
      class_ids_.emplace(key, static_cast<std::uint32_t>(result_.classes.size()));
  if (added) result_.classes.push_back(std::move(made));
  return found->second;
}

std::uint32_t Classifier::ClassOf(GroupId group, Place place, std::optional<PassKind> pass) {
  const Decision& decision = decisions_[group.index()];
  if (!decision.ordered) return decision.classes;
  const std::size_t pass_cell = pass ? 1 + static_cast<std::size_t>(*pass) : 0;
  std::uint32_t& cell =
      cells_[decision.classes + static_cast<std::size_t>(place) * kPassCells + pass_cell];
  if (cell == kUnset) cell = AddClass(group, place, pass);
  return cell;
}

// One walk over the dispatches, with the order of each device followed apart: a device's launches
// say nothing about another's. Passes that end with an output head also say which launch is one,
// where no mark does; passes found by their period alone may begin in the middle of a layer.
void Classifier::FollowOrder() {
  const std::size_t known_passes = passes_ ? passes_->passes.size() : 0;
  const bool heads_known = passes_ && passes_->method == PassMethod::kOutputHead;
  std::size_t pass = 0;  // the one that is being read
  std::vector<PassOrder> orders;
  for (std::size_t i = 0; i < trace_.devices.size(); ++i) {
    orders.emplace_back([&](std::uint32_t offset, Place place) {
      const GroupId group = groups_.of[offset];
      std::optional<PassKind> kind;
      if (pass < known_passes) kind = passes_->passes[pass].kind;
      if (decisions_[group.index()].draft_head) kind = PassKind::kDraft;
      result_.of[offset] = ClassId(ClassOf(group, place, kind));
    });
  }
  for (std::size_t offset = 0; offset < result_.of.size(); ++offset) {
    const Decision& decision = decisions_[groups_.of[offset].index()];
    const std::size_t dispatch = window_.first + offset;
    if (pass < known_passes && dispatch == passes_->passes[pass].last) {
      if (heads_known) EndPasses(orders);
      ++pass;
    }
    if (decision.sign == Sign::kNone) {
      result_.of[offset] = ClassId(decision.classes);
      continue;
    }
    const bool head = heads_known && pass < known_passes &&
                      dispatch + 1 == passes_->passes[pass].last && decision.sign == Sign::kMul;
    const trace::LaneId lane = trace_.lane[dispatch];
    orders[trace_.lanes[lane.index()].device.index()].Step(static_cast<std::uint32_t>(offset),
                                                           head ? Sign::kHead : decision.sign);
  }
  EndPasses(orders);
}

}  // namespace

Classification Classify(const trace::Trace& trace, const Window& window, const LaunchGroups& groups,
                        const std::optional<Passes>& passes, std::optional<std::int64_t> vocabulary,
                        const RuleSet& rules) {
  CULPRIT_CHECK(groups.of.size() == window.last - window.first);
  return Classifier(trace, window, groups, passes, vocabulary, rules).Run();
}

Explanation Explain(std::string_view full_name, trace::WorkKind kind, Launch launch,
                    const RuleSet& rules) {
  Explanation result;
  result.name = ParseKernelName(full_name);
  const Candidates candidates = FindCandidates(rules, result.name, full_name, kind);
  result.sign = launch.sign = MatchSign(rules, candidates, launch);
  bool settled = false;
  const auto add = [&](Place place, std::optional<PassKind> pass, std::optional<std::size_t> rule) {
    result.outcomes.push_back({place, pass, CategoryOf(rules, rule, result.name),
                               RoleOf(rules, rule, result.sign, place), rule});
  };
  ForEachRule(rules, candidates, launch, [&](std::uint32_t index) {
    const Condition& when = rules.rules[index].when;
    if (when.places == 0) add(Place::kUnknown, when.pass, index);
    for (std::size_t place = 0; place < kPlaces; ++place) {
      if ((when.places >> place & 1u) != 0) add(static_cast<Place>(place), when.pass, index);
    }
    settled = !when.depends_on_order();
    return true;
  });
  if (!settled) add(Place::kUnknown, std::nullopt, std::nullopt);
  return result;
}

LaunchClass ClassifyLaunch(std::string_view full_name, const Launch& launch, const RuleSet& rules) {
  Explanation explanation = Explain(full_name, trace::WorkKind::kKernel, launch, rules);
  Outcome& otherwise = explanation.outcomes.back();
  std::string identity = IdentityOf(explanation.name, otherwise.role);
  return {std::move(explanation.name), std::move(otherwise.category), std::move(otherwise.role),
          std::move(identity)};
}

}  // namespace culprit::analysis
