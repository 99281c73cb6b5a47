// SPDX-License-Identifier: Apache-2.0
#include "sim/energy_bound.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "sim/request_floor.hpp"

namespace negawatt::sim {
namespace {

constexpr unsigned kKeptBits = 8;
constexpr int kPriceSteps = 60;

std::uint32_t rounded_down(std::uint32_t tokens) {
  const auto width = static_cast<unsigned>(std::bit_width(tokens));
  const unsigned dropped = width > kKeptBits ? width - kKeptBits : 0;
  return tokens >> dropped << dropped;
}

bool same_kind(const InstanceSpec& a, const InstanceSpec& b) {
  using Numbers = std::array<double, sizeof(model::StepCoefficients) / sizeof(double)>;
  return std::bit_cast<Numbers>(a.model.coefficients()) ==
             std::bit_cast<Numbers>(b.model.coefficients()) &&
         a.role == b.role && a.serves_model == b.serves_model &&
         a.limits.most_sequences == b.limits.most_sequences &&
         a.limits.most_step_tokens == b.limits.most_step_tokens &&
         kv_tokens(a.limits) == kv_tokens(b.limits) &&
         a.power.sleep_after.has_value() == b.power.sleep_after.has_value() &&
         a.power.sleep_power == b.power.sleep_power;
}

/// The least that an instance draws, whatever it does: idle, or asleep if it may.
double floor_power(const InstanceSpec& spec) {
  return spec.power.sleep_after ? spec.power.sleep_power.in_si() : spec.model.idle_power().in_si();
}

struct Size {
  double input = 0;
  double output = 0;
  double count = 0;
};

struct KindFloor {
  RequestFloor floor;
  route::Role role;
  double instances = 0;
  double power = 0;       ///< floor_power
  double busy_power = 0;  ///< added by being busy, without what the work itself takes
};

struct Problem {
  std::vector<KindFloor> kinds;
  std::vector<Size> sizes;
  bool split = false;  ///< prompt and answer may be on different instances
  double end = 0;
};

/// The bound for given prices of a second of each kind, and the seconds that its cheapest
/// assignment takes of each.
struct Priced {
  double joules = 0;
  std::vector<double> seconds;
};

struct Least {
  double joules = std::numeric_limits<double>::infinity();
  double seconds = 0;
  std::size_t kind = 0;

