// SPDX-License-Identifier: Apache-2.0
//
// The parts of a report's page that do not depend on the plan, compiled in from src/report/page
// and from Debian's Chart.js by embed.cmake, and the filling of the template with what does.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace negawatt::report {

[[nodiscard]] std::string_view plan_page();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view chart_js();

/// A place of the template and the HTML that goes there, already escaped.
using Filling = std::pair<std::string_view, std::string>;

/// Replaces every {{name}} of `page`, which must be among the fillings; what is filled in is not
/// searched again.
[[nodiscard]] std::string filled(std::string_view page, std::initializer_list<Filling> fillings);

}  // namespace negawatt::report
