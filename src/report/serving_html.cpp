// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/serving_data.hpp"
#include "report/serving_report.hpp"
#include "report/serving_tables.hpp"
#include "report/serving_view.hpp"
#include "report/serving_wording.hpp"

namespace negawatt::report {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a unit, and nothing longer, begins at `at`.
bool is_unit(std::string_view html, std::size_t at) {
  constexpr std::string_view kUnits[] = {"s", "ms", "us", "J", "mJ", "kJ", "MJ", "GJ", "%"};
  const auto end = html.find_first_of(" ,.;:)", at);
  return std::ranges::find(kUnits, html.substr(at, end - at)) != std::end(kUnits);
}

/// A sentence whose numbers are typeset: a true minus, no break before the unit.
std::string prose_html(std::string_view sentence) {
  const auto html = html_escaped(sentence);
  std::string out;
  for (std::size_t i = 0; i < html.size(); ++i) {
    const char before = i == 0 ? ' ' : html[i - 1];
    if (html[i] == ' ' && is_digit(before) && is_unit(html, i + 1))
      out += "&nbsp;";
    else if (html[i] == '-' && before == ' ' && i + 1 < html.size() && is_digit(html[i + 1]))
      out += "&minus;";
    else
      out += html[i];
  }
  return out;
}

std::string joined_html(const std::vector<std::string>& sentences) {
  std::string out;
  for (const auto& sentence : sentences) out += (out.empty() ? "" : " ") + prose_html(sentence);
  return out;
}

std::string cautions_html(const ServingFindings& found) {
  std::string out;
  for (const auto& caution : serving_cautions(found))
    out += "<p class=\"note\"><b>Note.</b> " + prose_html(caution) + "</p>\n";
  if (found.setting.policies.size() > kMostDrawnPolicies)
    out +=
        fmt::format("<p class=\"note\"><b>Note.</b> The charts show the first {} policies.</p>\n",
                    kMostDrawnPolicies);
  return out;
}

/// "cluster mixed (1 h100, 4 l4), 19,366 requests at 2 times their speed"
std::string setting_text(const ServingReport& report, const Setting& setting) {
  const auto& cluster = report.clusters[setting.cluster];
  auto text = fmt::format("{} on cluster <bdi>{}</bdi> (<bdi>{}</bdi>)",
                          counted(setting.policies.front().of.requests, "request"),
                          html_escaped(cluster.name), html_escaped(cluster.composition));
  if (setting.speed != 1.0) text += fmt::format(", arriving {:g} times as fast", setting.speed);
  return text;
}

std::string seeds_text(const ServingReport& report) {
  std::vector<std::uint64_t> seeds;
  for (const auto& run : report.runs)
    if (std::ranges::find(seeds, run.seed) == seeds.end()) seeds.push_back(run.seed);
  constexpr std::size_t kMostNamed = 20;
  if (seeds.size() == 1)
    return fmt::format("One seed, {}: how much the figures vary with it was not looked at.",
                       seeds.front());
  std::string names;
  if (seeds.size() > kMostNamed)
    names = counted(seeds.size(), "seed");
  else
    for (const auto seed : seeds) names += fmt::format("{}{}", names.empty() ? "" : ", ", seed);
  return names +
         ". Energies are means, latencies the longest and SLO attainment the least of them.";
}

std::string evidence_sentence(const ServingReport& report) {
  return fmt::format(
      "Every figure is simulated from modelled devices and {}; none was measured on "
      "a GPU.",
      report.are_requests_made_up ? "made-up requests" : "the requests of a trace");
}

std::string devices_html(const ServingReport& report) {
  std::vector<std::string_view> known;
  std::string out;
  for (const auto& cluster : report.clusters) {
    if (std::ranges::find(known, cluster.sources) != known.end()) continue;
    known.push_back(cluster.sources);
    out += (out.empty() ? "<bdi>" : "<br><bdi>") + html_escaped(cluster.sources) + "</bdi>";
  }
  return out;
}

std::string method_html(const ServingReport& report) {
  const auto demanded = typographic(demanded_text(report.demanded));
  return "<dl class=\"notes\">\n" +
         note_html("Counts", fmt::format("A policy counts when it serves {} of the requests and "
                                         "{} of those with an SLO meet it.",
                                         demanded, demanded)) +
         note_html("Energy",
                   "Everything the instances and links drew until the last completion. "
                   "While idle: no step ran (idle, asleep, starting). Above idle power: "
                   "what steps drew beyond it, all that counts where idle power is left "
                   "out.") +
         note_html("One device type",
                   "The policy all-on-one: one type serves everything, while the "
                   "others idle or sleep.") +
         note_html("By load",
                   "Policies that look at how busy instances are, and neither at the "
                   "request nor at what it costs.") +
         note_html("Same energy", fmt::format("Within {:g} %: then the simpler one is called best.",
                                              100.0 * kSameEnergy)) +
         note_html("Lower bound",
                   "Proven for the completed requests on this cluster: also for a "
                   "policy that knows the future and delays as it likes.") +
         note_html("Front",
                   "No other policy that counts needs less energy at the same p99 latency "
                   "or less.") +
         note_html("Latency",
                   "Since arrival, waiting included. Between tokens: every gap. Quantiles "
                   "within 0.2 %.") +
         note_html("Seeds", seeds_text(report)) + note_html("Devices", devices_html(report)) +
         note_html("Requests", "<bdi>" + html_escaped(report.requests_name) + "</bdi>") + "</dl>\n";
}

std::string figures_html(std::string_view name, std::string_view title, std::string_view x,
                         bool has_slo) {
  const auto figure = [name](std::string_view what, std::string_view caption) {
    return fmt::format(
        "<figure><figcaption>{}</figcaption><div class=\"chart small\"><canvas id=\"{}-{}\" "
        "role=\"img\" aria-label=\"{} as a chart; the tables have the values.\"></canvas></div>"
        "</figure>\n",
        caption, name, what, caption);
  };
  return fmt::format(
             "<h3>{}</h3>\n<p class=\"note\">{}</p>\n<div class=\"legends plain\" "
             "id=\"{}-legend\"></div>\n<div class=\"pair thirds\">\n",
             title, x, name) +
         figure("energy", "Energy of an output token") + figure("p99", "p99 latency") +
         (has_slo ? figure("slo", "SLO met (%)") : std::string()) + "</div>\n";
}

std::string sensitivity_html(const ServingReport& report, const std::vector<Setting>& settings) {
  const auto varied = varied_in(settings);
  if (!varied.any()) return {};
  const bool has_slo = settings.front().policies.front().of.attainment.has_value();
  std::string out;
  if (varied.lambda)
    out +=
        figures_html("lambda", "Lambda",
                     "0 minimises time alone, 1 energy alone, as the policy weighs them.", has_slo);
  if (varied.speed)
    out += figures_html("speed", "Load", "The same requests, arriving so many times as fast.",
                        has_slo);
  if (varied.cluster)
    out += figures_html("cluster", "Devices of the cluster",
                        "The same requests on each cluster, in the order given.", has_slo);
  return filled(serving_sensitivity(), {{"figures", out},
                                        {"settings_class", settings.size() > 1 ? "" : "hidden"},
                                        {"settings", settings_html(report, settings)}});
}

std::string main_html(const ServingReport& report, const std::vector<Setting>& settings,
                      const ServingFindings& found) {
  const auto& main = settings.front();
  const bool has_slo = found.finding.best->of.attainment.has_value();
  return filled(
      serving_body(),
      {{"setting", setting_text(report, main)},
       {"cautions", cautions_html(found)},
       {"energies", energies_html(found)},
       {"latencies", latencies_html(main)},
       {"classes", classes_html(main)},
       {"pareto_alt", pareto_alt(found)},
       {"front_note", has_slo ? "Filled points meet the SLO." : "No class of requests has an SLO."},
       {"hidden_note",
        found.finding.best->keeps ? "; those that break the SLO are hidden at first" : ""},
       {"latency_alt", latency_alt(main)},
       {"sensitivity", sensitivity_html(report, settings)},
       {"method", method_html(report)}});
}

}  // namespace

std::string serving_html(const ServingReport& report) {
  const auto settings = settings_of(report);
  const auto found = findings_of(settings.front(), report.demanded);
  auto script = std::string(serving_axes_js());
  script += serving_pareto_js();
  script += serving_js();
  return page_html({.kind = "simulated policies",
                    .file = html_escaped(report.requests_name),
                    .headline = prose_html(serving_headline(found)),
                    .lede = joined_html(serving_comparisons(found)),
                    .evidence_kind = "simulated",
                    .evidence = evidence_sentence(report),
                    .tiles = serving_tiles_html(found),
                    .main = main_html(report, settings, found),
                    .data = serving_data(report, settings, found),
                    .script = script,
                    .command = html_escaped(report.command),
                    .version = html_escaped(report.version)});
}

}  // namespace negawatt::report
