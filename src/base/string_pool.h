#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/id.h"

namespace culprit::base {

struct StringTag {};
using StringId = Id<StringTag>;

// StringPool keeps each distinct string once and names it by a dense id.
//
// Views handed out stay valid as long as the pool lives, also when it is moved. Id 0 is "".
class StringPool {
 public:
  StringPool() { Intern(""); }
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  ~StringPool() = default;

  StringId Intern(std::string_view text) {
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    strings_.emplace_back(text);
    const StringId id(strings_.size() - 1);
    ids_.emplace(strings_.back(), id);
    return id;
  }
  [[nodiscard]] std::string_view Get(StringId id) const { return strings_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return strings_.size(); }

 private:
  std::deque<std::string> strings_;  // a deque: growing it moves no string
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace culprit::base
