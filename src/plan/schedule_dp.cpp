// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_dp.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNoBoundary = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::size_t ScheduleDp::bytes_for(const ScheduleTables& tables) {
  const auto states = (std::size_t{tables.invocations()} + 1) * tables.pairs();
  return states * (tables.latencies().size() * sizeof(std::uint32_t) + sizeof(double));
}

ScheduleDp::ScheduleDp(const ScheduleTables& tables)
    : pairs_(tables.pairs()),
      invocations_(tables.invocations()),
      classes_(static_cast<std::uint32_t>(tables.latencies().size())),
      class_serves_memory_(classes_, 0) {
  for (const auto& target : tables.targets()) class_serves_memory_[target.memory.latency_class] = 1;
  prefix_.resize(pairs_);
  fresh_.resize(pairs_);
  open_.resize(std::size_t{classes_} * pairs_);
  mature_.resize(std::size_t{classes_} * pairs_);
  by_memory_.resize(std::size_t{classes_} * (tables.memory_groups().size() - 1));
  by_core_.resize(std::size_t{classes_} * tables.cores());
  by_any_.resize(classes_);
  least_arrivals_.resize((std::size_t{invocations_} + 1) * pairs_);
  find_latest_starts(tables);
}

void ScheduleDp::find_latest_starts(const ScheduleTables& tables) {
  latest_start_.resize((std::size_t{invocations_} + 1) * classes_ * pairs_);
  first_missing_.assign(pairs_, invocations_);
  std::vector<std::uint32_t> start(std::size_t{classes_} * pairs_, 0);
  std::vector<std::int64_t> dwell(std::size_t{classes_} * pairs_, 0);
  for (std::uint32_t boundary = 1; boundary <= invocations_; ++boundary) {
    const auto* ticks = tables.ticks().data() + tables.cell(boundary - 1, 0);
    auto* row = latest_start_.data() + std::size_t{boundary} * classes_ * pairs_;
    for (std::uint32_t k = 0; k < classes_; ++k) {
      const auto latency = tables.latencies()[k];
      for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
        const auto at = std::size_t{k} * pairs_ + pair;
        auto held = dwell[at] + ticks[pair];
        auto from = start[at];
        while (from + 1 < boundary) {
          const auto without = held - tables.ticks()[tables.cell(from, pair)];
          if (without < latency) break;
          held = without;
          ++from;
        }
        start[at] = from;
        dwell[at] = held;
        row[at] = held >= latency ? from : 0;
      }
    }
    for (const auto pair : tables.missing(tables.kernel(boundary - 1))) {
      first_missing_[pair] = std::min(first_missing_[pair], boundary - 1);
      for (std::uint32_t k = 0; k < classes_; ++k) {
        const auto at = std::size_t{k} * pairs_ + pair;
        start[at] = boundary;
        dwell[at] = 0;
        row[at] = 0;
      }
    }
  }
}

void ScheduleDp::weigh(const ScheduleTables& tables, Weights weights, LaterTime later) {
  energy_weight_ = weights.energy;
  later_from_ = later.from;
  const auto fill = [&](std::vector<double>& table, double time) {
    table.resize(tables.times().size());
    for (std::size_t at = 0; at < table.size(); ++at)
      table[at] = weights.energy * tables.energies()[at] + time * tables.times()[at];
  };
  fill(weights_, weights.time);
  const auto groups = static_cast<std::uint32_t>(tables.memory_groups().size() - 1);
  sources_.clear();
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    const auto& target = tables.targets()[pair];
    sources_.push_back({
        .by_memory = target.core.latency_class * groups + tables.memory_of()[pair],
        .by_core = target.memory.latency_class * tables.cores() + tables.core_of()[pair],
        .by_any = target.both.latency_class,
        .core_weight = weights.energy * target.core.energy,
        .memory_weight = weights.energy * target.memory.energy,
        .both_weight = weights.energy * target.both.energy,
    });
  }
  if (later.from < invocations_) fill(later_weights_, later.time);
}

void ScheduleDp::begin(const ScheduleTables& tables, DpStart start) {
  start_ = start;
  std::ranges::fill(prefix_, 0.0);
  std::ranges::fill(open_, kNever);
  std::fill_n(least_arrivals_.begin(), pairs_, kNever);
  if (keeps_arrivals_) {
    arrivals_.resize(least_arrivals_.size());
    std::fill_n(arrivals_.begin(), pairs_, kNever);
  } else if (start_.pair) {
    arrivals_.assign(std::size_t{invocations_} + 1, kNever);
  }
  opens_at_.assign(classes_, 1);
  if (!start.credit) return;
  NW_ASSERT(start.pair.has_value());
  const auto pair = *start.pair;
  auto held = *start.credit;
  std::ranges::fill(opens_at_, kNoBoundary);
  for (std::uint32_t m = 1, k = 0; m <= invocations_ && k < classes_; ++m) {
    held += tables.ticks()[tables.cell(m - 1, pair)];
    while (k < classes_ && held >= tables.latencies()[k]) opens_at_[k++] = m;
  }
}

