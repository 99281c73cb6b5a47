// SPDX-License-Identifier: Apache-2.0
//
// Request traces for the verbs that take them: opening, reading in the format that is asked for,
// and notes on standard error of what a person should know of the file.
#pragma once

#include <string>

#include "core/result.hpp"
#include "trace/request.hpp"

namespace negawatt::cli {

/// `format` is a name of trace/request_format.hpp; empty: the header decides.
[[nodiscard]] Result<trace::RequestTrace> load_requests(const std::string& path,
                                                        const std::string& format);

/// Says how many requests arrive together, if any do; for verbs to which arrivals matter.
void note_simultaneous(const trace::RequestTrace& trace);

}  // namespace negawatt::cli
