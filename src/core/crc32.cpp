// SPDX-License-Identifier: Apache-2.0
#include "core/crc32.hpp"

#include <array>

namespace negawatt {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
    table[byte] = rest;
  }
  return table;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  static constexpr auto kTable = make_table();
  std::uint32_t rest = ~before;
  for (const char character : bytes) {
    rest = (rest >> 8U) ^ kTable[(rest ^ static_cast<unsigned char>(character)) & 0xFFU];
  }
  return ~rest;
}

}  // namespace negawatt
