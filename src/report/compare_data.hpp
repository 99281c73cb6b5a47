// SPDX-License-Identifier: Apache-2.0
//
// What the charts of a comparison's page draw, as JSON for its script, and the same in words for
// those who do not see them. The measured baseline is the charts' zero and not drawn.
#pragma once

#include <string>

#include "report/compare_view.hpp"

namespace negawatt::report {

/// ASCII JSON, safe to stand inside a <script> element.
[[nodiscard]] std::string compare_data(const Comparison& comparison);

/// HTML, escaped for an attribute.
[[nodiscard]] std::string energy_alt(const Comparison& comparison);
[[nodiscard]] std::string time_alt(const Comparison& comparison);

}  // namespace negawatt::report
