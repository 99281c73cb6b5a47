// SPDX-License-Identifier: Apache-2.0
#include "report/serving_wording.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "report/numbers.hpp"

namespace negawatt::report {
namespace {

bool has_slo(const ServingFindings& found) { return found.finding.best->of.attainment.has_value(); }

/// "meet the SLO for 99 % of the requests", for one or for many.
std::string keeping(const ServingFindings& found, bool is_one) {
  const auto share = demanded_text(found.demanded);
  if (!has_slo(found))
    return fmt::format("{} {} of the requests", is_one ? "serves" : "serve", share);
  return fmt::format("{} the SLO for {} of the requests", is_one ? "meets" : "meet", share);
}

/// What one_device names: a type with all its instances, or one of them.
const char* device_word(const ServedPolicy& policy) {
  const auto is_named = [&policy](const auto& each) {
    return each.device_type == policy.of.device;
  };
  return std::ranges::any_of(policy.of.instances, is_named) ? "device type" : "instance";
}

std::string best_device_text(const ServedPolicy& policy) {
  return fmt::format("the best {} by itself", device_word(policy));
}

bool is_whole_cluster(const ServedPolicy& policy) {
  const auto is_named = [&policy](const auto& each) {
    return each.device_type == policy.of.device;
  };
  return std::ranges::all_of(policy.of.instances, is_named);
}

/// Of what was demanded, as a share.
double attained(const ServedPolicy& policy) {
  return std::min(policy.served, policy.of.attainment.value_or(1.0));
}

std::string cost_of(const ServedPolicy& policy) {
  return fmt::format("{} and a p99 latency of {}", quantity(policy.of.energy, 4),
                     latency_text(p99(policy)));
}

std::string instead(const ServedPolicy& from, const ServedPolicy& to) {
  constexpr double kSameLatency = 0.005;
  if (std::abs(p99(to) / p99(from) - 1.0) < kSameLatency)
    return fmt::format("the same p99 latency of {}", latency_text(p99(to)));
  return fmt::format("a p99 latency of {} instead of {}", latency_text(p99(to)),
                     latency_text(p99(from)));
}

double energy_change(const ServedPolicy& from, const ServedPolicy& to) {
  return change_pct(from.of.energy, to.of.energy);
}

bool is_nothing_served(const Setting& setting) {
  return std::ranges::all_of(setting.policies,
                             [](const ServedPolicy& policy) { return policy.of.completed == 0; });
}

std::string alone_headline(const ServingFindings& found) {
  const auto& best = *found.finding.best;
  const auto share = attained_text(attained(best));
  std::string kept;
  if (!best.keeps)
    kept = fmt::format(", but {} only {} of the requests, not the {} demanded",
                       has_slo(found) ? "meets the SLO for" : "serves", share,
                       demanded_text(found.demanded));
  else if (has_slo(found))
    kept = fmt::format(" and meets the SLO for {} of the requests", share);
  return fmt::format("{} needs {}{}; nothing else was simulated to compare it with.",
                     policy_name(best), cost_of(best), kept);
}

std::string nobody_headline(const ServingFindings& found) {
  const auto& best = *found.finding.best;
  return fmt::format("No policy {}: {} comes closest with {}, at {}.", keeping(found, true),
                     policy_name(best), attained_text(attained(best)), cost_of(best));
}

/// What the best that is unlike the winner would cost instead.
std::string next_clause(const ServingFindings& found, const char* what) {
  const auto* best = found.finding.best;
  const auto* next = found.finding.next;
  if (next == nullptr) return fmt::format("no other {} {}", what, keeping(found, true));
  const double percent = energy_change(*best, *next);
  if (std::abs(percent) < 100.0 * kSameEnergy)
    return fmt::format("{} needs as much, at {}", policy_name(*next), instead(*best, *next));
  return fmt::format("{} needs {} % more, at {}", policy_name(*next), significant(percent, 2),
                     instead(*best, *next));
}

std::string one_device_headline(const ServingFindings& found) {
  const bool only_devices = std::ranges::all_of(
      found.setting.policies,
      [](const ServedPolicy& policy) { return policy.of.kind == ServingPolicyKind::one_device; });
  const auto& best = *found.finding.best;
  if (only_devices)
    return fmt::format(
        "Of the device types alone, {} needs least energy: {}; no policy that "
        "mixes them was simulated.",
        best.of.device, cost_of(best));
  return fmt::format("One {} is best: {} needs least energy of all that {}; {}.", device_word(best),
                     policy_name(best), keeping(found, false), next_clause(found, "policy"));
}

std::string load_headline(const ServingFindings& found) {
  const bool no_other = std::ranges::all_of(found.setting.policies, [](const ServedPolicy& policy) {
    return policy.of.kind == ServingPolicyKind::load;
  });
  const auto& best = *found.finding.best;
  if (no_other)
    return fmt::format(
        "Of the policies that do not look at the work, {} needs least energy: {}; "
        "none that does was simulated.",
        policy_name(best), cost_of(best));
  return fmt::format(
      "Nothing is gained by looking at the work: {} needs least energy of all that "
      "{}; {}.",
      policy_name(best), keeping(found, false), next_clause(found, "kind of policy"));
}

std::string saving_headline(const ServingFindings& found) {
  const auto& best = *found.finding.best;
  const auto* yardstick =
      found.finding.device != nullptr ? found.finding.device : found.finding.load;
  if (yardstick == nullptr)
    return fmt::format("{} needs least energy of all that {}: {}.", policy_name(best),
                       keeping(found, false), cost_of(best));
  const auto what = found.finding.device != nullptr
                        ? best_device_text(*yardstick)
                        : std::string("the best policy that does not look at the work");
  return fmt::format("{} needs {} % less energy than {}, {}, at {}; both {}.", policy_name(best),
                     significant(-energy_change(*yardstick, best), 2), policy_name(*yardstick),
                     what, instead(*yardstick, best), keeping(found, false));
}

/// The best policy against one that it is not.
std::string against(const ServedPolicy& yardstick, const ServedPolicy& best,
                    std::string_view what) {
  return fmt::format("Against {}, {}: {}.", policy_name(yardstick), what,
                     serving_changes(yardstick, best));
}

std::string device_comparison(const ServingFindings& found) {
  const auto& finding = found.finding;
  if (finding.device == finding.best) return {};
  if (finding.device != nullptr)
    return against(*finding.device, *finding.best, best_device_text(*finding.device));
  if (finding.has_device) return fmt::format("No device type alone {}.", keeping(found, true));
  return "No device type was simulated alone (--policy 'all-on-one:device=*' does).";
}

std::string load_comparison(const ServingFindings& found) {
  const auto& finding = found.finding;
  if (finding.load == finding.best) return {};
  if (finding.load != nullptr)
    return against(*finding.load, *finding.best, "the best that does not look at the work");
  if (finding.has_load)
    return fmt::format("No policy that goes by load alone {}.", keeping(found, true));
  return "None that goes by load alone was simulated (least-connections is one).";
}

std::string bound_comparison(const ServingFindings& found) {
  const auto& finding = found.finding;
  if (finding.bound <= Joules()) return {};
  return fmt::format("The lower bound, which grants no latency, is {}: {} is {} % above it.",
                     quantity(finding.bound, 4), policy_name(*finding.best),
                     significant(change_pct(finding.bound, finding.best->of.energy), 3));
}

}  // namespace

ServingFindings findings_of(const Setting& setting, double demanded) {
  return {.setting = setting, .finding = finding_of(setting), .demanded = demanded};
}

std::string serving_headline(const ServingFindings& found) {
  if (is_nothing_served(found.setting))
    return fmt::format("No policy served any of {}: there is nothing to compare.",
                       counted(found.finding.best->of.requests, "request"));
  switch (found.finding.verdict) {
    case Verdict::alone:
      return alone_headline(found);
    case Verdict::nobody:
      return nobody_headline(found);
    case Verdict::one_device:
      return one_device_headline(found);
    case Verdict::load:
      return load_headline(found);
    case Verdict::saving:
      return saving_headline(found);
  }
  return {};
}

std::vector<std::string> serving_comparisons(const ServingFindings& found) {
  std::vector<std::string> sentences;
  if (is_nothing_served(found.setting)) return sentences;
  for (auto* comparison : {device_comparison, load_comparison, bound_comparison})
    if (auto sentence = comparison(found); !sentence.empty())
      sentences.push_back(std::move(sentence));
  return sentences;
}

std::vector<std::string> serving_cautions(const ServingFindings& found) {
  const auto& finding = found.finding;
  std::vector<std::string> cautions;
  if (finding.breaker != nullptr)
    cautions.push_back(
        fmt::format("{} needs less energy than {} ({}), but {} only {} of the requests.",
                    policy_name(*finding.breaker), policy_name(*finding.best),
                    serving_changes(*finding.best, *finding.breaker),
                    has_slo(found) ? "meets the SLO for" : "serves",
                    attained_text(attained(*finding.breaker))));
  if (finding.clairvoyant != nullptr)
    cautions.push_back(fmt::format(
        "{} knows how long answers will be, as nobody can; it needs less energy than {} ({}).",
        policy_name(*finding.clairvoyant), policy_name(*finding.best),
        serving_changes(*finding.best, *finding.clairvoyant)));
  if (finding.device != nullptr && is_whole_cluster(*finding.device))
    cautions.push_back(fmt::format(
        "The cluster has one device type: {} means its requests are spread over all instances.",
        policy_name(*finding.device)));
  std::string overloaded;
  for (const auto& policy : found.setting.policies)
    if (policy.of.is_overloaded)
      overloaded += (overloaded.empty() ? "" : ", ") + policy_name(policy);
  if (!overloaded.empty())
    cautions.push_back(
        fmt::format("Overloaded, more requests waiting at the last arrival than fit "
                    "into all batches: {}.",
                    overloaded));
  return cautions;
}

std::string policy_name(const ServedPolicy& policy) {
  return policy.of.device.empty() ? policy.of.policy : policy.of.device + " alone";
}

std::string serving_changes(const ServedPolicy& from, const ServedPolicy& to) {
  return fmt::format("energy {}, p99 latency {}, mean latency {}",
                     rough_change(energy_change(from, to)), latency_change(p99(from), p99(to)),
                     latency_change(from.of.e2e.mean, to.of.e2e.mean));
}

std::string rough_change(double percent) {
  if (!std::isfinite(percent)) return "-";  // of nothing
  if (std::abs(percent) < 0.05) percent = 0.0;
  if (percent >= 999.5) return significant(1.0 + percent / 100.0) + " times";
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 99.95 ? 1 : 0);
}

std::string latency_change(Seconds from, Seconds to) {
  return from > Seconds() && to > Seconds() ? rough_change(change_pct(from, to)) : "-";
}

std::string latency_text(Seconds value) {
  if (value <= Seconds()) return "-";
  constexpr double kLong = 999.5;
  if (value.in_si() >= kLong)
    return counted(static_cast<std::uint64_t>(std::llround(value.in_si())), "") + " s";
  return quantity(value);
}

std::string attained_text(double share) {
  constexpr double kRounding = 1e-9;
  return fmt::format("{:.2f} %", std::floor(1e4 * share + kRounding) / 100.0);
}

std::string demanded_text(double share) { return fmt::format("{:.6g} %", 100.0 * share); }

}  // namespace negawatt::report