void ScheduleDp::open_starts(std::uint32_t boundary) {
  for (std::uint32_t k = 0; k < classes_; ++k) {
    if (opens_at_[k] != boundary) continue;
    for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
      const bool may_start = !start_.pair || *start_.pair == pair;
      if (may_start && first_missing_[pair] >= boundary)
        open_[std::size_t{k} * pairs_ + pair] = 0.0;
    }
  }
}

void ScheduleDp::forget_missing(const ScheduleTables& tables, std::uint32_t invocation) {
  for (const auto pair : tables.missing(tables.kernel(invocation))) {
    for (std::uint32_t k = 0; k < classes_; ++k) open_[std::size_t{k} * pairs_ + pair] = kNever;
  }
}

void ScheduleDp::gather_mature(std::uint32_t boundary) {
  const auto* rows = latest_start_.data() + std::size_t{boundary} * classes_ * pairs_;
  const auto* least = least_arrivals_.data();
  const auto* prefix = prefix_.data();
  for (std::uint32_t k = 0; k < classes_; ++k) {
    const auto* row = rows + std::size_t{k} * pairs_;
    const auto* open = open_.data() + std::size_t{k} * pairs_;
    auto* mature = mature_.data() + std::size_t{k} * pairs_;
    for (std::uint32_t pair = 0; pair < pairs_; ++pair)
      mature[pair] =
          prefix[pair] + std::min(least[std::size_t{row[pair]} * pairs_ + pair], open[pair]);
  }
}

double ScheduleDp::least_of(std::span<const double> values) {
  // Four at a time: one running minimum would wait for itself.
  std::array<double, 4> least;
  least.fill(kNever);
  std::size_t at = 0;
  for (; at + 4 <= values.size(); at += 4)
    for (std::size_t lane = 0; lane < 4; ++lane)
      least[lane] = std::min(least[lane], values[at + lane]);
  for (; at < values.size(); ++at) least[0] = std::min(least[0], values[at]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

void ScheduleDp::reduce_mature(const ScheduleTables& tables) {
  const auto& groups = tables.memory_groups();
  const auto group_count = groups.size() - 1;
  const auto* core_of = tables.core_of().data();
  std::ranges::fill(by_core_, kNever);
  for (std::uint32_t k = 0; k < classes_; ++k) {
    const std::span mature(mature_.data() + std::size_t{k} * pairs_, pairs_);
    const std::span by_memory(by_memory_.data() + k * group_count, group_count);
    for (std::size_t g = 0; g < group_count; ++g)
      by_memory[g] = least_of(mature.subspan(groups[g], groups[g + 1] - groups[g]));
    by_any_[k] = least_of(by_memory);
    if (class_serves_memory_[k] == 0) continue;
    auto* by_core = by_core_.data() + std::size_t{k} * tables.cores();
    for (std::uint32_t pair = 0; pair < pairs_; ++pair)
      by_core[core_of[pair]] = std::min(by_core[core_of[pair]], mature[pair]);
  }
}

void ScheduleDp::arrive(const ScheduleTables& tables, std::uint32_t boundary) {
  const auto* before = least_arrivals_.data() + std::size_t{boundary - 1} * pairs_;
  auto* after = least_arrivals_.data() + std::size_t{boundary} * pairs_;
  const auto* prefix = prefix_.data();
  const auto* sources = sources_.data();
  auto* fresh = fresh_.data();
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    // The groups contain the pair itself: a change to itself costs at least as much as staying.
    const auto& source = sources[pair];
    const double core = by_memory_[source.by_memory] + source.core_weight;
    const double memory = by_core_[source.by_core] + source.memory_weight;
    const double both = by_any_[source.by_any] + source.both_weight;
    fresh[pair] = std::min(std::min(core, memory), both) - prefix[pair];
    after[pair] = std::min(before[pair], fresh[pair]);
  }
  for (const auto pair : tables.missing(tables.kernel(boundary - 1))) after[pair] = fresh[pair];
  if (keeps_arrivals_) {
    std::copy_n(fresh, pairs_, arrivals_.begin() + std::ptrdiff_t{boundary} * pairs_);
  } else if (start_.pair) {
    arrivals_[boundary] = fresh[*start_.pair];
  }
}

void ScheduleDp::advance(const ScheduleTables& tables, std::uint32_t boundary) {
  const auto* weight = weights_of(tables, boundary - 1);
  auto* prefix = prefix_.data();
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) prefix[pair] += weight[pair];
  open_starts(boundary);
  forget_missing(tables, boundary - 1);
  gather_mature(boundary);
  reduce_mature(tables);
  arrive(tables, boundary);
}

