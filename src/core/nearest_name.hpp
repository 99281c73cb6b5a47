// SPDX-License-Identifier: Apache-2.0
//
// The known name that a mistyped one was meant to be, by edit distance. Nothing fails.
#pragma once

#include <span>
#include <string_view>

namespace negawatt {

/// Empty when none is near: more than a third of the letters would have to change.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> known);

}  // namespace negawatt
