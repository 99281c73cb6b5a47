// SPDX-License-Identifier: Apache-2.0
#include "report/serving_view.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/result.hpp"

namespace negawatt::report {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The longest of both, quantile by quantile.
void take_longer(const ServedLatency& other, ServedLatency& latency) {
  latency.count = std::max(latency.count, other.count);
  latency.mean = std::max(latency.mean, other.mean);
  for (std::size_t i = 0; i < latency.quantiles.size(); ++i)
    latency.quantiles[i] = std::max(latency.quantiles[i], other.quantiles[i]);
}

ServedPolicy policy_of(const ServedRun& run, std::size_t first) {
  return {.of = run,
          .first = first,
          .least_energy = run.energy,
          .most_energy = run.energy,
          .served = share(run.completed, run.requests)};
}

void add(const ServedClass& other, ServedClass& sum) {
  sum.requests += other.requests;
  if (!sum.attainment || (other.attainment && *other.attainment < *sum.attainment))
    sum.attainment = other.attainment;
  if (!sum.p99 || (other.p99 && *other.p99 > *sum.p99)) sum.p99 = other.p99;
}

/// Sums what becomes a mean, and takes the worst of the rest.
void add(const ServedRun& run, ServedPolicy& policy) {
  auto& sum = policy.of;
  ++policy.seeds;
  policy.least_energy = std::min(policy.least_energy, run.energy);
  policy.most_energy = std::max(policy.most_energy, run.energy);
  policy.served = std::min(policy.served, share(run.completed, run.requests));
  sum.requests += run.requests;
  sum.completed += run.completed;
  sum.output_tokens += run.output_tokens;
  sum.energy += run.energy;
  sum.idle += run.idle;
  sum.above_idle += run.above_idle;
  sum.bound += run.bound;
  if (sum.attainment && run.attainment) sum.attainment = std::min(*sum.attainment, *run.attainment);
  take_longer(run.ttft, sum.ttft);
  take_longer(run.tbt, sum.tbt);
  take_longer(run.e2e, sum.e2e);
  sum.is_overloaded = sum.is_overloaded || run.is_overloaded;
  NW_ASSERT(sum.classes.size() == run.classes.size());
  for (std::size_t i = 0; i < run.classes.size(); ++i) add(run.classes[i], sum.classes[i]);
  NW_ASSERT(sum.instances.size() == run.instances.size());
  for (std::size_t i = 0; i < run.instances.size(); ++i) {
    sum.instances[i].requests += run.instances[i].requests;
    sum.instances[i].tokens += run.instances[i].tokens;
    sum.instances[i].energy += run.instances[i].energy;
  }
}

void take_means(ServedPolicy& policy) {
  auto& sum = policy.of;
  const auto seeds = static_cast<double>(policy.seeds);
  for (auto* energy : {&sum.energy, &sum.idle, &sum.above_idle, &sum.bound}) *energy *= 1.0 / seeds;
  for (auto* count : {&sum.requests, &sum.completed, &sum.output_tokens}) *count /= policy.seeds;
  for (auto& of_class : sum.classes) of_class.requests /= policy.seeds;
  for (auto& instance : sum.instances) {
    instance.energy *= 1.0 / seeds;
    instance.requests /= policy.seeds;
    instance.tokens /= policy.seeds;
  }
}

bool keeps(const ServedPolicy& policy, double demanded) {
  return policy.served >= demanded && policy.of.attainment.value_or(1.0) >= demanded;
}

void finish(Setting& setting, double demanded) {
  for (auto& policy : setting.policies) {
    take_means(policy);
    policy.keeps = keeps(policy, demanded);
  }
  std::ranges::stable_sort(setting.policies, [](const auto& a, const auto& b) {
    return std::pair(!a.keeps, a.of.energy) < std::pair(!b.keeps, b.of.energy);
  });
}

bool is_main(const Setting& setting) { return setting.cluster == 0 && setting.speed == 1.0; }

bool could_be_run(const ServedPolicy& policy) {
  return policy.of.kind != ServingPolicyKind::clairvoyant;
}

/// Of those that keep the SLO, which come in order of energy.
const ServedPolicy* least_of(const Setting& setting, ServingPolicyKind kind) {
  const auto found = std::ranges::find_if(setting.policies, [kind](const ServedPolicy& policy) {
    return policy.keeps && policy.of.kind == kind;
  });
  return found == setting.policies.end() ? nullptr : &*found;
}

const ServedPolicy* least_that_could_be_run(const Setting& setting) {
  const auto found = std::ranges::find_if(setting.policies, [](const ServedPolicy& policy) {
    return policy.keeps && could_be_run(policy);
  });
  return found == setting.policies.end() ? nullptr : &*found;
}

/// Who comes closest to what was demanded.
const ServedPolicy* most_attained(const Setting& setting) {
  const auto attained = [](const ServedPolicy& policy) {
    return could_be_run(policy)
               ? std::pair(std::min(policy.served, policy.of.attainment.value_or(1.0)),
                           policy.served)
               : std::pair(-1.0, -1.0);
  };
  return &*std::ranges::max_element(setting.policies, {}, attained);
}

bool is_as_good(const ServedPolicy* policy, const ServedPolicy& best) {
  return policy != nullptr && policy->of.energy <= (1.0 + kSameEnergy) * best.of.energy;
}

/// What is simpler comes first where energies are the same.
void judge(const Setting& setting, Finding& finding) {
  const auto* least = least_that_could_be_run(setting);
  if (least == nullptr) {
    finding.verdict = setting.policies.size() == 1 ? Verdict::alone : Verdict::nobody;
    finding.best = most_attained(setting);
    return;
  }
  finding.best = least;
  finding.verdict = setting.policies.size() == 1 ? Verdict::alone : Verdict::saving;
  if (finding.verdict == Verdict::alone) return;
  if (is_as_good(finding.device, *least)) {
    finding.verdict = Verdict::one_device;
    finding.best = finding.device;
  } else if (is_as_good(finding.load, *least)) {
    finding.verdict = Verdict::load;
    finding.best = finding.load;
  }
}

void look_around(const Setting& setting, Finding& finding) {
  const auto& best = *finding.best;
  for (const auto& policy : setting.policies) {
    finding.bound = std::max(finding.bound, policy.of.bound);
    finding.has_device |= policy.of.kind == ServingPolicyKind::one_device;
    finding.has_load |= policy.of.kind == ServingPolicyKind::load;
    const bool is_other = could_be_run(policy) && policy.keeps && policy.of.kind != best.of.kind;
    if (is_other && finding.next == nullptr) finding.next = &policy;
    if (policy.of.energy >= (1.0 - kSameEnergy) * best.of.energy) continue;
    const auto*& place = policy.keeps ? finding.clairvoyant : finding.breaker;
    if ((policy.keeps || could_be_run(policy)) && place == nullptr) place = &policy;
  }
}

}  // namespace

