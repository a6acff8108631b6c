#include "analysis/pass_order.h"

#include <algorithm>

namespace culprit::analysis {
namespace {

// A stretch this long is no layer of a model: without landmarks there is nothing to wait for.
constexpr std::size_t kMaxStretch = 4096;

bool IsMul(Sign sign) {
  return sign == Sign::kMul || sign == Sign::kBatchedMul || sign == Sign::kExpertMul;
}

}  // namespace

void PassOrder::Step(std::uint32_t dispatch, Sign sign) {
  if (stretch_.size() >= kMaxStretch) Close(Landmark::kEdge);
  if (IsMul(sign) || sign == Sign::kNorm || sign == Sign::kKvWrite) after_head_ = false;
  switch (sign) {
    case Sign::kNone:
      return;
    case Sign::kMul:
    case Sign::kBatchedMul:
    case Sign::kExpertMul:
      return StepMul(dispatch, sign);
    case Sign::kExpertIds:
      expert_next_ = true;
      return Emit({dispatch, sign}, Place::kUnknown);
    case Sign::kNorm:
      softmax_at_ = -1;
      break;
    case Sign::kKvWrite:
      kv_written_ = true;
      break;
    case Sign::kSoftmax:
      return StepSoftmax(dispatch);
    case Sign::kRouting:
      if (after_head_) return Emit({dispatch, sign}, Place::kSampling);
      Close(Landmark::kRouting);
      return Emit({dispatch, sign}, Place::kRouter);
    case Sign::kAttention:
      Close(Landmark::kAttention);
      return Emit({dispatch, sign}, Place::kAttention);
    case Sign::kState:
      Close(Landmark::kState);
      return Emit({dispatch, sign}, Place::kUnknown);
    case Sign::kHead:
      return StepHead(dispatch);
    case Sign::kSampling:
      return StepSampling(dispatch);
    case Sign::kOther:
      if (after_head_) return Emit({dispatch, sign}, Place::kSampling);
      break;
    case Sign::kMulPart:
      break;
  }
  stretch_.push_back({dispatch, sign});
}

// A multiplication of many is one of experts, unless a KV write says that attention comes next.
// One that is not of experts makes a softmax before it that of attention.
void PassOrder::StepMul(std::uint32_t dispatch, Sign sign) {
  const bool expert =
      sign == Sign::kExpertMul || expert_next_ || (sign == Sign::kBatchedMul && !kv_written_);
  expert_next_ = false;
  if (softmax_at_ >= 0 && expert) Close(Landmark::kRouting);
  if (softmax_at_ >= 0) {
    ConfirmAttention();
    return Emit({dispatch, Sign::kMul}, Place::kAttention);
  }
  stretch_.push_back({dispatch, expert ? Sign::kExpertMul : Sign::kMul});
}

void PassOrder::StepSoftmax(std::uint32_t dispatch) {
  if (after_head_) return Emit({dispatch, Sign::kSoftmax}, Place::kSampling);
  softmax_at_ = static_cast<int>(stretch_.size());
  stretch_.push_back({dispatch, Sign::kSoftmax});
}

void PassOrder::StepHead(std::uint32_t dispatch) {
  Close(Landmark::kEdge);
  after_head_ = true;
  Emit({dispatch, Sign::kMul}, Place::kHead);
}

// Where the head is a library's GEMM, no mark can know it: it is the multiplication that sampling
// follows without a norm between.
void PassOrder::StepSampling(std::uint32_t dispatch) {
  if (!after_head_) {
    const auto last = std::find_if(stretch_.rbegin(), stretch_.rend(), [](const Entry& entry) {
      return IsMul(entry.sign) || entry.sign == Sign::kNorm;
    });
    if (last != stretch_.rend() && last->sign == Sign::kMul) {
      const std::vector<Entry> tail(last.base() - 1, stretch_.end());
      stretch_.resize(stretch_.size() - tail.size());
      Close(Landmark::kEdge);
      for (const Entry& entry : tail) Emit(entry, Place::kHead);
    }
    Close(Landmark::kEdge);
  }
  after_head_ = true;
  Emit({dispatch, Sign::kSampling}, Place::kSampling);
}

// A multiplication after a softmax: they are KQ, softmax and KQV, with what lies between.
void PassOrder::ConfirmAttention() {
  std::size_t first = static_cast<std::size_t>(softmax_at_);
  for (std::size_t i = first; i > 0; --i) {
    if (stretch_[i - 1].sign == Sign::kNorm) break;
    if (!IsMul(stretch_[i - 1].sign)) continue;
    first = i - 1;
    break;
  }
  const std::vector<Entry> inside(stretch_.begin() + static_cast<std::ptrdiff_t>(first),
                                  stretch_.end());
  stretch_.resize(first);
  Close(Landmark::kAttention);
  for (const Entry& entry : inside) Emit(entry, Place::kAttention);
}

void PassOrder::EndPass() {
  Close(Landmark::kEdge);
  expert_next_ = false;
}

PassOrder::Layout PassOrder::MeasureStretch(Landmark next) {
  Layout layout;
  segments_.clear();
  bool open = false;
  for (std::size_t i = 0; i < stretch_.size(); ++i) {
    Entry& entry = stretch_[i];
    if (entry.sign == Sign::kNorm) open = false;
    if (IsMul(entry.sign)) {
      if (!open) segments_.push_back({i, i});
      open = true;
      segments_.back().last_mul = i;
      if (entry.sign == Sign::kExpertMul) {
        layout.last_expert = i;
        layout.moe = static_cast<int>(segments_.size()) - 1;
      }
    }
    entry.segment = static_cast<int>(segments_.size()) - 1;
  }
  const int segments = static_cast<int>(segments_.size());
  const bool core_before = previous_ == Landmark::kAttention || previous_ == Landmark::kState;
  if (core_before && layout.moe != 0) layout.out = 0;
  // A feed-forward part has two multiplications at least; a lone one between norms is a query.
  if (core_before && layout.moe < 0 && next != Landmark::kRouting &&
      segments >= (next == Landmark::kEdge ? 2 : 3) &&
      segments_[1].last_mul != segments_[1].first_mul) {
    layout.ffn = 1;
  }
  layout.first_input = 1 + std::max({layout.out, layout.moe, layout.ffn});
  return layout;
}

Place PassOrder::PlaceOfMul(const Layout& layout, std::size_t index, Landmark next) const {
  const Entry& entry = stretch_[index];
  const Segment& segment = segments_[static_cast<std::size_t>(entry.segment)];
  if (entry.sign == Sign::kExpertMul) {
    return index == layout.last_expert ? Place::kExpertsOut : Place::kExpertsIn;
  }
  if (entry.segment == layout.moe) return Place::kSharedExpert;
  if (next == Landmark::kRouting && index == segments_.back().last_mul) return Place::kRouter;
  const bool first = index == segment.first_mul;
  const bool last = index == segment.last_mul;
  if (entry.segment == layout.out) {
    if (previous_ == Landmark::kState) return Place::kStateOut;
    if (first) return Place::kAttentionOut;
    return last ? Place::kFfnOut : Place::kFfnIn;  // attention and feed-forward side by side
  }
  if (entry.segment == layout.ffn) return last && !first ? Place::kFfnOut : Place::kFfnIn;
  if (next == Landmark::kAttention) return Place::kAttentionIn;
  if (next == Landmark::kState) return Place::kStateIn;
  return Place::kUnknown;
}

Place PassOrder::PlaceOfOther(const Layout& layout, std::size_t index, Landmark next) const {
  const Entry& entry = stretch_[index];
  if (entry.sign == Sign::kNorm) return Place::kUnknown;
  const bool before_muls = entry.segment < 0;
  const bool after_muls = segments_.empty() || index > segments_.back().last_mul;
  if (entry.sign == Sign::kSoftmax) {
    return next == Landmark::kRouting && after_muls ? Place::kRouter : Place::kUnknown;
  }
  if (next == Landmark::kAttention && (entry.sign == Sign::kKvWrite || after_muls)) {
    return Place::kBeforeAttention;
  }
  if (previous_ == Landmark::kAttention && before_muls) return Place::kAfterAttention;
  const bool input = next == Landmark::kAttention && entry.segment >= layout.first_input;
  return input ? Place::kAttentionIn : Place::kUnknown;
}

void PassOrder::Close(Landmark next) {
  const Layout layout = MeasureStretch(next);
  for (std::size_t i = 0; i < stretch_.size(); ++i) {
    Emit(stretch_[i],
         IsMul(stretch_[i].sign) ? PlaceOfMul(layout, i, next) : PlaceOfOther(layout, i, next));
  }
  stretch_.clear();
  previous_ = next;
  softmax_at_ = -1;
  kv_written_ = false;
}

void PassOrder::Emit(const Entry& entry, Place place) {
  if (IsMul(entry.sign)) last_mul_place_ = place;
  sink_(entry.dispatch, entry.sign == Sign::kMulPart ? last_mul_place_ : place);
}

}  // namespace culprit::analysis
