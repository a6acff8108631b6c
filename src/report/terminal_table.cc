#include "report/terminal_table.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/printable.h"

namespace culprit::report {
namespace {

constexpr std::size_t kMargin = 2;  // in front of every line of a table
constexpr std::size_t kGap = 2;     // between two columns
constexpr std::size_t kLeastText = 20;
constexpr std::size_t kWidestLeastLabel = 40;
constexpr std::size_t kWidestHeading = 48;
constexpr std::size_t kWidestHeadingWord = 24;

// Slot is a column that people see, and how many columns of the terminal it takes.
struct Slot {
  std::size_t column;  // index into Table::columns
  std::size_t width;
  bool text;
  bool label;  // the first text column: indented for details, repeated in every block

  std::size_t least;  // what it can be cut to
};
using Block = std::vector<Slot>;

std::vector<std::string> HeadingLines(const Column& column, std::size_t width) {
  return Wrap(base::Shortened(column.heading, kWidestHeading), width, 0);
}

// HeadingWidth is the least width in which a heading takes no more than two lines.
std::size_t HeadingWidth(const Column& column) {
  const std::string heading = base::Shortened(column.heading, kWidestHeading);
  std::size_t width = 1;
  for (const std::string& word : Wrap(heading, 1, kWidestHeading)) {
    width = std::max(width, std::min(base::Columns(word), kWidestHeadingWord));
  }
  while (HeadingLines(column, width).size() > 2) ++width;
  return width;
}

std::size_t Indent(const Row& row, const Slot& slot) {
  return slot.label && row.depth > 0 ? 2 * static_cast<std::size_t>(row.depth) : 0;
}

std::string TextOf(const Row& row, const Slot& slot) {
  const std::string& text = row.cells[slot.column].text;
  return slot.text ? Inert(text) : text;
}

// LeastWidth: a label tells the rows apart, so it keeps two fifths of the page.
std::size_t LeastWidth(const Slot& slot, std::size_t page) {
  if (!slot.text) return slot.width;
  const std::size_t label = std::clamp(page * 2 / 5, kLeastText, kWidestLeastLabel);
  return std::min(slot.width, slot.label ? label : kLeastText);
}

// Slots measures every column by its widest cell and its heading.
Block Slots(const Table& table, std::size_t page) {
  Block slots;
  bool labelled = false;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool text = column.kind == Column::Kind::kText;
    Slot slot = {i, HeadingWidth(column), text, text && !labelled, 0};
    labelled = labelled || text;
    for (const Row& row : table.rows) {
      CULPRIT_CHECK(row.cells.size() == table.columns.size());
      slot.width = std::max(slot.width, Indent(row, slot) + base::Columns(TextOf(row, slot)));
    }
    slot.least = LeastWidth(slot, page);
    slots.push_back(slot);
  }
  return slots;
}

template <typename Width>
std::size_t Sum(const Block& block, Width width) {
  std::size_t sum = 0;
  for (const Slot& slot : block) sum += width(slot) + (sum > 0 ? kGap : 0);
  return sum;
}
std::size_t Least(const Block& block) {
  return Sum(block, [](const Slot& slot) { return slot.least; });
}
std::size_t Width(const Block& block) {
  return Sum(block, [](const Slot& slot) { return slot.width; });
}

// CutText narrows the text columns of a block, the widest first, until it fits or none may go on.
void CutText(Block& block, std::size_t width) {
  const auto capped = [&](std::size_t cap) {
    return Sum(block, [&](const Slot& slot) {
      return slot.text ? std::min(slot.width, std::max(cap, slot.least)) : slot.width;
    });
  };
  if (Width(block) <= width) return;
  std::size_t cap = std::max(width, kLeastText);
  while (cap > kLeastText && capped(cap) > width) --cap;
  for (Slot& slot : block) {
    if (slot.text) slot.width = std::min(slot.width, std::max(cap, slot.least));
  }
}

std::vector<Block> Blocks(const Block& slots, std::size_t width) {
  std::vector<Block> blocks = {slots};
  if (Least(slots) > width) {
    Block front;
    std::copy_if(slots.begin(), slots.end(), std::back_inserter(front),
                 [](const Slot& slot) { return slot.label; });
    blocks = {front};
    for (const Slot& slot : slots) {
      if (slot.label) continue;
      const bool fits = Least(blocks.back()) + kGap + slot.least <= width;
      if (!fits && blocks.back().size() > front.size()) blocks.push_back(front);
      blocks.back().push_back(slot);
    }
  }
  for (Block& block : blocks) CutText(block, width);
  return blocks;
}

// AppendCell adds text of at most slot.width columns, padded to that width.
void AppendCell(std::string_view text, const Slot& slot, std::string& line) {
  line.append(line.empty() ? kMargin : kGap, ' ');
  const std::size_t columns = base::Columns(text);
  const std::size_t padding = slot.width > columns ? slot.width - columns : 0;
  if (!slot.text) line.append(padding, ' ');
  line += text;
  if (slot.text) line.append(padding, ' ');
}

void AppendHeadings(const Table& table, const Block& block, Page& page) {
  std::vector<std::vector<std::string>> headings;
  std::size_t height = 0;
  for (const Slot& slot : block) {
    headings.push_back(HeadingLines(table.columns[slot.column], slot.width));
    height = std::max(height, headings.back().size());
  }
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t j = 0; j < block.size(); ++j) {
      const std::size_t above = height - headings[j].size();  // headings stand on the rule
      AppendCell(i < above ? "" : headings[j][i - above], block[j], line);
    }
    page.Line(std::move(line), Ink::kBold);
  }
}

