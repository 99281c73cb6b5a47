// SPDX-License-Identifier: Apache-2.0
#include "govern/counter_watch.hpp"

#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "gpu/refresh.hpp"

namespace negawatt::govern {
namespace {

// After the refresh was due, this share of a period passes between two looks.
constexpr double kRetry = 0.1;
constexpr int kMostFailures = 50;
// Nobody takes them: an hour at ten a second.
constexpr std::size_t kMostReadings = 36'000;

}  // namespace

CounterWatch::CounterWatch(gpu::Device device)
    : device_(std::move(device)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

std::vector<CounterReading> CounterWatch::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(readings_, {});
}

void CounterWatch::note(const gpu::EnergyReading& reading) {
  const std::scoped_lock lock(mutex_);
  if (readings_.size() < kMostReadings)
    readings_.push_back(
        {static_cast<std::uint64_t>(reading.at.nanoseconds()), gpu::to_si(reading.counter)});
}

void CounterWatch::run(const std::stop_token& stop) {
  const auto clock = device_.clock();
  const auto participation = clock.participate();
  const auto refresh = gpu::measure_refresh(device_, gpu::Sensor::energy);
  if (!refresh) {
    works_ = false;
    return;
  }
  std::optional<gpu::Millijoules> last;
  int failures = 0;
  while (!stop.stop_requested() && failures < kMostFailures) {
    const auto reading = device_.energy();
    failures = reading ? 0 : failures + 1;
    const bool moved = reading && last && reading->counter != *last;
    if (moved) note(*reading);
    if (reading) last = reading->counter;
    // Just behind the next refresh, so that the next reading is the first of its value.
    clock.sleep_for(moved ? refresh->period * (1.0 - kRetry) : refresh->period * kRetry);
  }
  if (failures > 0) works_ = false;
}

}  // namespace negawatt::govern
