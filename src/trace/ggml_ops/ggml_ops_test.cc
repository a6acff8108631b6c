#include "trace/ggml_ops/ggml_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "inject/wire/ggml_ops.h"
#include "trace/ggml_ops/op_name.h"
#include "trace/registry.h"

namespace culprit::trace::ggml_ops {
namespace {

using base::Diagnostics;
using base::ErrorCode;
using base::Finding;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <std::size_t kSize>
void Fill(char (&field)[kSize], std::string_view text) {
  text.copy(field, kSize);
}

culprit_ops_tensor Tensor(std::string_view name, std::string_view type) {
  culprit_ops_tensor tensor{};
  Fill(tensor.name, name);
  Fill(tensor.type, type);
  tensor.size[0] = 1;
  return tensor;
}

culprit_ops_definition Op(std::string_view op, const culprit_ops_tensor& node,
                          std::initializer_list<culprit_ops_tensor> sources = {}) {
  culprit_ops_definition definition{};
  Fill(definition.op, op);
  Fill(definition.backend, "CPU");
  definition.node = node;
  std::copy(sources.begin(), sources.end(), definition.source);
  return definition;
}

// File is what the library would write.
class File {
 public:
  File() {
    culprit_ops_header header{{}, CULPRIT_OPS_VERSION, sizeof header, CLOCK_BOOTTIME, 77, 1};
    Fill(header.magic, CULPRIT_OPS_MAGIC);
    Add(header);
  }
  File& Chunk(std::uint32_t scheduler, std::int64_t dropped = 0) {
    return Record(CULPRIT_OPS_CHUNK, scheduler, 0, dropped);
  }
  File& Define(std::uint32_t number, const culprit_ops_definition& definition) {
    Record(CULPRIT_OPS_DEFINITION, number, sizeof definition, 0);
    Add(definition);
    return *this;
  }
  File& Node(std::uint32_t definition, std::int64_t begin, std::int64_t end) {
    return Record(CULPRIT_OPS_NODE, definition, begin, end);
  }
  File& End(std::int64_t nodes, std::uint32_t signal = 0) {
    return Record(CULPRIT_OPS_END, signal, 1000, nodes);
  }
  File& Record(std::uint32_t kind, std::uint32_t id, std::int64_t begin, std::int64_t end) {
    Add(culprit_ops_record{kind, id, begin, end});
    return *this;
  }
  [[nodiscard]] std::string bytes() const { return bytes_; }

