// SPDX-License-Identifier: Apache-2.0
//
// Reads request traces in the formats of request_format.hpp, as CSV, and as one JSON object a line
// where they are published so (mooncake, lmsys). Arrivals become seconds since the first request;
// requests that arrive together keep the order of the file and are counted.
//
// Refused, naming file and line: a header that no format has, arrivals out of order, tokens that
// are no whole number from 1 to 4294967295, a time that is no time, negative, or 31 years after the
// first (its unit is another), an empty file.
#pragma once

#include <optional>
#include <string_view>

#include "core/result.hpp"
#include "trace/request.hpp"
#include "trace/request_format.hpp"

namespace negawatt::trace {

/// Reads a request trace. `file` names it in messages. Without `format`, the header decides.
[[nodiscard]] Result<RequestTrace> parse_requests(
    std::string_view bytes, std::string_view file,
    std::optional<RequestFormat> format = std::nullopt);

}  // namespace negawatt::trace
