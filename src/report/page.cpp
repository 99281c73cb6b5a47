// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>

#include "core/result.hpp"
#include "report/escape.hpp"
#include "report/numbers.hpp"

namespace negawatt::report {
namespace {

std::string_view evidence_text(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::measured:
      return "The table's times and energies were measured.";
    case EvidenceKind::modelled:
      return "The table's times and energies come from a model.";
    case EvidenceKind::simulated:
      return "The table's times and energies were simulated.";
    case EvidenceKind::published:
      return "The table's times and energies are published figures.";
    case EvidenceKind::unstated:
      return "The table does not say where its numbers come from.";
  }
  return {};
}

}  // namespace

std::string evidence_html(const Evidence& evidence) {
  std::string out(evidence_text(evidence.kind));
  if (!evidence.source.empty())
    out += fmt::format(" Source: <bdi>{}</bdi>.", html_escaped(evidence.source));
  return out + " Totals are sums over the table: the plan itself has not been run.";
}

std::string tile_html(const Tile& tile) {
  return fmt::format(
      "<div><dt>{}</dt><dd class=\"value {}\">{}</dd><dd class=\"detail\">{}</dd></div>\n",
      tile.name, tile.tone, typographic(tile.value), tile.detail);
}

std::string note_html(std::string_view term, const std::string& text) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", term, text);
}

std::string frontier_html(const std::string& baseline_name, const std::string& note,
                          const std::string& alt) {
  return filled(frontier_section(),
                {{"baseline_name", baseline_name}, {"frontier_note", note}, {"frontier_alt", alt}});
}

std::string page_html(const Page& page) {
  return filled(page_frame(), {{"kind", page.kind},
                               {"file", page.file},
                               {"version", page.version},
                               {"css", std::string(page_css())},
                               {"headline", page.headline},
                               {"lede", page.lede},
                               {"evidence_kind", page.evidence_kind},
                               {"evidence", page.evidence},
                               {"tiles", page.tiles},
                               {"main", page.main},
                               {"command", page.command},
                               {"data", page.data},
                               {"chart_js", std::string(chart_js())},
                               {"common_js", std::string(common_js())},
                               {"js", std::string(page.script)}});
}

std::string filled(std::string_view page, std::initializer_list<Filling> fillings) {
  std::string out;
  while (true) {
    const auto open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    page.remove_prefix(open + 2);
    const auto close = page.find("}}");
    NW_ASSERT(close != std::string_view::npos);
    const auto* filling = std::ranges::find(fillings, page.substr(0, close), &Filling::first);
    NW_ASSERT(filling != fillings.end());
    out += filling->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace negawatt::report
