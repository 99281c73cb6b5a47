// SPDX-License-Identifier: Apache-2.0
#include "report/serving_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>

#include "report/escape.hpp"
#include "report/numbers.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kEnergyColumns = 10;
constexpr std::size_t kMostShownClasses = 8;

std::string cell(std::string_view html, std::string_view tone = {}) {
  return fmt::format("<td class=\"n {}\">{}</td>", tone, html);
}

std::string number_cell(std::string number) { return cell(typographic(std::move(number))); }

std::string_view kind_text(ServingPolicyKind kind) {
  switch (kind) {
    case ServingPolicyKind::load:
      return "by load";
    case ServingPolicyKind::one_device:
      return "one device type";
    case ServingPolicyKind::work:
      return "by the work";
    case ServingPolicyKind::clairvoyant:
      return "knows the answers' lengths";
  }
  return {};
}

std::string name_cell(std::size_t place, const ServedPolicy& policy) {
  return fmt::format(
      "<th scope=\"row\" class=\"name\"><span class=\"number\">{}</span> <bdi>{}</bdi><span "
      "class=\"clocks\">{}</span></th>",
      place + 1, html_escaped(policy.of.policy), kind_text(policy.of.kind));
}

std::string energy_cell(const ServedPolicy& policy) {
  auto html = typographic(quantity(policy.of.energy, 4));
  const auto least = quantity(policy.least_energy, 4);
  const auto most = quantity(policy.most_energy, 4);
  if (least != most)
    html += fmt::format("<span class=\"clocks\">{} to {}</span>", typographic(least),
                        typographic(most));
  return cell(html);
}

std::string slo_cell(const ServedPolicy& policy, double demanded) {
  if (!policy.of.attainment) return cell("");
  return cell(typographic(attained_text(*policy.of.attainment)),
              *policy.of.attainment < demanded ? "bad" : "");
}

std::string unserved_cell(const ServedPolicy& policy) {
  const auto unserved = policy.of.requests - policy.of.completed;
  return cell(counted(unserved, ""), unserved > 0 ? "bad" : "");
}

std::string change_cells(const ServedPolicy* reference, const ServedPolicy& policy) {
  if (reference == nullptr) return cell("") + cell("");
  return number_cell(rough_change(change_pct(reference->of.energy, policy.of.energy))) +
         number_cell(latency_change(p99(*reference), p99(policy)));
}

/// What changes are given against: the best device alone, else the best by load, else the best.
const ServedPolicy* reference_of(const Finding& finding) {
  if (finding.device != nullptr) return finding.device;
  return finding.load != nullptr ? finding.load : finding.best;
}

std::string energy_row(const ServingFindings& found, std::size_t place) {
  const auto& policy = found.setting.policies[place];
  const auto joules = policy.per_token();
  return fmt::format("<tr class=\"{}\">", &policy == found.finding.best ? "plan" : "") +
         name_cell(place, policy) + energy_cell(policy) +
         number_cell(quantity(policy.of.energy - policy.of.idle, 4)) +
         number_cell(quantity(policy.of.idle, 4)) + number_cell(quantity(policy.of.above_idle, 4)) +
         number_cell(joules ? quantity(*joules) : "") +
         change_cells(reference_of(found.finding), policy) + slo_cell(policy, found.demanded) +
         unserved_cell(policy) + "</tr>\n";
}

/// The rows of those that keep the SLO, or of the others; nothing where there are none.
std::string energy_group(const ServingFindings& found, bool keeps) {
  const auto& policies = found.setting.policies;
  std::string rows;
  for (std::size_t i = 0; i < policies.size(); ++i)
    if (policies[i].keeps == keeps) rows += energy_row(found, i);
  if (rows.empty()) return {};
  const bool has_slo = policies.front().of.attainment.has_value();
  const auto title =
      fmt::format("{} {} of the requests",
                  has_slo ? (keeps ? "Meets the SLO for" : "Meets the SLO for less than")
                          : (keeps ? "Serves" : "Serves less than"),
                  typographic(demanded_text(found.demanded)));
  return fmt::format(
             "<tbody>\n<tr class=\"standing\"><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>\n",
             kEnergyColumns, title) +
         rows + "</tbody>\n";
}

