// SPDX-License-Identifier: Apache-2.0
//
// Request traces with one JSON object a line, keys as the columns of request_format.hpp: Mooncake
// publishes its traces so, and APEX its LMSYS samples. Keys that no layout knows are skipped,
// however deep. Fails as request_readers.hpp says, and on a line that is no JSON object.
#pragma once

#include <optional>
#include <string_view>

#include "core/result.hpp"
#include "trace/request.hpp"
#include "trace/request_format.hpp"

namespace negawatt::trace {

/// Whether `bytes` start as such a file does.
[[nodiscard]] bool looks_like_json_lines(std::string_view bytes);

[[nodiscard]] Result<RequestTrace> parse_request_lines(std::string_view bytes,
                                                       std::string_view file,
                                                       std::optional<RequestFormat> format);

}  // namespace negawatt::trace