 private:
  template <typename T>
  void Add(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string bytes_;
};

base::Result<Trace> ReadBytes(std::string bytes) {
  return ReadTrace(sys::Source::FromMemory("77.ggml-ops", std::move(bytes)));
}

const culprit_ops_definition kGate =
    Op("MUL_MAT", Tensor("ffn_gate-3", "f32"),
       {Tensor("blk.3.ffn_gate.weight", "q4_K"), Tensor("ffn_norm-3", "f32")});
const culprit_ops_definition kHead =
    Op("MUL_MAT", Tensor("result_output", "f32"), {Tensor("token_embd.weight", "q6_K")});

// Two nodes of one scheduler, and what may be wrong with them.
File TwoNodes() {
  File file;
  file.Chunk(0).Define(0, kGate).Node(0, 100, 150).Define(1, kHead).Node(1, 160, 170);
  return file.Record(CULPRIT_OPS_GRAPH, 0, 90, 180);
}

std::vector<Diagnostics::Entry> FindingsOf(const File& file) {
  const auto trace = ReadBytes(file.bytes());
  return trace ? trace->diagnostics.entries() : std::vector<Diagnostics::Entry>{};
}

TEST(GgmlOpsReader, MakesEachNodeADispatchOfItsLayer) {
  const auto trace = ReadBytes(TwoNodes().End(2).bytes());
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->format, "ggml ops");
  EXPECT_EQ(trace->clock, NamedClock::kBoottime);
  ASSERT_EQ(trace->size(), 2u);
  EXPECT_EQ(trace->kernel_name(trace->kernel[0]), "MUL_MAT<ffn_gate, Q4_K>");
  EXPECT_EQ(trace->kernel_name(trace->kernel[1]), "MUL_MAT<result_output, Q6_K>");
  EXPECT_EQ(trace->start[0].time_since_epoch().count(), 100);
  EXPECT_EQ(trace->end[0].time_since_epoch().count(), 150);
  EXPECT_THAT(trace->layer, ElementsAre(Layer(3), Layer()));
  ASSERT_EQ(trace->lanes.size(), 1u);
  EXPECT_EQ(trace->lanes[0].queue, 0);
  EXPECT_EQ(trace->lanes[0].process, 77);
  EXPECT_EQ(trace->devices[0].name, "CPU");
  EXPECT_THAT(trace->diagnostics.entries(), IsEmpty());
}

TEST(GgmlOpsReader, LetsEachSchedulerNumberItsOwnDefinitions) {
  File file;
  file.Chunk(0).Define(0, kGate).Node(0, 100, 110);
  file.Chunk(1).Define(0, kHead).Node(0, 120, 130);
  file.Chunk(0).Node(0, 140, 150).End(3);
  const auto trace = ReadBytes(file.bytes());
  ASSERT_TRUE(trace);
  EXPECT_THAT(trace->layer, ElementsAre(Layer(3), Layer(), Layer(3)));
  EXPECT_EQ(trace->lanes.size(), 2u);
  EXPECT_THAT(trace->diagnostics.entries(), IsEmpty());
}

TEST(GgmlOpsReader, SaysWhatIsMissing) {
  EXPECT_THAT(FindingsOf(TwoNodes()), ElementsAre(Diagnostics::Entry{Finding::kNoEnd, 1, ""}));
  EXPECT_THAT(FindingsOf(TwoNodes().End(2, 11)),
              ElementsAre(Diagnostics::Entry{Finding::kNoEnd, 1, "signal 11"}));
  EXPECT_THAT(FindingsOf(TwoNodes().End(5)),
              ElementsAre(Diagnostics::Entry{Finding::kDroppedRecords, 1,
                                             "its end tells of 5 nodes, 2 were read"}));
  EXPECT_THAT(FindingsOf(TwoNodes().Chunk(0, 4).Chunk(0, 9).End(2)),
              ElementsAre(Diagnostics::Entry{Finding::kDroppedRecords, 9, ""}));
}

TEST(GgmlOpsReader, KeepsWhatComesBeforeATornRecord) {
  const std::string whole = TwoNodes().bytes();
  // Into the graph's record, and into the second node's definition.
  for (const std::size_t cut : {std::size_t{10}, std::size_t{100}}) {
    const auto trace = ReadBytes(whole.substr(0, whole.size() - cut));
    ASSERT_TRUE(trace) << cut;
    EXPECT_TRUE(trace->diagnostics.Has(Finding::kTornTail)) << cut;
    EXPECT_TRUE(trace->diagnostics.Has(Finding::kNoEnd)) << cut;
    EXPECT_EQ(trace->size(), cut == 10 ? 2u : 1u);
  }
}

// What the writer could not write may have held definitions: it numbers anew.
TEST(GgmlOpsReader, ForgetsDefinitionsWhenTheyAreNumberedAnew) {
  const auto trace = ReadBytes(TwoNodes().Define(0, kHead).Node(0, 200, 210).End(3).bytes());
  ASSERT_TRUE(trace) << trace.error().Text();
  ASSERT_EQ(trace->size(), 3u);
  EXPECT_EQ(trace->kernel_name(trace->kernel[2]), "MUL_MAT<result_output, Q6_K>");
  EXPECT_EQ(trace->diagnostics.count(Finding::kMalformedRow), 0);
}

TEST(GgmlOpsReader, CountsRecordsThatMakeNoSense) {
  const auto malformed = [](const File& file) {
    const auto trace = ReadBytes(file.bytes());
    return trace ? trace->diagnostics.count(Finding::kMalformedRow) : -1;
  };
  EXPECT_EQ(malformed(TwoNodes().Node(2, 200, 210).End(2)), 1) << "a node without a definition";
  EXPECT_EQ(malformed(TwoNodes().Define(7, kGate).End(2)), 1) << "a definition out of order";
  EXPECT_EQ(malformed(TwoNodes().Record(99, 0, 0, 0).End(2)), 1) << "no known kind";
  EXPECT_EQ(malformed(TwoNodes().End(2).End(2)), 1) << "a second end";
  EXPECT_EQ(malformed(TwoNodes().Chunk(0, -1).End(2)), 1) << "fewer dropped than before";
  EXPECT_EQ(malformed(TwoNodes().Record(CULPRIT_OPS_DEFINITION, 2, -1, 0).End(2)), 1);
  EXPECT_EQ(ReadBytes(File().Node(0, 1, 2).End(0).bytes()).error().code, ErrorCode::kNotATrace);
}

TEST(GgmlOpsReader, RefusesOtherVersionsAndBrokenHeaders) {
  std::string later = TwoNodes().bytes();
  later[8] = 2;
  EXPECT_EQ(ReadBytes(later).error().Text(),
            "77.ggml-ops: is a file of ggml ops of version 2; version 1 is known; read it with the "
            "culprit that took it");
  EXPECT_EQ(ReadBytes(TwoNodes().bytes().substr(0, 20)).error().Text(),
            "77.ggml-ops: the file breaks off in its header; trace again, or copy the file again");
  std::string short_header = TwoNodes().bytes();
  short_header[12] = 1;
  EXPECT_EQ(ReadBytes(short_header).error().code, ErrorCode::kDamagedTrace);
}

TEST(GgmlOpName, SaysOpWhatItWorksOnAndType) {
  const auto name = [](const culprit_ops_definition& definition) { return NameOf(definition); };
  const auto cache = [](std::string_view type) {
    return Tensor("cache_k_l7 (view) (permuted)", type);
  };
  const OpName attention = name(Op("FLASH_ATTN_EXT", Tensor("node_24", "f32"),
                                   {Tensor("Qcur-7 (view)", "f32"), cache("q4_0"), cache("q4_0")}));
  EXPECT_EQ(attention.text, "FLASH_ATTN_EXT<cache_k, Q4_0>");
  EXPECT_EQ(attention.layer, Layer(7));
  EXPECT_EQ(name(Op("FLASH_ATTN_EXT", Tensor("fattn-7", "f32"),
                    {Tensor("Qcur-7", "f32"), cache("q8_0"), cache("f16")}))
                .text,
            "FLASH_ATTN_EXT<cache_k, Q8_0, F16>");
  EXPECT_EQ(name(Op("SET_ROWS", cache("f16"), {Tensor("Kcur-7 (view)", "f32")})).text,
            "SET_ROWS<cache_k, F16>");
  EXPECT_EQ(name(Op("ROPE", Tensor("Qcur-0", "f32"), {Tensor("Qcur-0", "f32")})).text,
            "ROPE<Qcur, F32>");
  EXPECT_EQ(name(Op("MUL_MAT", Tensor("node_10", "f32"),
                    {Tensor("attn_inp_k_rot", "f32"), Tensor("Qcur-2 (reshaped)", "f32")}))
                .layer,
            Layer(2));
  EXPECT_EQ(name(Op("MUL_MAT", Tensor("node_10", "f32"),
                    {Tensor("CUDA0#attn_inp_k_rot#0", "f32"), Tensor("Qcur-2", "f32")}))
                .text,
            "MUL_MAT<attn_inp_k_rot, F32>")
      << "copied from another backend";
  EXPECT_EQ(name(Op("ADD", Tensor("a#b", "f32"))).text, "ADD<a#b, F32>");
  EXPECT_EQ(name(Op("ADD", Tensor("node_10", "f32"))).text, "ADD<unnamed, F32>");
  EXPECT_EQ(name(Op("ADD", Tensor("l_out-99999", "f32"))).text, "ADD<l_out-99999, F32>");
  EXPECT_EQ(name(Op("MUL_MAT_ID", Tensor("ffn_moe_gate-1", "f32"),
                    {Tensor("blk.1.ffn_gate_exps.weight", "mxfp4")}))
                .text,
            "MUL_MAT_ID<ffn_gate_exps, MXFP4>");
}

}  // namespace
}  // namespace culprit::trace::ggml_ops
