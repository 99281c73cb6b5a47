// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_labels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plan/schedule_dp.hpp"

namespace negawatt::plan {
namespace {

constexpr double kTicksPerSecond = 1e12;
constexpr std::uint32_t kNoLabel = std::numeric_limits<std::uint32_t>::max();
// Energies of the same moves made in another order differ by less, relative to the iteration's.
constexpr double kRounding = 1e-13;

/// The iteration from the change to `pair` at `boundary` to the cut. The energy of that change is
/// not in it.
struct Label {
  std::int64_t time = 0;    ///< picoseconds
  double energy = 0.0;      ///< joules
  std::int64_t credit = 0;  ///< picoseconds that the pair across the cut was held before it
  std::uint32_t next = kNoLabel;
  std::uint32_t boundary = 0;
  std::uint16_t pair = 0;
};

class LabelSearch {
 public:
  LabelSearch(const ScheduleTables& tables, const LabelRequest& request)
      : tables_(tables),
        request_(request),
        pairs_(tables.pairs()),
        n_(tables.invocations()),
        below_(request.energy_below),
        // Each invocation's time was rounded to a picosecond; the last word has assess().
        longest_(static_cast<std::int64_t>(request.longest * kTicksPerSecond) + n_ + 1) {
    for (std::size_t at = 0; at < request.prices.size(); ++at) {
      programs_.emplace_back(tables);
      programs_.back().keep_arrivals();
    }
    sum_prefixes();
    waiting_.resize((std::size_t{n_} + 1) * pairs_);
  }

  LabelAnswer run() {
    answer_.is_complete = true;
    programs_[0].run(tables_, weights(0), {});
    std::vector<double> relaxed;
    relaxed.reserve(pairs_);
    for (std::uint32_t pair = 0; pair < pairs_; ++pair)
      relaxed.push_back(programs_[0].end_value(pair) - request_.prices[0] * request_.budget);
    for (std::uint32_t pair = 0; pair < pairs_ && answer_.is_complete; ++pair)
      if (relaxed[pair] < below_) search_across(pair);
    return answer_;
  }

 private:
  [[nodiscard]] Weights weights(std::size_t price) const {
    return {.energy = 1.0, .time = request_.prices[price]};
  }
  [[nodiscard]] std::size_t node(std::uint32_t boundary, std::uint32_t pair) const {
    return std::size_t{boundary} * pairs_ + pair;
  }
  void sum_prefixes();
  /// All schedules that hold `pair` across the cut.
  void search_across(std::uint32_t pair);
  void seed(std::uint32_t pair);
  void extend(std::uint32_t index);
  void extend_to(std::uint32_t index, std::uint32_t from);
  void complete(std::uint32_t index);
  /// Of the labels waiting at a node, those that no other one makes useless.
  void keep_best(std::vector<std::uint32_t>& labels) const;
  /// Least energy, by the bound at one price, of a label that starts with arrival(boundary, pair).
  [[nodiscard]] double bound(std::size_t price, const Label& label) const;
  void push(const Label& label);