  void consider(double priced, double time, std::size_t of) {
    if (priced < joules) *this = {priced, time, of};
  }
};

Priced priced(const Problem& problem, const std::vector<double>& prices) {
  Priced sum{.seconds = std::vector<double>(prices.size())};
  const auto add = [&](const Least& least, double count) {
    sum.joules += count * least.joules;
    sum.seconds[least.kind] += count * least.seconds;
  };
  for (const auto& size : problem.sizes) {
    Least prompt;
    Least answer;
    for (std::size_t k = 0; k < prices.size(); ++k) {
      const auto& kind = problem.kinds[k];
      const auto cost = [&](const Floor& floor) {
        return floor.joules + (kind.busy_power + prices[k]) * floor.seconds;
      };
      const auto first = kind.floor.prompt(size.input);
      const auto rest = kind.floor.answer(size.input, size.output);
      if (!problem.split) {
        prompt.consider(cost(first + rest), (first + rest).seconds, k);
        continue;
      }
      if (kind.role != route::Role::decode) prompt.consider(cost(first), first.seconds, k);
      if (kind.role != route::Role::prefill) answer.consider(cost(rest), rest.seconds, k);
    }
    add(prompt, size.count);
    if (problem.split) add(answer, size.count);
  }
  for (std::size_t k = 0; k < prices.size(); ++k) {
    const auto& kind = problem.kinds[k];
    sum.joules += problem.end * kind.instances * (kind.power - prices[k]);
  }
  return sum;
}

/// Prices may not be worth more than all instances draw anyway: a later end would then be a gain.
void limit(const Problem& problem, std::vector<double>& prices) {
  double drawn = 0.0;
  double asked = 0.0;
  for (std::size_t k = 0; k < prices.size(); ++k) {
    prices[k] = std::max(0.0, prices[k]);
    drawn += problem.kinds[k].instances * problem.kinds[k].power;
    asked += problem.kinds[k].instances * prices[k];
  }
  if (asked <= drawn) return;
  for (auto& price : prices) price *= drawn / asked;
}

/// Subgradient ascent on the prices; every point on the way is a bound, and the best is kept.
double best_bound(const Problem& problem) {
  std::vector<double> prices(problem.kinds.size(), 0.0);
  double best = 0.0;
  double scale = 0.0;
  for (const auto& kind : problem.kinds) scale = std::max(scale, kind.power);
  for (int step = 0; step <= kPriceSteps; ++step) {
    const auto here = priced(problem, prices);
    best = std::max(best, here.joules);
    bool scarce = false;
    for (std::size_t k = 0; k < prices.size(); ++k) {
      const double there_is = problem.end * problem.kinds[k].instances;
      if (there_is <= 0.0) continue;
      const double excess = here.seconds[k] / there_is - 1.0;
      scarce = scarce || excess > 0.0;
      prices[k] += scale * std::clamp(excess, -1.0, 1.0) / (1.0 + step);
    }
    if (step == 0 && !scarce) break;  // there is time enough: prices of 0 are the best
    limit(problem, prices);
  }
  return best;
}

}  // namespace

void KeyCounts::count(std::uint64_t key) {
  auto& cell = cell_of(cells_, key);
  if (cell.second++ > 0) return;
  cell.first = key;
  if (2 * ++used_ < cells_.size()) return;
  std::vector<Cell> larger(2 * cells_.size());
  for (const auto& old : cells_)
    if (old.second > 0) cell_of(larger, old.first) = old;
  cells_ = std::move(larger);
}

KeyCounts::Cell& KeyCounts::cell_of(std::vector<Cell>& cells, std::uint64_t key) {
  // The golden ratio spreads keys that are multiples of powers of two (Knuth, volume 3, 6.4).
  const auto hash = (key * 0x9E3779B97F4A7C15U) >> 32U;
  auto at = hash & (cells.size() - 1);
  while (cells[at].second > 0 && cells[at].first != key) at = (at + 1) & (cells.size() - 1);
  return cells[at];
}

std::vector<KeyCounts::Cell> KeyCounts::sorted() const {
  std::vector<Cell> all;
  for (const auto& cell : cells_)
    if (cell.second > 0) all.push_back(cell);
  std::ranges::sort(all);
  return all;
}

EnergyBound::EnergyBound(const Cluster& cluster) : cluster_(&cluster) {
  for (std::size_t i = 0; i < cluster.instances.size(); ++i) {
    const auto& spec = cluster.instances[i];
    if (!spec.serves_model) continue;
    const auto kind = std::ranges::find_if(kinds_, [&](const Kind& other) {
      return same_kind(spec, cluster.instances[other.instance]);
    });
    if (kind != kinds_.end()) {
      ++kind->count;
      continue;
    }
    kinds_.push_back({.instance = i, .count = 1});
    auto alone = spec;
    alone.limits.most_sequences = 1;
    alone_.emplace_back(alone, FloorChoice{});
  }
}

/// Alone on the fastest instance, where every step that it is in takes its time for it only. With a
/// link, the fastest for the prompt and the fastest for the answer.
double EnergyBound::shortest_service(const trace::Request& request) const {
  const double input = request.input_tokens;
  const double output = request.output_tokens;
  double whole = std::numeric_limits<double>::infinity();
  if (!cluster_->link) {
    for (const auto& floor : alone_) whole = std::min(whole, floor.seconds(input, output));
    return whole;
  }
  double answer = whole;
  for (const auto& floor : alone_) {
    whole = std::min(whole, floor.seconds(input, 1.0));
    answer = std::min(answer, floor.answer(input, output).seconds);
  }
  return whole + answer;
}

void EnergyBound::drew(const Draw& /*draw*/) {}
void EnergyBound::draws(std::uint32_t /*instance*/, Seconds /*now*/, Watts /*power*/) {}
void EnergyBound::moved(Seconds /*now*/, Joules /*energy*/) {}

void EnergyBound::completed(const RequestRecord& record) {
  const auto& request = record.request;
  shortest_end_ = std::max(shortest_end_, request.arrival.in_si() + shortest_service(request));
  const auto key = std::uint64_t{rounded_down(request.input_tokens)} << 32U |
                   rounded_down(request.output_tokens);
  requests_.count(key);
}

Joules EnergyBound::joules() const {
  Problem problem{.split = cluster_->link.has_value(), .end = shortest_end_};
  for (const auto& [key, count] : requests_.sorted())
    problem.sizes.push_back({.input = static_cast<double>(key >> 32U),
                             .output = static_cast<double>(key & 0xFFFFFFFFU),
                             .count = static_cast<double>(count)});
  // Instances that serve another model, or none, draw their floor power all the same.
  double others = 0.0;
  for (const auto& spec : cluster_->instances)
    if (!spec.serves_model) others += floor_power(spec);
  double best = 0.0;
  for (const double compute_share : {0.0, 0.5, 1.0})
    for (const double memory_share : {0.0, 0.5, 1.0}) {
      problem.kinds.clear();
      for (const auto& kind : kinds_) {
        const auto& spec = cluster_->instances[kind.instance];
        problem.kinds.push_back(
            {.floor = RequestFloor(spec, {compute_share, memory_share}),
             .role = spec.role,
             .instances = static_cast<double>(kind.count),
             .power = floor_power(spec),
             .busy_power = spec.model.idle_power().in_si() - floor_power(spec)});
      }
      best = std::max(best, best_bound(problem));
    }
  return Joules(best + others * shortest_end_);
}

}  // namespace negawatt::sim
