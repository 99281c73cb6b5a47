// SPDX-License-Identifier: Apache-2.0
#include "report/serving_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "report/escape.hpp"
#include "report/numbers.hpp"

namespace negawatt::report {
namespace {

using Json = nlohmann::ordered_json;

std::span<const ServedPolicy> drawn(const Setting& setting) {
  return std::span(setting.policies).first(std::min(kMostDrawnPolicies, setting.policies.size()));
}

std::string_view standing(const ServedPolicy& policy) {
  if (policy.of.kind == ServingPolicyKind::clairvoyant) return "clairvoyant";
  return policy.keeps ? "keeps" : "breaks";
}

/// Seconds by the shares of kQuantileShares; shares that so few values cannot tell are left out.
Json curve(const ServedLatency& latency) {
  constexpr double kRounding = 1e-9;
  auto list = Json::array();
  for (std::size_t i = 0; i < kQuantileShares.size(); ++i)
    if ((1.0 - kQuantileShares[i]) * static_cast<double>(latency.count) >= 1.0 - kRounding)
      list.push_back(latency.quantiles[i].in_si());
  return list;
}

Json policy_json(const ServedPolicy& policy) {
  return {{"name", displayable(policy.of.policy)},
          {"standing", standing(policy)},
          {"energy_j", policy.of.energy.in_si()},
          {"p99_s", p99(policy).in_si()},
          {"keeps", policy.keeps},
          {"served", policy.of.e2e.count > 0},
          {"ttft_s", curve(policy.of.ttft)},
          {"tbt_s", curve(policy.of.tbt)},
          {"e2e_s", curve(policy.of.e2e)}};
}

/// The instances of a policy, or its device types when there are many.
std::vector<ServedInstance> parts(const ServedPolicy& policy) {
  const auto& instances = policy.of.instances;
  if (instances.size() <= kMostDrawnInstances) return instances;
  std::vector<ServedInstance> types;
  for (const auto& instance : instances) {
    auto type = std::ranges::find(types, instance.device_type, &ServedInstance::device_type);
    if (type == types.end())
      type =
          types.insert(type, {.name = instance.device_type, .device_type = instance.device_type});
    type->requests += instance.requests;
    type->tokens += instance.tokens;
    type->energy += instance.energy;
  }
  return types;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Who ran what: for each instance one value a policy.
Json work_json(const Setting& setting) {
  auto list = Json::array();
  for (const auto& part : parts(setting.policies.front()))
    list.push_back({{"name", displayable(part.name)},
                    {"type", displayable(part.device_type)},
                    {"requests_pct", Json::array()},
                    {"tokens_pct", Json::array()},
                    {"energy_j", Json::array()}});
  for (const auto& policy : drawn(setting)) {
    const auto all = parts(policy);
    std::uint64_t tokens = 0;
    for (const auto& part : all) tokens += part.tokens;
    for (std::size_t i = 0; i < all.size(); ++i) {
      list[i]["requests_pct"].push_back(percent(all[i].requests, policy.of.requests));
      list[i]["tokens_pct"].push_back(percent(all[i].tokens, tokens));
      list[i]["energy_j"].push_back(all[i].energy.in_si());
    }
  }
  return list;
}

Json point(Json x, const ServedPolicy& policy) {
  const auto joules = policy.per_token();
  const auto& attainment = policy.of.attainment;
  return {{"x", std::move(x)},
          {"energy", joules ? Json(joules->in_si()) : Json()},
          {"p99", policy.of.e2e.count > 0 ? Json(p99(policy).in_si()) : Json()},
          {"slo", attainment ? Json(100.0 * *attainment) : Json()}};
}

Json lambda_json(const Setting& main) {
  auto lines = Json::array();
  for (const auto& series : lambda_series(main)) {
    auto points = Json::array();
    for (const auto* policy : series.policies) points.push_back(point(policy->of.lambda, *policy));
    lines.push_back({{"name", displayable(series.family)}, {"points", std::move(points)}});
  }
  return lines;
}

/// One line a policy, through the settings for which `x_of` has a place.
template <class XOf>
Json lines_json(const std::vector<Setting>& settings, XOf x_of) {
  auto lines = Json::array();
  const auto line_of = [&lines](const std::string& name) -> Json& {
    for (auto& line : lines)
      if (line["name"] == name) return line;
    lines.push_back({{"name", name}, {"points", Json::array()}});
    return lines.back();
  };
  for (const auto& policy : drawn(settings.front())) line_of(displayable(policy.of.policy));
  for (const auto* setting : by_cluster_and_speed(settings)) {
    const Json x = x_of(*setting);
    if (x.is_null()) continue;
    for (const auto& policy : drawn(*setting))
      line_of(displayable(policy.of.policy))["points"].push_back(point(x, policy));
  }
  return lines;
}

Json sensitivity_json(const ServingReport& report, const std::vector<Setting>& settings) {
  const auto varied = varied_in(settings);
  const auto& main = settings.front();
  Json json = Json::object();
  if (varied.lambda) json["lambda"] = lambda_json(main);
  if (varied.speed)
    json["speed"] = lines_json(settings, [&main](const Setting& setting) {
      return setting.cluster == main.cluster ? Json(setting.speed) : Json();
    });
  if (varied.cluster)
    json["cluster"] = lines_json(settings, [&](const Setting& setting) {
      return setting.speed == main.speed ? Json(displayable(report.clusters[setting.cluster].name))
                                         : Json();
    });
  return json;
}

/// Places in the drawn policies of those on the front.
Json front_json(const Setting& setting) {
  auto list = Json::array();
  for (const auto* policy : front_of(setting))
    if (const auto place = policy - setting.policies.data();
        place < static_cast<std::ptrdiff_t>(kMostDrawnPolicies))
      list.push_back(place);
  return list;
}

}  // namespace

Varied varied_in(const std::vector<Setting>& settings) {
  const auto& main = settings.front();
  const auto any = [&settings](auto differs) { return std::ranges::any_of(settings, differs); };
  return {.lambda = !lambda_series(main).empty(),
          .speed = any(
              [&](const Setting& s) { return s.cluster == main.cluster && s.speed != main.speed; }),
          .cluster = any([&](const Setting& s) {
            return s.cluster != main.cluster && s.speed == main.speed;
          })};
}

std::string serving_data(const ServingReport& report, const std::vector<Setting>& settings,
                         const ServingFindings& found) {
  const auto& main = settings.front();
  auto policies = Json::array();
  for (const auto& policy : drawn(main)) policies.push_back(policy_json(policy));
  auto clusters = Json::array();
  for (const auto& cluster : report.clusters) clusters.push_back(displayable(cluster.name));
  const bool has_slo = found.finding.best->of.attainment.has_value();
  const Json json = {{"policies", std::move(policies)},
                     {"front", front_json(main)},
                     {"bound_j", found.finding.bound.in_si()},
                     {"has_slo", has_slo},
                     {"demanded_pct", 100.0 * report.demanded},
                     {"shares", kQuantileShares},
                     {"work", work_json(main)},
                     {"clusters", std::move(clusters)},
                     {"sensitivity", sensitivity_json(report, settings)}};
  return script_safe(json.dump(-1, ' ', true));
}

std::string pareto_alt(const ServingFindings& found) {
  std::string out = "Energy against p99 latency to the last token. On the front:";
  for (const auto* policy : front_of(found.setting))
    out += fmt::format(" {}, {} at {};", html_escaped(policy->of.policy),
                       typographic(quantity(policy->of.energy, 4)),
                       typographic(latency_text(p99(*policy))));
  return out + " the table above has all values.";
}

std::string latency_alt(const Setting& setting) {
  std::string out = "Latency to the last token by share of requests. Median and p99:";
  for (const auto& policy : drawn(setting))
    out += fmt::format(" {}, {} and {};", html_escaped(policy.of.policy),
                       typographic(latency_text(policy.of.e2e.quantiles[kP50])),
                       typographic(latency_text(p99(policy))));
  return out + " the table above has more.";
}

}  // namespace negawatt::report