  const ScheduleTables& tables_;
  const LabelRequest& request_;
  std::uint32_t pairs_;
  std::uint32_t n_;
  double below_;
  std::int64_t longest_;
  std::uint32_t across_ = 0;          // pair held across the cut by the present labels
  std::vector<ScheduleDp> programs_;  // one per price
  std::vector<std::int64_t> ticks_;   // node: picoseconds of invocations before it at its pair
  std::vector<double> energies_;      // node: the same in joules
  std::vector<Label> labels_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // node: labels
  LabelAnswer answer_;
};

void LabelSearch::sum_prefixes() {
  ticks_.assign((std::size_t{n_} + 1) * pairs_, 0);
  energies_.assign(ticks_.size(), 0.0);
  for (std::uint32_t i = 0; i < n_; ++i) {
    for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
      const auto at = tables_.cell(i, pair);
      ticks_[node(i + 1, pair)] = ticks_[node(i, pair)] + tables_.ticks()[at];
      energies_[node(i + 1, pair)] = energies_[node(i, pair)] + tables_.energies()[at];
    }
  }
}

double LabelSearch::bound(std::size_t price, const Label& label) const {
  const auto at = node(label.boundary, label.pair);
  const double seconds =
      static_cast<double>(label.time + ticks_[at]) / kTicksPerSecond - request_.budget;
  return label.energy + energies_[at] + request_.prices[price] * seconds +
         programs_[price].arrival(label.boundary, label.pair);
}

void LabelSearch::push(const Label& label) {
  if (label.time > longest_) return;
  for (std::size_t price = 0; price < programs_.size(); ++price)
    if (!(bound(price, label) < below_)) return;
  if (answer_.labels >= request_.most_labels) {
    answer_.is_complete = false;
    return;
  }
  ++answer_.labels;
  waiting_[node(label.boundary, label.pair)].push_back(static_cast<std::uint32_t>(labels_.size()));
  labels_.push_back(label);
}

void LabelSearch::search_across(std::uint32_t pair) {
  for (std::size_t price = 0; price < programs_.size(); ++price) {
    programs_[price].run(tables_, weights(price), {.pair = pair});
    const double least =
        programs_[price].end_value(pair) - request_.prices[price] * request_.budget;
    if (!(least < below_)) return;
  }
  across_ = pair;
  labels_.clear();
  for (auto& labels : waiting_) labels.clear();
  seed(pair);
  for (auto boundary = n_; boundary > 0; --boundary) {
    for (std::uint32_t at = 0; at < pairs_; ++at) {
      auto& labels = waiting_[node(boundary, at)];
      keep_best(labels);
      for (const auto index : labels) {
        if (!answer_.is_complete) return;
        extend(index);
      }
    }
  }
}

void LabelSearch::seed(std::uint32_t pair) {
  const auto enough = tables_.latencies().back();
  for (auto boundary = n_; boundary > 0; --boundary) {
    const auto held = ticks_[node(n_, pair)] - ticks_[node(boundary, pair)];
    push({.time = held,
          .energy = energies_[node(n_, pair)] - energies_[node(boundary, pair)],
          .credit = std::min(held, enough),
          .boundary = boundary,
          .pair = static_cast<std::uint16_t>(pair)});
    if (!tables_.is_measured(boundary - 1, pair)) return;
  }
}

void LabelSearch::extend(std::uint32_t index) {
  if (labels_[index].pair != across_) complete(index);
  for (std::uint32_t from = 0; from < pairs_; ++from)
    if (from != labels_[index].pair) extend_to(index, from);
}

void LabelSearch::extend_to(std::uint32_t index, std::uint32_t from) {
  const Label to = labels_[index];
  const auto change = tables_.change(from, to.pair);
  auto start = programs_[0].latest_start(to.boundary, change.latency_class, from);
  const auto end = node(to.boundary, from);
  // What the bound is but for the arrival, at the first price: it decides how far back to look.
  const double seconds =
      static_cast<double>(to.time + ticks_[end]) / kTicksPerSecond - request_.budget;
  const double rest = to.energy + change.energy + energies_[end] + request_.prices[0] * seconds;
  for (; start > 0; --start) {
    if (!(rest + programs_[0].least_arrival(start, from) < below_)) return;
    if (rest + programs_[0].arrival(start, from) < below_) {
      push({.time = to.time + ticks_[end] - ticks_[node(start, from)],
            .energy = to.energy + change.energy + energies_[end] - energies_[node(start, from)],
            .credit = to.credit,
            .next = index,
            .boundary = start,
            .pair = static_cast<std::uint16_t>(from)});
    }
    if (!tables_.is_measured(start - 1, from)) return;
  }
}

void LabelSearch::complete(std::uint32_t index) {
  const auto& label = labels_[index];
  const auto at = node(label.boundary, across_);
  const auto change = tables_.change(across_, label.pair);
  if (label.credit + ticks_[at] < tables_.latencies()[change.latency_class]) return;
  if (label.time + ticks_[at] > longest_) return;
  if (!(label.energy + change.energy + energies_[at] < below_)) return;
  Assignment assignment(n_, static_cast<std::uint16_t>(across_));
  for (auto from = index; from != kNoLabel; from = labels_[from].next) {
    const auto end = labels_[from].next == kNoLabel ? n_ : labels_[labels_[from].next].boundary;
    std::fill(assignment.begin() + labels_[from].boundary, assignment.begin() + end,
              labels_[from].pair);
  }
  // Refuses invocations before the first change that `across_` was not measured at, too.
  const auto cost = tables_.assess(assignment);
  if (!cost.broken.empty() || cost.time > request_.longest || cost.energy >= below_) return;
  below_ = cost.energy;
  answer_.assignment = std::move(assignment);
}

void LabelSearch::keep_best(std::vector<std::uint32_t>& labels) const {
  if (labels.size() < 2) return;
  std::ranges::sort(labels, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(labels_[a].time, labels_[a].energy) <
           std::pair(labels_[b].time, labels_[b].energy);
  });
  const double tolerance = kRounding * std::abs(request_.energy_below);
  std::vector<std::pair<std::int64_t, double>> least;  // energy of faster labels by their credit
  std::erase_if(labels, [&](std::uint32_t index) {
    const auto& label = labels_[index];
    const bool is_beaten = std::ranges::any_of(least, [&](const auto& other) {
      return other.first >= label.credit && other.second <= label.energy + tolerance;
    });
    if (is_beaten) return true;
    const auto same =
        std::ranges::find(least, label.credit, &std::pair<std::int64_t, double>::first);
    if (same == least.end())
      least.emplace_back(label.credit, label.energy);
    else
      same->second = label.energy;
    return false;
  });
}

}  // namespace

std::size_t label_bytes_for(const ScheduleTables& tables, std::size_t prices) {
  const auto nodes = (std::size_t{tables.invocations()} + 1) * tables.pairs();
  const auto per_node = sizeof(std::int64_t) + sizeof(double) + sizeof(std::vector<std::uint32_t>);
  return prices * (ScheduleDp::bytes_for(tables) + nodes * sizeof(double)) + nodes * per_node;
}

LabelAnswer search_labels(const ScheduleTables& tables, const LabelRequest& request) {
  return LabelSearch(tables, request).run();
}

}  // namespace negawatt::plan
