#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace culprit::trace::rocpd {

// Interner gives equal keys the same index, dense and in the order of first sight.
//
// A trace repeats a few hundred keys millions of times, so a small direct-mapped cache answers
// nearly all; the map behind it is ordered because no choice of keys makes that slow.
template <std::size_t kWords>
class Interner {
 public:
  using Key = std::array<std::int64_t, kWords>;

  std::uint32_t Index(const Key& key) {
    Entry& entry = cache_[Slot(key)];
    if (entry.used && Equal(entry.key, key)) return entry.index;
    const auto [it, fresh] = indexes_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (fresh) keys_.push_back(key);
    entry = {key, it->second, true};
    return it->second;
  }
  // keys are all keys seen, by index.
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }

 private:
  struct Entry {
    Key key{};
    std::uint32_t index = 0;
    bool used = false;
  };
  static constexpr std::size_t kEntries = 1024;

  // Inline, unlike the memcmp behind ==, which took an eighth of the time of reading a trace.
  static bool Equal(const Key& a, const Key& b) {
    std::int64_t difference = 0;
    for (std::size_t i = 0; i < kWords; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }
  // The products do not wait for each other.
  static std::size_t Slot(const Key& key) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < kWords; ++i)
      hash += static_cast<std::uint64_t>(key[i]) * (0x9E3779B97F4A7C15u * (2 * i + 1));
    return (hash ^ hash << 21) >> 54;
  }
  static_assert(kEntries == std::size_t{1} << (64 - 54));

  std::vector<Entry> cache_ = std::vector<Entry>(kEntries);
  std::map<Key, std::uint32_t> indexes_;
  std::vector<Key> keys_;
};

}  // namespace culprit::trace::rocpd
