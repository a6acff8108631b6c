#include "analysis/pass_order.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace culprit::analysis {
namespace {

const std::map<std::string, Sign>& Words() {
  static const std::map<std::string, Sign> kWords = {
      {"mul", Sign::kMul},           {"many", Sign::kBatchedMul}, {"expert", Sign::kExpertMul},
      {"ids", Sign::kExpertIds},     {"fixup", Sign::kMulPart},   {"norm", Sign::kNorm},
      {"routing", Sign::kRouting},   {"softmax", Sign::kSoftmax}, {"kv", Sign::kKvWrite},
      {"attn", Sign::kAttention},    {"state", Sign::kState},     {"head", Sign::kHead},
      {"sampling", Sign::kSampling}, {"other", Sign::kOther}};
  return kWords;
}

// Places runs a pass given as words and writes what each came out as; a word whose place is
// unknown stays alone: "mul=qkv norm".
std::string Places(const std::string& pass) {
  std::vector<std::string> words;
  std::istringstream in(pass);
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<Place> places(words.size(), Place::kCount);
  PassOrder order([&](std::uint32_t at, Place place) {
    EXPECT_EQ(places[at], Place::kCount) << "placed twice: " << at;
    places[at] = place;
  });
  for (std::size_t i = 0; i < words.size(); ++i)
    order.Step(static_cast<std::uint32_t>(i), Words().at(words[i]));
  order.EndPass();
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_NE(places[i], Place::kCount) << "never placed: " << words[i];
    text += (i == 0 ? "" : " ") + words[i];
    if (places[i] != Place::kUnknown) text += "=" + std::string(Name(places[i]));
  }
  return text;
}

TEST(PassOrder, TellsGateAndUpFromDownByOrderAlone) {
  EXPECT_EQ(
      Places("attn mul norm mul routing many many norm mul mul mul kv attn"),
      "attn=attention mul=attention out norm mul=router routing=router many=gate/up many=down "
      "norm mul=qkv mul=qkv mul=qkv kv=before attention attn=attention");
  EXPECT_EQ(
      Places("routing expert expert expert norm mul routing"),
      "routing=router expert=gate/up expert=gate/up expert=down norm mul=router routing=router");
}

TEST(PassOrder, KnowsExpertsInPrefillByTheSortBeforeThem) {
  EXPECT_EQ(
      Places("routing ids mul ids mul fixup ids mul fixup norm mul fixup attn"),
      "routing=router ids mul=gate/up ids mul=gate/up fixup=gate/up ids mul=down fixup=down norm "
      "mul=qkv fixup=qkv attn=attention");
}

TEST(PassOrder, SetsSharedExpertsApart) {
  EXPECT_EQ(
      Places("routing many many mul mul norm mul attn"),
      "routing=router many=gate/up many=down mul=shared expert mul=shared expert norm mul=qkv "
      "attn=attention");
}

TEST(PassOrder, ReadsADenseLayer) {
  EXPECT_EQ(
      Places("attn mul norm mul mul norm mul mul mul kv attn mul norm mul mul norm head"),
      "attn=attention mul=attention out norm mul=ffn gate/up mul=ffn down norm mul=qkv mul=qkv "
      "mul=qkv kv=before attention attn=attention mul=attention out norm mul=ffn gate/up "
      "mul=ffn down norm head=head");
}

TEST(PassOrder, TakesALoneMultiplicationBetweenNormsForAQuery) {
  EXPECT_EQ(Places("attn mul norm mul norm mul mul norm kv attn"),
            "attn=attention mul=attention out norm mul=qkv norm mul=qkv mul=qkv norm "
            "kv=before attention attn=attention");
}

TEST(PassOrder, FindsAttentionThatIsNotOneKernel) {
  EXPECT_EQ(
      Places(
          "routing many many norm mul mul mul kv other many other softmax other many fixup other "
          "mul norm mul routing"),
      "routing=router many=gate/up many=down norm mul=qkv mul=qkv mul=qkv kv=before attention "
      "other=before attention many=attention other=attention softmax=attention other=attention "
      "many=attention fixup=attention other=after attention mul=attention out norm mul=router "
      "routing=router");
}

TEST(PassOrder, TellsARoutingSoftmaxFromOneOfAttentionAndOneOfSampling) {
  EXPECT_EQ(
      Places("norm mul softmax routing many many norm head softmax other routing norm mul attn"),
      "norm mul=router softmax=router routing=router many=gate/up many=down norm head=head "
      "softmax=sampling other=sampling routing=sampling norm mul=qkv attn=attention");
}

TEST(PassOrder, ReadsLinearAttention) {
  EXPECT_EQ(
      Places("norm mul other norm norm mul mul state norm mul mul norm mul routing many many"),
      "norm mul=state in other norm norm mul=state in mul=state in state norm mul=state out "
      "mul=state out norm mul=router routing=router many=gate/up many=down");
}

TEST(PassOrder, PlacesWhatStandsAroundAttention) {
  EXPECT_EQ(Places("norm mul other mul other mul norm other kv other attn other mul norm"),
            "norm mul=qkv other=qkv mul=qkv other=qkv mul=qkv norm other=before attention "
            "kv=before attention other=before attention attn=attention other=after attention "
            "mul=attention out norm");
}

TEST(PassOrder, KnowsAHeadByTheSamplingThatFollows) {
  EXPECT_EQ(Places("attn mul norm mul mul norm mul fixup other sampling norm mul attn"),
            "attn=attention mul=attention out norm mul=ffn gate/up mul=ffn down norm mul=head "
            "fixup=head other=head sampling=sampling norm mul=qkv attn=attention");
}

TEST(PassOrder, PlacesEveryDispatchOnceWhateverTheOrder) {
  std::uint32_t random = 1;
  std::vector<int> placed(20000);
  PassOrder order([&](std::uint32_t at, Place) { ++placed[at]; });
  for (std::uint32_t i = 0; i < placed.size(); ++i) {
    random = random * 1664525u + 1013904223u;
    order.Step(i, static_cast<Sign>(1 + (random >> 16) % static_cast<unsigned>(Sign::kOther)));
    if (random >> 24 == 0) order.EndPass();
  }
  order.EndPass();
  EXPECT_EQ(placed, std::vector<int>(placed.size(), 1));
}

TEST(PassOrder, HoldsNoMoreThanALayer) {
  std::size_t placed = 0;
  PassOrder order([&](std::uint32_t, Place) { ++placed; });
  for (std::uint32_t i = 0; i < 100000; ++i) order.Step(i, Sign::kMul);
  EXPECT_GT(placed, 90000u);
  order.EndPass();
  EXPECT_EQ(placed, 100000u);
}

}  // namespace
}  // namespace culprit::analysis
