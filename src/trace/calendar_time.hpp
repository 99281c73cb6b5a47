// SPDX-License-Identifier: Apache-2.0
//
// Points in time as logs write them: YYYY-MM-DD hh:mm:ss with up to nine decimals, a blank or T
// between date and time, and perhaps a zone (Z, +hh:mm, -hh:mm; none is UTC). Nothing here fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace negawatt::trace {

/// Nanoseconds since 1970-01-01 00:00 UTC; none when `text` is no such time or not of the years
/// 1970 to 2199.
[[nodiscard]] std::optional<std::int64_t> calendar_nanoseconds(std::string_view text);

}  // namespace negawatt::trace