std::optional<Joules> ServedPolicy::per_token() const {
  if (of.output_tokens == 0) return std::nullopt;
  return of.energy / static_cast<double>(of.output_tokens);
}

Seconds p99(const ServedPolicy& policy) { return policy.of.e2e.quantiles[kP99]; }

Finding finding_of(const Setting& setting) {
  NW_ASSERT(!setting.policies.empty());
  Finding finding{.device = least_of(setting, ServingPolicyKind::one_device),
                  .load = least_of(setting, ServingPolicyKind::load)};
  judge(setting, finding);
  look_around(setting, finding);
  return finding;
}

std::vector<Setting> settings_of(const ServingReport& report) {
  NW_ASSERT(!report.runs.empty());
  std::vector<Setting> settings;
  std::vector<std::string> names;
  for (const auto& run : report.runs) {
    const auto name = std::ranges::find(names, run.policy) - names.begin();
    if (static_cast<std::size_t>(name) == names.size()) names.push_back(run.policy);
    auto setting = std::ranges::find_if(settings, [&run](const Setting& known) {
      return known.cluster == run.cluster && known.speed == run.speed;
    });
    if (setting == settings.end())
      setting = settings.insert(setting, {.cluster = run.cluster, .speed = run.speed});
    const auto policy =
        std::ranges::find(setting->policies, run.policy, [](const auto& p) { return p.of.policy; });
    if (policy == setting->policies.end())
      setting->policies.push_back(policy_of(run, static_cast<std::size_t>(name)));
    else
      add(run, *policy);
  }
  for (auto& setting : settings) finish(setting, report.demanded);
  std::ranges::stable_sort(settings, {},
                           [](const Setting& s) { return std::pair(s.cluster, s.speed); });
  std::ranges::stable_partition(settings, is_main);
  return settings;
}

std::vector<const Setting*> by_cluster_and_speed(const std::vector<Setting>& settings) {
  std::vector<const Setting*> sorted;
  sorted.reserve(settings.size());
  for (const auto& setting : settings) sorted.push_back(&setting);
  std::ranges::stable_sort(sorted, {},
                           [](const Setting* s) { return std::pair(s->cluster, s->speed); });
  return sorted;
}

std::vector<const ServedPolicy*> front_of(const Setting& setting) {
  const bool somebody_keeps = least_that_could_be_run(setting) != nullptr;
  std::vector<const ServedPolicy*> all;
  for (const auto& policy : setting.policies)
    if (could_be_run(policy) && policy.of.e2e.count > 0 && (policy.keeps || !somebody_keeps))
      all.push_back(&policy);
  std::ranges::stable_sort(all, {},
                           [](const ServedPolicy* p) { return std::pair(p99(*p), p->of.energy); });
  std::vector<const ServedPolicy*> front;
  for (const auto* policy : all)
    if (front.empty() || policy->of.energy < front.back()->of.energy) front.push_back(policy);
  return front;
}

std::vector<LambdaSeries> lambda_series(const Setting& setting) {
  std::vector<LambdaSeries> series;
  for (const auto& policy : setting.policies) {
    if (policy.of.family.empty()) continue;
    auto known = std::ranges::find(series, policy.of.family, &LambdaSeries::family);
    if (known == series.end())
      known = series.insert(known, {.family = policy.of.family, .policies = {}});
    known->policies.push_back(&policy);
  }
  std::erase_if(series, [](const LambdaSeries& one) { return one.policies.size() < 2; });
  for (auto& one : series)
    std::ranges::stable_sort(one.policies, {},
                             [](const auto* policy) { return policy->of.lambda; });
  std::ranges::sort(series, {}, [](const auto& one) { return one.policies.front()->first; });
  return series;
}

}  // namespace negawatt::report