std::string bound_row(const ServingFindings& found) {
  const auto bound = found.finding.bound;
  if (bound <= Joules()) return {};
  const auto* reference = reference_of(found.finding);
  const auto tokens = found.finding.best->of.output_tokens;
  return "<tbody>\n<tr><th scope=\"row\" class=\"name\">lower bound<span class=\"clocks\">grants "
         "no "
         "latency</span></th>" +
         number_cell(quantity(bound, 4)) + cell("") + cell("") + cell("") +
         number_cell(tokens == 0 ? "" : quantity(bound / static_cast<double>(tokens))) +
         number_cell(rough_change(change_pct(reference->of.energy, bound))) + cell("") + cell("") +
         cell("") + "</tr>\n</tbody>\n";
}

std::string quantile_cells(const ServedLatency& latency) {
  std::string out;
  for (const auto at : {kP50, kP90, kP99})
    out += latency.count == 0 ? cell("") : number_cell(latency_text(latency.quantiles[at]));
  return out;
}

/// Places of the classes that have requests, those with most of them first.
std::vector<std::size_t> shown_classes(const Setting& setting) {
  const auto& classes = setting.policies.front().of.classes;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i].requests > 0) places.push_back(i);
  std::ranges::stable_sort(places, std::greater{},
                           [&classes](std::size_t at) { return classes[at].requests; });
  if (places.size() > kMostShownClasses) places.resize(kMostShownClasses);
  return places;
}

std::string classes_note(const Setting& setting, std::size_t shown) {
  const auto all = static_cast<std::size_t>(
      std::ranges::count_if(setting.policies.front().of.classes,
                            [](const ServedClass& each) { return each.requests > 0; }));
  std::string note = "Share of a class's requests that met its SLO; p99 to the last token.";
  if (shown < all)
    note += fmt::format(" The {} classes with most requests of {}.", shown, counted(all, ""));
  return note;
}

std::string class_cells(const ServedClass& of_class) {
  return cell(of_class.attainment ? typographic(attained_text(*of_class.attainment)) : "no SLO") +
         cell(of_class.p99 ? typographic(latency_text(*of_class.p99)) : "-");
}

std::string header(std::string_view text, std::string_view attributes) {
  return fmt::format("<th scope=\"col\" class=\"n\" {}>{}</th>", attributes, text);
}

std::string against_cell(const ServedPolicy* yardstick, const ServedPolicy& best,
                         bool was_simulated) {
  if (yardstick == nullptr) return cell(was_simulated ? "none keeps it" : "not simulated", "group");
  if (yardstick == &best) return cell("is the best", "group");
  return cell(
      fmt::format("{}<span class=\"clocks\">p99 {}</span><span class=\"clocks\">{}</span>",
                  typographic(rough_change(change_pct(yardstick->of.energy, best.of.energy))),
                  typographic(latency_change(p99(*yardstick), p99(best))),
                  "<bdi>" + html_escaped(policy_name(*yardstick)) + "</bdi>"));
}

