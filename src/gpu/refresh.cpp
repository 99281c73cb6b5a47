// SPDX-License-Identifier: Apache-2.0
#include "gpu/refresh.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace negawatt::gpu {
namespace {

constexpr Seconds kDenseStep{0.001};    // between readings of the first look
constexpr std::size_t kDenseEdges = 4;  // that the first estimate rests on
constexpr std::size_t kFollowed = 20;   // refreshes of the lasting estimate
constexpr Seconds kAim{0.0002};         // how well a thread wakes when it wants to
constexpr double kTolerance = 0.15;     // of a period, by which a gap may be off
constexpr double kWidest = 0.4;         // of a period: half the stretch that is read around

std::string_view name_of(Sensor sensor) {
  switch (sensor) {
    case Sensor::energy:
      return "energy counter";
    case Sensor::power_instant:
      return "instant power";
    case Sensor::power_average:
      return "average power";
  }
  return "";
}

Answer<std::uint64_t> value_of(const Device& device, Sensor sensor) {
  const auto milliwatts = [](const Answer<Milliwatts>& power) -> Answer<std::uint64_t> {
    NW_TRY(const Milliwatts value, Answer<Milliwatts>(power));
    return value.count;
  };
  switch (sensor) {
    case Sensor::energy: {
      NW_TRY(const EnergyReading reading, device.energy());
      return reading.counter.count;
    }
    case Sensor::power_instant:
      return milliwatts(device.power_instant());
    case Sensor::power_average:
      break;
  }
  return milliwatts(device.power_average());
}

/// How many periods a gap is.
double periods_in(Seconds gap, Seconds period) { return std::max(1.0, std::round(gap / period)); }

/// Whether every gap is near a whole number of periods. A tenth of them may be accidents: far too
/// short for one.
bool fits(std::span<const Seconds> gaps, Seconds period) {
  std::size_t accidents = 0;
  for (const Seconds gap : gaps) {
    if (gap < period * 0.25) {
      ++accidents;
    } else if (std::abs(gap / period - periods_in(gap, period)) > kTolerance) {
      return false;
    }
  }
  return accidents * 10 <= gaps.size();
}

/// From a first guess on, each gap sharpens the estimate by which the next longer one is counted.
Seconds sharpened(std::span<const Seconds> ascending, Seconds guess) {
  Seconds sum{0};
  double count = 0;
  Seconds period = guess;
  for (const Seconds gap : ascending) {
    if (gap < guess * 0.5) continue;
    count += periods_in(gap, period);
    sum += gap;
    period = sum / count;
  }
  return period;
}

/// The first look: as often as every millisecond.
Result<std::vector<Edge>> look_densely(const Device& device, Sensor sensor, TimePoint until,
                                       const std::stop_token& stop) {
  NW_TRY(SensorReading last, read_sensor(device, sensor));
  std::vector<Edge> edges;
  while (edges.size() < kDenseEdges && last.ended < until && !stop.stop_requested()) {
    device.clock().sleep_until(last.ended + kDenseStep);
    NW_TRY(const SensorReading next, read_sensor(device, sensor));
    if (next.value != last.value) edges.push_back({last.began, next.ended});
    last = next;
  }
  return edges;
}

tl::unexpected<Error> stopped(const Device& device, Sensor sensor) {
  return failure(Code::internal, fmt::format("asked to stop while measuring how often the {} of {} "
                                             "changes",
                                             name_of(sensor), device.id().text()));
}

}  // namespace

std::optional<Refresh> refresh_of(std::span<const Edge> edges) {
  if (edges.size() < 3) return std::nullopt;
  std::vector<Seconds> gaps;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    gaps.push_back(edges[i].middle() - edges[i - 1].middle());
  }
  std::ranges::sort(gaps);
  if (gaps.back() <= Seconds(0)) return std::nullopt;
  // Every fraction of a period fits as well, so the longest is taken.
  for (std::size_t i = gaps.size(); i-- > 0 && gaps[i] > Seconds(0);) {
    const Seconds period = sharpened(gaps, gaps[i]);
    if (!fits(gaps, period)) continue;
    const Edge& first = edges.front();
    const Edge& last = edges.back();
    const Seconds span = last.middle() - first.middle();
    const double periods = periods_in(span, period);
    return Refresh{.period = span / periods,
                   .period_error = (first.half_width() + last.half_width()) / periods,
                   .first = first,
                   .last = last,
                   .periods = static_cast<std::size_t>(periods),
                   .read_cost = Seconds(0)};
  }
  return std::nullopt;
}

Answer<SensorReading> read_sensor(const Device& device, Sensor sensor) {
  const DeviceClock clock = device.clock();
  const TimePoint began = clock.now();
  NW_TRY(const std::uint64_t value, value_of(device, sensor));
  return SensorReading{value, began, clock.now()};
}

