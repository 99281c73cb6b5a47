// SPDX-License-Identifier: Apache-2.0
#include "model/serving.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/result.hpp"
#include "core/same_functions.hpp"

// Seconds, joules and watts are raw doubles in this file.
namespace negawatt::model {
namespace {

/// at_first + slope k, where k = 0, 1, ... counts decode steps.
struct Line {
  double at_first;
  double slope;

  [[nodiscard]] double at(double k) const { return at_first + slope * k; }
  /// Sum over the steps from `first` up to and without `end`.
  [[nodiscard]] double sum(double first, double end) const {
    return (end - first) * (at_first + 0.5 * slope * (first + end - 1.0));
  }
  friend Line operator+(Line a, Line b) { return {a.at_first + b.at_first, a.slope + b.slope}; }
  friend Line operator-(Line a, Line b) { return {a.at_first - b.at_first, a.slope - b.slope}; }
  friend Line operator*(double f, Line a) { return {f * a.at_first, f * a.slope}; }
};

/// Where a line changes sign among the steps from `first` up to and without `end`.
struct SignChange {
  bool positive_first = false;
  double at = 0.0;  ///< the first step of the other sign; `end` if there is none
};

/// Rounded down; the cast costs a fraction of what std::floor does. From 0 to 2^53.
double whole(double steps) { return static_cast<double>(static_cast<std::int64_t>(steps)); }

SignChange sign_change(Line line, double first, double end) {
  const bool positive = line.at(first) > 0.0;
  if (positive ? line.slope >= 0.0 : line.slope <= 0.0) return {positive, end};
  // Far from 0 at the end, with the same sign: the common case needs no division.
  const double last = line.at(end - 1.0);
  const double margin = 1e-9 * std::abs(line.at_first);
  if (positive ? last > margin : last < -margin) return {positive, end};
  const double zero = std::clamp(-line.at_first / line.slope, first, end);
  const double below = whole(zero);
  const double at = positive && below == zero ? below : below + 1.0;
  return {positive, std::clamp(at, first + 1.0, end)};
}

/// Steps before `end` that cost time and energy along two lines.
struct Piece {
  double end;
  Line time;
  Line energy;
};

/// Which of compute and memory takes longer changes once at most, and so does, in each of the two
/// parts, whether the cap binds.
class Pieces {
 public:
  void add(const Piece& piece) { pieces_[count_++] = piece; }
  [[nodiscard]] const Piece* begin() const { return pieces_.data(); }
  [[nodiscard]] const Piece* end() const { return pieces_.data() + count_; }