void ScheduleDp::run(const ScheduleTables& tables, Weights weights, DpStart start,
                     LaterTime later) {
  NW_ASSERT(!start.credit || start.pair);
  weigh(tables, weights, later);
  begin(tables, start);
  for (std::uint32_t boundary = 1; boundary <= invocations_; ++boundary) advance(tables, boundary);
}

double ScheduleDp::end_value(std::uint32_t pair) const {
  return end_value_up_to(pair, invocations_);
}

double ScheduleDp::end_value_up_to(std::uint32_t pair, std::uint32_t boundary) const {
  return least_arrivals_[std::size_t{boundary} * pairs_ + pair] + prefix_[pair];
}

double ScheduleDp::end_value_from(std::uint32_t pair, std::uint32_t boundary) const {
  return (keeps_arrivals_ ? arrival(boundary, pair) : arrivals_[boundary]) + prefix_[pair];
}

double ScheduleDp::constant_value(std::uint32_t pair) const {
  const bool may_start = !start_.pair || *start_.pair == pair;
  return may_start && first_missing_[pair] == invocations_ ? prefix_[pair] : kNever;
}

double ScheduleDp::start_value(std::uint32_t boundary, std::uint32_t latency_class,
                               std::uint32_t pair) const {
  const bool may_start = !start_.pair || *start_.pair == pair;
  const bool reaches = first_missing_[pair] >= boundary && opens_at_[latency_class] <= boundary;
  return may_start && reaches ? 0.0 : kNever;
}

std::uint32_t ScheduleDp::last_change(const ScheduleTables& tables, std::uint32_t pair) const {
  return change_behind(tables, invocations_, pair);
}

std::uint32_t ScheduleDp::change_behind(const ScheduleTables& tables, std::uint32_t boundary,
                                        std::uint32_t pair) const {
  while (boundary > 1 && tables.is_measured(boundary - 1, pair) &&
         least_arrival(boundary - 1, pair) == least_arrival(boundary, pair))
    --boundary;
  return boundary;
}

ScheduleDp::Predecessor ScheduleDp::best_predecessor(const ScheduleTables& tables, std::uint32_t to,
                                                     std::uint32_t boundary,
                                                     const std::vector<double>& prefix) const {
  Predecessor best{.value = kNever};
  const auto& target = tables.targets()[to];
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    const auto offer = [&](const PairChange& change) {
      const auto k = change.latency_class;
      const double reached = std::min(least_arrival(latest_start(boundary, k, pair), pair),
                                      start_value(boundary, k, pair));
      const double value = prefix[pair] + reached + energy_weight_ * change.energy;
      if (value < best.value) best = {pair, k, value};
    };
    if (pair != to) {
      offer(tables.change(pair, to));
      continue;
    }
    // arrive() may have preferred a change to itself, at equal value, to any other.
    for (const auto& change : {target.core, target.memory, target.both}) offer(change);
  }
  return best;
}

Assignment ScheduleDp::walk(const ScheduleTables& tables, std::uint32_t pair,
                            std::uint32_t boundary) const {
  Assignment assignment(invocations_, static_cast<std::uint16_t>(pair));
  auto prefix = prefix_;
  auto known = invocations_;  // prefix holds invocations 0 ... known - 1
  while (true) {
    for (; known > boundary; --known) {
      const auto* weight = weights_of(tables, known - 1);
      for (std::uint32_t p = 0; p < pairs_; ++p) prefix[p] -= weight[p];
    }
    const auto from = best_predecessor(tables, pair, boundary, prefix);
    NW_ASSERT(from.value < kNever);
    const auto latest = latest_start(boundary, from.latency_class, from.pair);
    const bool from_start =
        start_value(boundary, from.latency_class, from.pair) <= least_arrival(latest, from.pair);
    const auto begin = from_start ? 0 : change_behind(tables, latest, from.pair);
    std::fill(assignment.begin() + begin, assignment.begin() + boundary,
              static_cast<std::uint16_t>(from.pair));
    if (from_start) return assignment;
    pair = from.pair;
    boundary = begin;
  }
}

}  // namespace negawatt::plan
