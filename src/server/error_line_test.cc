#include "server/error_line.h"

#include <gtest/gtest.h>

#include "sys/text_file.h"

namespace culprit::server {
namespace {

// Each text is the end of a real server, shortened; the last line of a pair is what it tells.
TEST(FirstErrorLine, TellsWhyAServerLeft) {
  const std::pair<const char*, const char*> cases[] = {
      {"0.00.024.768 I srv    load_model: loading model 'nothere.gguf'\n"
       "0.00.025.027 E gguf_init_from_file: failed to open GGUF file 'nothere.gguf' (No such file "
       "or directory)\n"
       "0.00.025.162 E llama_model_load: error loading model: llama_model_loader: failed to load "
       "model from nothere.gguf\n",
       "gguf_init_from_file: failed to open GGUF file 'nothere.gguf' (No such file or directory)"},
      {"0.00.013.068 E gguf_init_from_reader: invalid magic characters: 'impo', expected 'GGUF'\n",
       "gguf_init_from_reader: invalid magic characters: 'impo', expected 'GGUF'"},
      {"error: invalid argument: --bogus\n", "error: invalid argument: --bogus"},
      {"error while handling argument \"-c\": stoi\n\nusage:\n",
       "error while handling argument \"-c\": stoi"},
      {"load_backend: failed to load libggml-cuda.so\n/src/ggml.c:6720: GGML_ASSERT(ne > 0) "
       "failed\n[New LWP 12]\n",
       "/src/ggml.c:6720: GGML_ASSERT(ne > 0) failed"},
      {"/src/ggml-cuda.cu:99: ROCm error\nROCm error: out of memory\n",
       "/src/ggml-cuda.cu:99: ROCm error"},
      {"terminate called after throwing an instance of 'std::runtime_error'\n"
       "  what():  cannot go on\n",
       "terminate called after throwing an instance of 'std::runtime_error' what():  cannot go on"},
      {"main: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8101\r\n",
       "main: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8101"},
      {"llama-server: error while loading shared libraries: libllama.so.0: cannot open\n",
       "llama-server: error while loading shared libraries: libllama.so.0: cannot open"},
      {"F1130 11:20:22.1 47 tool.cpp:960] Unable to find all counters for agent 1 in [A]. Found: "
       "[]\n",
       "F1130 11:20:22.1 47 tool.cpp:960] Unable to find all counters for agent 1 in [A]. Found: "
       "[]"},
      {"error: slot is busy\nhsa_ven_amd_aqlprofile_get_info: HSA_STATUS_ERROR\n",
       "hsa_ven_amd_aqlprofile_get_info: HSA_STATUS_ERROR"},
      {"fine\nmtmd: failed to read \x1B[31mfile", "mtmd: failed to read \\x1b[31mfile"},
  };
  for (const auto& [log, line] : cases) EXPECT_EQ(FirstErrorLine(log), line);
}

// Whole recordings of Debian's 0.7.0.
TEST(FirstErrorLine, FindsTheCauseInRecordedLogs) {
  const std::pair<const char*, std::optional<std::string>> cases[] = {
      {"bad-value", "error while handling argument \"-c\": stoi"},
      {"unknown-flag", "error: invalid argument: --no-such-flag"},
      {"model-missing",
       "gguf_init_from_file: failed to open GGUF file 'absent.gguf' (No such file or directory)"},
      {"model-text", "gguf_init_from_reader: invalid magic characters: 'no m', expected 'GGUF'"},
      {"model-torn",
       "llama_model_load: error loading model: tensor 'blk.1.ffn_down.weight' data is not within "
       "the file bounds, model is corrupted or incomplete"},
      {"port-in-use",
       "srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8101"},
      {"q4_0-no-flash-attention",
       "llama_init_from_model: quantized V cache requires flash_attn to be enabled"},
      {"default",
       "srv    send_error: task id = 49, error: request (1151 tokens) exceeds the available "
       "context "
       "size (1024 tokens), try increasing it"},
      {"verbose", std::nullopt},
      {"speculation-verbose", std::nullopt},
      {"stopped-while-loading", std::nullopt},
  };
  for (const auto& [name, line] : cases) {
    const auto text = sys::ReadText(std::string(CULPRIT_SOURCE_DIR) +
                                    "/tests/fixtures/llama-server-0.7.0/log-" + name + ".txt");
    ASSERT_TRUE(text) << text.error().Text();
    EXPECT_EQ(FirstErrorLine(*text), line) << name;
  }
}

TEST(FirstErrorLine, IsAbsentWhenNothingComplains) {
  EXPECT_EQ(FirstErrorLine(""), std::nullopt);
  EXPECT_EQ(FirstErrorLine("main: model loaded\n0.1 ok"), std::nullopt);
}

TEST(FirstErrorLine, IsNoLongerThanALine) {
  const auto line = FirstErrorLine("error: " + std::string(1 << 20, 'x'));
  EXPECT_EQ(line->substr(0, 8), "error: x");
  EXPECT_LE(line->size(), 302u);  // the character that stands for the middle takes three bytes
}

TEST(WithoutPrefix, TakesAwayTimeAndLevelOnly) {
  EXPECT_EQ(WithoutPrefix("0.12.736.357 I srv  x"), "srv  x");
  EXPECT_EQ(WithoutPrefix("1.5 of 3"), "1.5 of 3");
  EXPECT_EQ(WithoutPrefix("0.12.736.357"), "0.12.736.357");
  EXPECT_EQ(WithoutPrefix(""), "");
}

}  // namespace
}  // namespace culprit::server