 private:
  std::array<Piece, 4> pieces_;  // set where counted: clearing all costs as much as a step
  std::size_t count_ = 0;
};

/// What a run of decode steps is made of, without the cap.
struct Parts {
  Line compute;
  Line memory;
  Line dynamic;  ///< joules above idle and active power
  double rest;
};

/// Some steps and their time without the cap.
struct Stretch {
  double first = 0.0;
  double end = 0.0;
  Line time;
};

/// Appends the steps of `stretch` with what the cap makes of them.
void add_capped(const StepCoefficients& c, const Stretch& stretch, Line dynamic, Pieces& pieces) {
  const double base = c.idle_power + c.active_power;
  const Piece uncapped{stretch.end, stretch.time, base * stretch.time + dynamic};
  if (c.power_cap == 0.0) return pieces.add(uncapped);
  const double left = c.power_cap - base;
  const Line excess = dynamic - left * stretch.time;
  const auto [binds_first, change] = sign_change(excess, stretch.first, stretch.end);
  if (!binds_first && change == stretch.end) return pieces.add(uncapped);
  const Line slowed = stretch.time + (c.cap_slowdown / left) * excess;
  const Piece capped{stretch.end, slowed, c.power_cap * slowed};
  Piece before = binds_first ? capped : uncapped;
  before.end = change;
  pieces.add(before);
  if (change < stretch.end) pieces.add(binds_first ? uncapped : capped);
}

Pieces pieces_of(const StepCoefficients& c, const Parts& parts, double steps) {
  Pieces pieces;
  if (steps == 0.0) return pieces;
  const Line rest{parts.rest, 0.0};
  const Line by_compute = parts.compute + rest;
  const Line by_memory = parts.memory + rest;
  const auto [compute_first, change] = sign_change(parts.compute - parts.memory, 0.0, steps);
  add_capped(c, {0.0, change, compute_first ? by_compute : by_memory}, parts.dynamic, pieces);
  if (change < steps) {
    add_capped(c, {change, steps, compute_first ? by_memory : by_compute}, parts.dynamic, pieces);
  }
  return pieces;
}

Parts parts_of(const StepCoefficients& c, const StepLoad& load, double touched) {
  const double tokens = load.prompt_tokens + load.sequences;
  const double attended = load.prompt_attention + load.context_tokens;
  const double added = load.sequences;  // context tokens more, each step
  Parts parts;
  parts.rest =
      c.overhead + c.overhead_per_sequence * load.sequences + c.link + c.link_per_token * tokens;
  parts.compute = {c.compute_per_token * tokens + c.compute_per_attended * attended,
                   c.compute_per_attended * added};
  parts.memory = {c.memory_weights + c.memory_experts * touched + c.memory_per_token * tokens +
                      c.memory_per_context * load.context_tokens +
                      c.memory_per_sequence * load.sequences,
                  c.memory_per_context * added};
  parts.dynamic = {c.energy_weights + c.energy_experts * touched + c.energy_per_token * tokens +
                       c.energy_per_attended * attended +
                       c.energy_per_context * load.context_tokens +
                       c.energy_per_sequence * load.sequences,
                   (c.energy_per_attended + c.energy_per_context) * added};
  return parts;
}

/// How many whole steps of `piece`, before whose first step `first` the time `spent` has passed,
/// end by `target`; by then not all of them do.
double steps_within(const Piece& piece, double first, double spent, double target) {
  // n steps take n (start + slope (n - 1) / 2): the larger root, without cancellation.
  const Line& line = piece.time;
  const double half = 0.5 * line.slope;
  const double start = line.at(first) - half;
  const double time = target - spent;
  const double root = std::sqrt(std::max(0.0, start * start + 4.0 * half * time));
  double steps = whole(std::clamp(2.0 * time / (start + root), 0.0, piece.end - first - 1.0));
  // The root may be off by one; what run() says decides.
  const auto ended = [&](double n) { return spent + line.sum(first, first + n) <= target; };
  while (steps > 0.0 && !ended(steps)) steps -= 1.0;
  while (ended(steps + 1.0)) steps += 1.0;
  return steps;
}

}  // namespace

ServingModel::ServingModel(const StepCoefficients& coefficients)
    : c_(coefficients), log_untouched_(same_log1p(-coefficients.expert_share)) {
  NW_ASSERT(c_.expert_share >= 0.0 && c_.expert_share <= 1.0);
  NW_ASSERT(c_.power_cap == 0.0 || c_.power_cap > c_.idle_power + c_.active_power);
}

double ServingModel::experts_touched(double tokens) const {
  return c_.expert_share > 0.0 && tokens > 0.0 ? -same_expm1(tokens * log_untouched_) : 0.0;
}

Cost ServingModel::step(const StepLoad& load) const {
  const Parts parts = parts_of(c_, load, experts_touched(load.prompt_tokens + load.sequences));
  const double time = parts.rest + std::max(parts.compute.at_first, parts.memory.at_first);
  const double dynamic = parts.dynamic.at_first;
  const double base = c_.idle_power + c_.active_power;
  if (c_.power_cap > 0.0) {
    const double left = c_.power_cap - base;
    const double excess = dynamic / left - time;
    if (excess > 0.0) {
      const double slowed = time + c_.cap_slowdown * excess;
      return {Seconds(slowed), Joules(c_.power_cap * slowed)};
    }
  }
  return {Seconds(time), Joules(base * time + dynamic)};
}

Cost ServingModel::run(const StepLoad& first, std::uint64_t steps) const {
  const auto end = static_cast<double>(steps);
  const Parts parts = parts_of(c_, first, experts_touched(first.sequences));
  Cost sum;
  double from = 0.0;
  for (const Piece& piece : pieces_of(c_, parts, end)) {
    sum += {Seconds(piece.time.sum(from, piece.end)), Joules(piece.energy.sum(from, piece.end))};
    from = piece.end;
  }
  return sum;
}

std::uint64_t ServingModel::steps_ended(const StepLoad& first, Seconds time,
                                        std::uint64_t limit) const {
  const double target = time.in_si();
  if (target < 0.0) return 0;
  const auto most = static_cast<double>(limit);
  const Parts parts = parts_of(c_, first, experts_touched(first.sequences));
  double ended = 0.0;
  double spent = 0.0;
  for (const Piece& piece : pieces_of(c_, parts, most)) {
    const double all = spent + piece.time.sum(ended, piece.end);
    if (all > target) {
      ended += steps_within(piece, ended, spent, target);
      break;
    }
    spent = all;
    ended = piece.end;
  }
  return static_cast<std::uint64_t>(ended);
}

}  // namespace negawatt::model
