// SPDX-License-Identifier: Apache-2.0
//
// The checksum of our files: CRC-32 of IEEE 802.3, as zlib and gzip have it. It tells what a
// cut-off write or a bad disk did to bytes; it is no defence against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace negawatt {

/// Of `bytes`; with `before`, the checksum of what came before, of both together.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace negawatt
