// SPDX-License-Identifier: Apache-2.0
//
// How NVML hands out text and lists: the caller brings the room, INSUFFICIENT_SIZE says that it is
// too small, and for lists how much is needed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "nvml/nvml.hpp"

namespace negawatt::gpusim {

/// With its zero byte. `room` is not null.
inline nvmlReturn_t answer_text(std::string_view text, char* room, unsigned length) {
  if (text.size() + 1 > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  *std::copy(text.begin(), text.end(), room) = '\0';
  return NVML_SUCCESS;
}

/// `count` (not null) goes in as the room there is and comes out as the number of items; `room` may
/// be null when only the number is asked for.
template <class Item>
nvmlReturn_t answer_list(std::span<const Item> items, unsigned* count, Item* room) {
  const auto size = *count;
  *count = static_cast<unsigned>(items.size());
  if (size < items.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  if (room == nullptr) return items.empty() ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
  std::copy(items.begin(), items.end(), room);
  return NVML_SUCCESS;
}

}  // namespace negawatt::gpusim
