// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_surface.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.hpp"

namespace negawatt::plan {
namespace {

// The work of a request grows with its tokens: not at all where something else takes the time, with
// their square where attention or an answer without KV cache does.
constexpr double kLeastSlope = 0.0;
constexpr double kMostSlope = 2.0;
// Sizes closer than this say more about noise than about the slope.
constexpr double kLeastRatio = 1.5;

/// The logarithm of a cost at a position, from those at both its ends.
double at_position(double low, double high, const CostSurface::Position& at) {
  if (at.reach != Reach::extrapolated || at.width == 0.0) return low + at.part * (high - low);
  const double slope = std::clamp((high - low) / at.width, kLeastSlope, kMostSlope);
  return at.part < 0.0 ? low + slope * at.width * at.part
                       : high + slope * at.width * (at.part - 1.0);
}

double log_ratio(std::uint32_t low, std::uint32_t high) {
  return std::log(static_cast<double>(high) / low);
}

void sort_and_unite(std::vector<std::uint32_t>& values) {
  std::ranges::sort(values);
  const auto same = std::ranges::unique(values);
  values.erase(same.begin(), same.end());
}

}  // namespace

Result<CostSurface> CostSurface::of(const trace::MeasuredSystem& system) {
  struct Sum {
    Cost cost;
    double runs = 0.0;
  };
  std::map<trace::RequestSize, Sum> sums;
  CostSurface surface;
  for (const auto& run : system.runs) {
    auto& sum = sums[run.size];
    sum.cost += run.cost;
    sum.runs += 1.0;
    surface.inputs_.push_back(run.size.input_tokens);
    surface.outputs_.push_back(run.size.output_tokens);
  }
  sort_and_unite(surface.inputs_);
  sort_and_unite(surface.outputs_);
  surface.nodes_.resize(surface.inputs_.size() * surface.outputs_.size());
  for (const auto& [size, sum] : sums) {
    const auto row = locate(surface.inputs_, size.input_tokens).low;
    const auto column = locate(surface.outputs_, size.output_tokens).low;
    const auto mean = (1.0 / sum.runs) * sum.cost;
    surface.nodes_[row * surface.outputs_.size() + column] = {
        .log_energy = std::log(mean.energy.in_si()),
        .log_time = std::log(mean.time.in_si()),
        .reach = Reach::measured,
        .cost = mean};
    surface.measured_.push_back(size);
  }
  for (std::size_t input = 0; input < surface.inputs_.size(); ++input)
    NW_CHECK(surface.fill_row(input, system));
  return surface;
}

Status CostSurface::fill_row(std::size_t input, const trace::MeasuredSystem& system) {
  const auto row = nodes_.begin() + static_cast<std::ptrdiff_t>(input * outputs_.size());
  std::vector<std::uint32_t> known;
  std::vector<std::size_t> column_of;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (row[static_cast<std::ptrdiff_t>(k)].reach != Reach::measured) continue;
    known.push_back(outputs_[k]);
    column_of.push_back(k);
  }
  if (known.size() == outputs_.size()) return {};
  if (known.size() < 2)
    return failure(Code::invalid,
                   fmt::format("system '{}' was measured at one output length with {} input "
                               "tokens, expected at least two, or the same one everywhere",
                               printable(system.name), inputs_[input]));
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    auto& missing = row[static_cast<std::ptrdiff_t>(k)];
    if (missing.reach == Reach::measured) continue;
    const auto at = locate(known, outputs_[k]);
    const auto& low = node(input, column_of[at.low]);
    const auto& high = node(input, column_of[at.high]);
    missing = {.log_energy = at_position(low.log_energy, high.log_energy, at),
               .log_time = at_position(low.log_time, high.log_time, at),
               .reach = at.reach,
               .cost = {}};
  }
  return {};
}

CostSurface::Position CostSurface::locate(const std::vector<std::uint32_t>& axis,
                                          std::uint32_t value) {
  const auto above = std::ranges::upper_bound(axis, value);
  const auto found =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - axis.begin() - 1, 0));
  if (axis[found] == value) return {.low = found, .high = found};
  if (axis.size() == 1) return {.reach = Reach::extrapolated};
  const bool is_below = value < axis.front();
  const bool is_above = value > axis.back();
  auto low = std::min(found, axis.size() - 2);
  auto high = low + 1;
  while (is_below && high + 1 < axis.size() && axis[high] < kLeastRatio * axis[low]) ++high;
  while (is_above && low > 0 && axis[high] < kLeastRatio * axis[low]) --low;
  const double width = log_ratio(axis[low], axis[high]);
  return {.low = low,
          .high = high,
          .part = log_ratio(axis[low], value) / width,
          .width = width,
          .reach = is_below || is_above ? Reach::extrapolated : Reach::interpolated};
}

Estimate CostSurface::at(const Position& in, const Position& out) const {
  const auto& low_low = node(in.low, out.low);
  const auto& low_high = node(in.low, out.high);
  const auto& high_low = node(in.high, out.low);
  const auto& high_high = node(in.high, out.high);
  const auto reach = std::max(
      {in.reach, out.reach, low_low.reach, low_high.reach, high_low.reach, high_high.reach});
  if (reach == Reach::measured) return {low_low.cost, reach};
  const auto bilinear = [&](double Node::* log) {
    return std::exp(at_position(at_position(low_low.*log, low_high.*log, out),
                                at_position(high_low.*log, high_high.*log, out), in));
  };
  return {
      {.time = Seconds(bilinear(&Node::log_time)), .energy = Joules(bilinear(&Node::log_energy))},
      reach};
}

}  // namespace negawatt::plan