void AppendRule(const Block& block, Page& page) {
  std::string rule(kMargin, ' ');
  for (std::size_t i = 0; i < Width(block); ++i) rule += "─";
  page.Line(std::move(rule), Ink::kFaint);
}

Ink InkOf(const Row& row) {
  if (row.emphasis == Emphasis::kStrong || row.emphasis == Emphasis::kTotal) return Ink::kBold;
  return row.depth > 0 || row.emphasis == Emphasis::kFaint ? Ink::kFaint : Ink::kPlain;
}

void AppendRow(const Row& row, const Block& block, Page& page) {
  std::string line;
  for (const Slot& slot : block) {
    std::string text = TextOf(row, slot);
    const std::size_t indent = Indent(row, slot);
    if (slot.text) text = base::Shortened(text, slot.width > indent ? slot.width - indent : 1);
    AppendCell(std::string(indent, ' ') + text, slot, line);
  }
  page.Line(std::move(line), InkOf(row));
}

// A block repeats the rows that have something to say in its columns.
bool SaysSomething(const Row& row, const Block& block) {
  return std::ranges::any_of(
      block, [&](const Slot& slot) { return !slot.label && !row.cells[slot.column].text.empty(); });
}

void AppendBlock(const Table& table, const Block& block, bool first, Page& page) {
  AppendHeadings(table, block, page);
  AppendRule(block, page);
  if (table.rows.empty()) page.Line("  (no rows)", Ink::kFaint);
  const Row* above = nullptr;
  for (const Row& row : table.rows) {
    if (!first && !SaysSomething(row, block)) continue;
    const bool total = row.emphasis == Emphasis::kTotal;
    if (total && above != nullptr && above->emphasis != Emphasis::kTotal) AppendRule(block, page);
    AppendRow(row, block, page);
    above = &row;
  }
}

}  // namespace

void AppendTable(const Table& table, Page& page) {
  const Block slots = Slots(table, page.width());
  if (slots.empty()) return;
  bool first = true;
  for (const Block& block : Blocks(slots, page.width() - kMargin)) {
    if (!first) {
      page.Gap();
      page.Line("  more columns of the same rows:", Ink::kFaint);
    }
    AppendBlock(table, block, first, page);
    first = false;
  }
}

}  // namespace culprit::report
