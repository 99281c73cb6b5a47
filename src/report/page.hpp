// SPDX-License-Identifier: Apache-2.0
//
// The page around every report: its fixed parts, compiled in from src/report/page and from Debian's
// Chart.js by embed.cmake, and the filling of its templates.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/evidence.hpp"

namespace negawatt::report {

[[nodiscard]] std::string_view page_frame();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view chart_js();
[[nodiscard]] std::string_view common_js();
[[nodiscard]] std::string_view frontier_section();
[[nodiscard]] std::string_view plan_body();
[[nodiscard]] std::string_view plan_js();
[[nodiscard]] std::string_view pipeline_body();
[[nodiscard]] std::string_view pipeline_js();
[[nodiscard]] std::string_view compare_body();
[[nodiscard]] std::string_view compare_segments();
[[nodiscard]] std::string_view compare_js();
[[nodiscard]] std::string_view serving_body();
[[nodiscard]] std::string_view serving_sensitivity();
[[nodiscard]] std::string_view serving_axes_js();
[[nodiscard]] std::string_view serving_pareto_js();
[[nodiscard]] std::string_view serving_js();

/// A place of the template and the HTML that goes there, already escaped.
using Filling = std::pair<std::string_view, std::string>;

/// Replaces every {{name}} of `page`, which must be among the fillings; what is filled in is not
/// searched again.
[[nodiscard]] std::string filled(std::string_view page, std::initializer_list<Filling> fillings);

/// What the frame around every report shows. All text is HTML, already escaped.
struct Page {
  std::string kind;  ///< "clock plan"
  std::string file;
  std::string headline;
  std::string lede;
  std::string evidence_kind;
  std::string evidence;
  std::string tiles;
  std::string main;
  std::string data;  ///< script-safe JSON
  std::string_view script;
  std::string command;
  std::string version;
};
[[nodiscard]] std::string page_html(const Page& page);

/// Five of them stand below the headline.
struct Tile {
  std::string name;
  std::string value;
  std::string detail;
  std::string_view tone;  ///< "good", "bad" or nothing
};
[[nodiscard]] std::string tile_html(const Tile& tile);

/// The section with the frontier chart, whose data the script finds; all text is HTML.
[[nodiscard]] std::string frontier_html(const std::string& baseline_name, const std::string& note,
                                        const std::string& alt);

/// What is known of the numbers' origin, as a sentence.
[[nodiscard]] std::string evidence_html(const Evidence& evidence);

/// A term and its explanation in the notes at the end.
[[nodiscard]] std::string note_html(std::string_view term, const std::string& text);

}  // namespace negawatt::report
