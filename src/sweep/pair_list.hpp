// SPDX-License-Identifier: Apache-2.0
//
// Which clock pairs to sweep, as a person names them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "trace/clocks.hpp"

namespace negawatt::sweep {

/// "auto,1410,1500:1980:60": automatic, single frequencies, and ranges FIRST:LAST:STEP in MHz, in
/// this order and each once. Fails on anything else and on more than 1,000 clocks.
[[nodiscard]] Result<std::vector<trace::Clock>> parse_clocks(std::string_view text);

/// Automatic, and at most `most` of the supported clocks, evenly spread from the highest down.
[[nodiscard]] std::vector<trace::Clock> spread(const std::vector<std::uint32_t>& supported_mhz,
                                               std::size_t most);

/// Every core clock with every memory clock.
[[nodiscard]] std::vector<trace::ClockPair> pairs_of(const std::vector<trace::Clock>& core,
                                                     const std::vector<trace::Clock>& memory);

}  // namespace negawatt::sweep
