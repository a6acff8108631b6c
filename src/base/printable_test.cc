#include "base/printable.h"

#include <gtest/gtest.h>

#include <random>

namespace culprit::base {
namespace {

using std::string_literals::operator""s;

TEST(Printable, LeavesPlainTextAlone) {
  EXPECT_EQ(Printable(""), "");
  EXPECT_EQ(Printable("mul_mat_vec_q<(ggml_type)12, 1>(void const*)"),
            "mul_mat_vec_q<(ggml_type)12, 1>(void const*)");
  EXPECT_EQ(Printable("Größe 漢字 🙂 µs"), "Größe 漢字 🙂 µs");
}

TEST(Printable, SpellsControlCharacters) {
  EXPECT_EQ(Printable("\x1b[31mred\n\r\t\0\x7f"s), "\\x1b[31mred\\x0a\\x0d\\x09\\x00\\x7f");
  EXPECT_EQ(Printable("\u009b31m\u0085"), "\\x9b31m\\x85");
}

TEST(Printable, TurnsEverySingleByteIntoOnePrintableThing) {
  for (int value = 0; value < 256; ++value) {
    const std::string byte(1, static_cast<char>(value));
    const std::string printed = Printable(byte);
    if (value >= 0x80) {
      EXPECT_EQ(printed, "\uFFFD") << value;
    } else if (value < 0x20 || value == 0x7F) {
      EXPECT_EQ(printed.substr(0, 2), "\\x") << value;
      EXPECT_EQ(printed.size(), 4u) << value;
    } else {
      EXPECT_EQ(printed, byte) << value;
    }
  }
}

TEST(Printable, ReplacesEachByteOfABrokenSequence) {
  EXPECT_EQ(Printable("a\xC3"), "a\uFFFD");                              // cut short
  EXPECT_EQ(Printable("\xC3(b"), "\uFFFD(b");                            // no continuation
  EXPECT_EQ(Printable("\xC0\x9B"), "\uFFFD\uFFFD");                      // an overlong ESC
  EXPECT_EQ(Printable("\xE0\x82\x9B"), "\uFFFD\uFFFD\uFFFD");            // an overlong CSI
  EXPECT_EQ(Printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(Printable("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // over U+10FFFF
  EXPECT_EQ(Printable("\xFF\xFE"), "\uFFFD\uFFFD");
}

TEST(Printable, SpellsWhatTurnsTheDirectionOfTextOrEndsALine) {
  EXPECT_EQ(Printable("a\u202Eb"), "a\\u{202e}b");
  for (const char* mark : {"\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067",
                           "\u2068", "\u2069", "\u200E", "\u200F", "\u061C", "\u2028", "\u2029"}) {
    EXPECT_EQ(Printable(mark).substr(0, 3), "\\u{") << mark;
  }
}

TEST(Printable, OfItsOwnOutputIsTheSame) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int round = 0; round < 500; ++round) {
    std::string text(40, '\0');
    for (char& c : text) c = static_cast<char>(byte(random));
    const std::string once = Printable(text);
    EXPECT_EQ(Printable(once), once);
  }
}

TEST(Shortened, KeepsWhatFits) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("", 0), "");
  EXPECT_EQ(Shortened("µµµ", 3), "µµµ");
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(Shortened("abcdefghijklmnopqrstuvwxyz0123456789", 31),
            "abcdefghijklmnopqrst…0123456789");
  EXPECT_EQ(Shortened("flash_attn_ext_vec<128, 1, false>", 21), "flash_attn_ext_vec…e>");
  EXPECT_EQ(Shortened("abcdefghij", 7), "abcdef…");
  EXPECT_EQ(Shortened("abcdefghij", 2), "a…");
  EXPECT_EQ(Shortened("abcdefghij", 1), "…");
  EXPECT_EQ(Shortened("abcdefghij", 0), "");
}

TEST(Shortened, NeverSplitsACodePoint) {
  const std::string text = "aµ漢🙂bµ漢🙂c";
  for (std::size_t columns = 0; columns <= Columns(text); ++columns) {
    const std::string shortened = Shortened(text, columns);
    EXPECT_EQ(Columns(shortened), columns);
    EXPECT_EQ(Printable(shortened), shortened);  // still valid UTF-8
  }
}

TEST(Columns, CountsCodePoints) {
  EXPECT_EQ(Columns(""), 0u);
  EXPECT_EQ(Columns("aµ漢🙂"), 4u);
}

}  // namespace
}  // namespace culprit::base
