// SPDX-License-Identifier: Apache-2.0
#include "govern/ledger.hpp"

#include <cmath>
#include <utility>

#include "core/result.hpp"

namespace negawatt::govern {
namespace {

// Iterations that start between two readings of the counter; more is a program gone wild.
constexpr std::size_t kMostUnsettled = 100'000;
// Within a refresh, the energy may lie anywhere between the two readings: uniform, sd 1/sqrt(12).
const double kUniform = 1.0 / std::sqrt(12.0);

}  // namespace

void RunningMean::add_mean(MeanOf observed) {
  NW_ASSERT(observed.count > 0);
  ++observations_;
  count_ += observed.count;
  const auto weight = static_cast<double>(observed.count);
  const double before = observed.mean - mean_;
  mean_ += before * weight / static_cast<double>(count_);
  squares_ += weight * before * (observed.mean - mean_);
}

double RunningMean::standard_error() const {
  if (observations_ < 2) return 0.0;
  // A mean of n values varies by the n-th part of what one does: weighed with n, every observation
  // tells the same of one value's variance.
  const double variance = squares_ / static_cast<double>(observations_ - 1);
  return std::sqrt(variance / static_cast<double>(count_));
}

Ledger::Ledger(const Execution& plan, std::uint64_t warm_up)
    : warm_up_(warm_up), segment_times_(plan.segments.size()) {
  first_of_segment_.reserve(plan.segments.size());
  for (const auto& segment : plan.segments) first_of_segment_.push_back(segment.first);
}

void Ledger::note_position(const trace::Position& position) {
  if (position.state != trace::ProgramState::running) return;
  if (!last_start_ || position.iteration > last_start_->iteration) {
    note_iteration(position);
    // When it began is known, whichever of its invocations is the first that was seen.
    auto start = position;
    start.invocation = 0;
    start.started_ns = position.iteration_started_ns;
    note_segment(start);
  }
  note_segment(position);
}

void Ledger::note_iteration(const trace::Position& position) {
  if (position.iteration >= warm_up_) {
    if (last_start_ && last_start_->iteration >= warm_up_) {
      const auto count = position.iteration - last_start_->iteration;
      const double took = static_cast<double>(position.iteration_started_ns) -
                          static_cast<double>(last_start_->at_ns);
      times_.add_mean({took * 1e-9 / static_cast<double>(count), count});
    }
    if (unsettled_.size() < kMostUnsettled)
      unsettled_.push_back({position.iteration, position.iteration_started_ns});
    settle();  // a reading may already be newer than this position
  }
  last_start_ = Start{position.iteration, position.iteration_started_ns};
}

/// A segment's time is known when the start of the segment after it is the next start seen.
void Ledger::note_segment(const trace::Position& position) {
  const auto found = std::ranges::lower_bound(first_of_segment_, position.invocation);
  const bool at_start = found != first_of_segment_.end() && *found == position.invocation;
  const auto after = std::ranges::upper_bound(first_of_segment_, position.invocation);
  const auto segment = static_cast<std::size_t>(after - first_of_segment_.begin()) - 1;
  const bool is_next = segment == (segment_ + 1) % first_of_segment_.size();
  if (segment == segment_ && !(at_start && first_of_segment_.size() == 1)) {
    if (!segment_started_ns_ && at_start) begin_segment(position);
    return;
  }
  const auto same_round = segment_iteration_ + (segment == 0 ? 1 : 0) == position.iteration;
  if (segment_started_ns_ && at_start && is_next && same_round &&
      position.started_ns > *segment_started_ns_ && position.iteration >= warm_up_)
    segment_times_[segment_].add(static_cast<double>(position.started_ns - *segment_started_ns_) *
                                 1e-9);
  segment_ = segment;
  segment_started_ns_.reset();
  if (at_start) begin_segment(position);
}

void Ledger::begin_segment(const trace::Position& position) {
  segment_started_ns_ = position.started_ns;
  segment_iteration_ = position.iteration;
}

void Ledger::note_energy(std::uint64_t at_ns, Joules counter) {
  if (newest_ && counter < newest_->counter) note_reset();
  older_ = std::exchange(newest_, Reading{at_ns, counter});
  settle();
}

/// Starts that lie between the two newest readings. One that is older than both was noted too late.
void Ledger::settle() {
  while (!unsettled_.empty() && newest_ && unsettled_.front().at_ns <= newest_->at_ns) {
    const auto start = unsettled_.front();
    unsettled_.pop_front();
    if (!older_ || start.at_ns < older_->at_ns) continue;
    const auto span = static_cast<double>(newest_->at_ns - older_->at_ns);
    const auto part = static_cast<double>(start.at_ns - older_->at_ns);
    const auto step = newest_->counter - older_->counter;
    const auto energy = span > 0.0 ? older_->counter + step * (part / span) : newest_->counter;
    if (!first_settled_) {
      first_settled_ = {start, energy};
      ends_error_ = step * kUniform * std::sqrt(2.0);
    }
    last_settled_ = {start, energy};
  }
}

void Ledger::note_reset() {
  if (first_settled_ && last_settled_) {
    summed_ += last_settled_->second - first_settled_->second;
    summed_iterations_ += last_settled_->first.iteration - first_settled_->first.iteration;
  }
  unsettled_.clear();
  older_.reset();
  newest_.reset();
  first_settled_.reset();
  last_settled_.reset();
}

Achieved Ledger::achieved() const {
  Achieved achieved{.iterations = times_.count()};
  achieved.mean.time = Seconds(times_.mean());
  achieved.error.time = Seconds(times_.standard_error());
  auto energy = summed_;
  auto iterations = summed_iterations_;
  if (first_settled_ && last_settled_) {
    energy += last_settled_->second - first_settled_->second;
    iterations += last_settled_->first.iteration - first_settled_->first.iteration;
  }
  if (iterations == 0) return achieved;
  achieved.has_energy = true;
  achieved.mean.energy = energy / static_cast<double>(iterations);
  achieved.error.energy = ends_error_ / static_cast<double>(iterations);
  return achieved;
}

}  // namespace negawatt::govern
