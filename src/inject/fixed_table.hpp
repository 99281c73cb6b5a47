// SPDX-License-Identifier: Apache-2.0
//
// Tables that number what they are given from 1, in memory that is allocated once: a foreign
// program must not be slowed by our allocations, nor filled by our names. Throw only when they are
// made (std::bad_alloc); not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace negawatt::inject {

/// Of keys without padding, or of texts.
template <class Key>
class FixedTable {
 public:
  /// For at most `most` keys: takes sizeof(Key) + 8 to 16 bytes for each.
  explicit FixedTable(std::uint32_t most) : slots_(std::bit_ceil(std::size_t{most} * 2)) {
    keys_.reserve(most);
  }

  /// The number of a key, 0 when it has none.
  [[nodiscard]] std::uint32_t find(const Key& key) const { return slots_[slot_of(key)]; }
  [[nodiscard]] bool is_full() const { return keys_.size() == keys_.capacity(); }
  /// Numbers a key that has none. There must be room.
  std::uint32_t add(const Key& key) {
    const std::size_t slot = slot_of(key);
    keys_.push_back(key);
    return slots_[slot] = static_cast<std::uint32_t>(keys_.size());
  }

 private:
  /// Where it stands or would stand: at most half of the slots are taken, so there is one.
  [[nodiscard]] std::size_t slot_of(const Key& key) const {
    std::size_t slot = hash(key) & (slots_.size() - 1);
    while (slots_[slot] != 0 && keys_[slots_[slot] - 1] != key) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }
  static std::size_t hash(const Key& key) {
    if constexpr (std::is_same_v<Key, std::string_view>) {
      return std::hash<std::string_view>{}(key);
    } else {
      static_assert(std::has_unique_object_representations_v<Key>);
      return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&key), sizeof key});
    }
  }

  std::vector<std::uint32_t> slots_;
  std::vector<Key> keys_;
};

struct TextRoom {
  std::uint32_t texts = 0;
  std::size_t bytes = 0;  ///< of all of them
};

/// Texts, copied into one piece of memory.
class TextTable {
 public:
  explicit TextTable(const TextRoom& room) : table_(room.texts) { bytes_.reserve(room.bytes); }

  [[nodiscard]] std::uint32_t find(std::string_view text) const { return table_.find(text); }
  [[nodiscard]] bool has_room_for(std::string_view text) const {
    return !table_.is_full() && bytes_.capacity() - bytes_.size() >= text.size();
  }
  std::uint32_t add(std::string_view text) {
    const std::size_t at = bytes_.size();
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return table_.add(std::string_view(bytes_.data() + at, text.size()));
  }

 private:
  FixedTable<std::string_view> table_;
  std::vector<char> bytes_;  // never grows beyond what is reserved: the keys point into it
};

}  // namespace negawatt::inject