RefreshTracker::RefreshTracker(Device device, Sensor sensor, const Refresh& refresh)
    : device_(std::move(device)), sensor_(sensor), refresh_(refresh) {
  NW_ASSERT(refresh_.period > Seconds(0));
}

Seconds RefreshTracker::narrow() const { return kAim * 4.0 + refresh_.read_cost * 2.5; }

RefreshTracker::Due RefreshTracker::next_due() const {
  const TimePoint now = device_.clock().now();
  const Seconds period = refresh_.period;
  for (double ahead = std::max(1.0, std::floor((now - refresh_.last.before) / period));; ++ahead) {
    // What is not known of the period adds up.
    const Seconds unknown = refresh_.period_error * ahead;
    Edge stretch{refresh_.last.before + (period * ahead - unknown),
                 refresh_.last.after + (period * ahead + unknown)};
    if (stretch.half_width() > period * kWidest) {
      const TimePoint middle = stretch.middle();
      stretch = {middle - period * kWidest, middle + period * kWidest};
    }
    if (stretch.before - refresh_.read_cost >= now) {
      return {stretch, static_cast<std::size_t>(ahead)};
    }
  }
}

void RefreshTracker::advance(const Due& due, const Edge& stretch) {
  refresh_.last = stretch;
  refresh_.periods += due.periods;
}

void RefreshTracker::sharpen_period() {
  const auto periods = static_cast<double>(refresh_.periods);
  refresh_.period = (refresh_.last.middle() - refresh_.first.middle()) / periods;
  refresh_.period_error = (refresh_.last.half_width() + refresh_.first.half_width()) / periods;
}

void RefreshTracker::note_cost(const SensorReading& reading) {
  refresh_.read_cost = std::min(refresh_.period * kWidest,
                                std::max(refresh_.read_cost, reading.ended - reading.began));
}

Answer<RefreshTracker::Seen> RefreshTracker::follow() {
  const DeviceClock clock = device_.clock();
  const Due due = next_due();
  const auto [earliest, latest] = due.stretch;
  const auto settled = due.periods == 1 ? std::exchange(settled_, {}) : std::nullopt;
  const bool halve = settled && latest - earliest > narrow();

  clock.sleep_until(halve ? due.stretch.middle() : earliest - refresh_.read_cost);
  NW_TRY(const SensorReading early, read_sensor(device_, sensor_));
  clock.sleep_until(latest);
  NW_TRY(const SensorReading late, read_sensor(device_, sensor_));
  note_cost(early);
  note_cost(late);

  if (early.value != late.value) {
    Edge seen{std::max(earliest, early.began), std::min(latest, late.ended)};
    if (seen.before >= seen.after) seen = {early.began, late.ended};
    advance(due, seen);
    sharpen_period();
    settled_ = late.value;
    return Seen{late, seen};
  }
  if (settled && early.value != *settled) {  // it came before the first reading
    const Seconds more = halve ? Seconds(0) : due.stretch.half_width() * 2.0;
    advance(due, {earliest - more, std::min(latest, early.ended)});
    settled_ = late.value;
    return Seen{late, std::nullopt};
  }
  // It came later or earlier than it could, or the new value is equal to the old one.
  const Seconds more = due.stretch.half_width() + kAim;
  advance(due, {earliest - more, latest + more});
  return Seen{late, std::nullopt};
}

Answer<RefreshTracker::Seen> RefreshTracker::follow_to_edge(int tries) {
  Seen seen;
  for (int attempt = 0; attempt < tries; ++attempt) {
    NW_TRY(seen, follow());
    if (seen.edge && seen.edge->half_width() <= std::max(narrow(), refresh_.period * 0.02)) break;
  }
  return seen;
}

Result<Refresh> measure_refresh(const Device& device, Sensor sensor, Seconds patience,
                                const std::stop_token& stop) {
  const DeviceClock clock = device.clock();
  const TimePoint began = clock.now();
  NW_TRY(const auto edges, look_densely(device, sensor, began + patience * 0.5, stop));
  if (stop.stop_requested()) return stopped(device, sensor);
  const auto first = refresh_of(edges);
  if (!first) {
    return failure(
        Code::internal,
        fmt::format("the {} of {} changed {} times in {:.1f} s: no refresh period can be told",
                    name_of(sensor), device.id().text(), edges.size(),
                    (clock.now() - began).in_si()));
  }
  RefreshTracker tracker(device, sensor, *first);
  for (std::size_t seen = 0; seen < kFollowed && clock.now() - began < patience; ++seen) {
    NW_CHECK(tracker.follow());
    if (stop.stop_requested()) return stopped(device, sensor);
  }
  return tracker.refresh();
}

}  // namespace negawatt::gpu