std::string setting_row(const ServingReport& report, const Setting& setting) {
  const auto found = findings_of(setting, report.demanded);
  const auto& finding = found.finding;
  const auto& best = *finding.best;
  const auto& cluster = report.clusters[setting.cluster];
  const auto attained = std::min(best.served, best.of.attainment.value_or(1.0));
  return fmt::format(
             "<tr><th scope=\"row\" class=\"name\"><bdi>{}</bdi><span class=\"clocks "
             "wrap\">{}</span></th><td class=\"n\">{:g}</td>",
             html_escaped(cluster.name), html_escaped(cluster.composition), setting.speed) +
         fmt::format("<td class=\"name\"><bdi>{}</bdi><span class=\"clocks\">{}</span></td>",
                     html_escaped(policy_name(best)),
                     finding.verdict == Verdict::nobody ? "closest; none keeps the SLO"
                                                        : kind_text(best.of.kind)) +
         number_cell(quantity(best.of.energy, 4)) +
         cell(typographic(attained_text(attained)), best.keeps ? "" : "bad") +
         against_cell(finding.device, best, finding.has_device) +
         against_cell(finding.load, best, finding.has_load) +
         number_cell(finding.bound > Joules()
                         ? rough_change(change_pct(finding.bound, best.of.energy))
                         : "") +
         "</tr>\n";
}

}  // namespace

std::string energies_html(const ServingFindings& found) {
  const auto* reference = reference_of(found.finding);
  return "<thead>\n<tr><th scope=\"col\" rowspan=\"2\">Policy</th>" +
         header("Energy", "rowspan=\"2\"") + header("while serving", "rowspan=\"2\"") +
         header("while idle", "rowspan=\"2\"") + header("above idle power", "rowspan=\"2\"") +
         header("per output token", "rowspan=\"2\"") +
         fmt::format(
             "<th scope=\"colgroup\" colspan=\"2\" class=\"over\">Against <bdi>{}</bdi></th>",
             html_escaped(policy_name(*reference))) +
         header("SLO met", "rowspan=\"2\"") + header("not served", "rowspan=\"2\"") +
         "</tr>\n<tr>" + header("energy", "") + header("p99 latency", "") + "</tr>\n</thead>\n" +
         energy_group(found, true) + energy_group(found, false) + bound_row(found);
}

std::string latencies_html(const Setting& setting) {
  std::string out;
  for (std::size_t i = 0; i < setting.policies.size(); ++i) {
    const auto& policy = setting.policies[i];
    out += "<tr>" + name_cell(i, policy) + quantile_cells(policy.of.ttft) +
           quantile_cells(policy.of.tbt) + quantile_cells(policy.of.e2e) +
           (policy.of.e2e.count == 0 ? cell("") : number_cell(latency_text(policy.of.e2e.mean))) +
           "</tr>\n";
  }
  return out;
}

std::string classes_html(const Setting& setting) {
  const auto shown = shown_classes(setting);
  if (shown.size() < 2) return {};
  const auto& classes = setting.policies.front().of.classes;
  std::string names;
  std::string columns;
  for (const auto at : shown) {
    names += fmt::format(
        "<th scope=\"colgroup\" colspan=\"2\" class=\"over\"><bdi>{}</bdi><span "
        "class=\"clocks\">{}</span></th>",
        html_escaped(classes[at].name), counted(classes[at].requests, "request"));
    columns += header("SLO met", "") + header("p99", "");
  }
  std::string rows;
  for (std::size_t i = 0; i < setting.policies.size(); ++i) {
    rows += "<tr>" + name_cell(i, setting.policies[i]);
    for (const auto at : shown) rows += class_cells(setting.policies[i].of.classes[at]);
    rows += "</tr>\n";
  }
  return "<h3 id=\"classes-title\">Classes of requests</h3>\n<p class=\"note\">" +
         classes_note(setting, shown.size()) +
         "</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
         "aria-labelledby=\"classes-title\">\n<table class=\"numbers\" "
         "id=\"classes\">\n<thead>\n<tr><th scope=\"col\" rowspan=\"2\">Policy</th>" +
         names + "</tr>\n<tr>" + columns + "</tr>\n</thead>\n<tbody>\n" + rows +
         "</tbody>\n</table>\n</div>\n";
}

std::string settings_html(const ServingReport& report, const std::vector<Setting>& settings) {
  std::string out;
  for (const auto* setting : by_cluster_and_speed(settings)) out += setting_row(report, *setting);
  return out;
}

}  // namespace negawatt::report
