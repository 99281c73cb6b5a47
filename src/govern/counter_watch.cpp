// SPDX-License-Identifier: Apache-2.0
#include "govern/counter_watch.hpp"

#include <memory>
#include <mutex>
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

struct CounterWatch::Shared {
  explicit Shared(gpu::Device of) : device(std::move(of)) {}

  void note(const gpu::EnergyReading& reading) {
    const std::scoped_lock lock(mutex);
    if (readings.size() < kMostReadings)
      readings.push_back(
          {static_cast<std::uint64_t>(reading.at.nanoseconds()), gpu::to_si(reading.counter)});
  }

  gpu::Device device;
  std::mutex mutex;
  std::vector<CounterReading> readings;  ///< guarded by mutex
};

CounterWatch::CounterWatch(gpu::Device device)
    : shared_(std::make_shared<Shared>(std::move(device))) {
  if (auto thread =
          Apart::start([shared = shared_](const std::stop_token& stop) { run(*shared, stop); }))
    thread_.emplace(std::move(*thread));
}

std::vector<CounterReading> CounterWatch::take() {
  const std::scoped_lock lock(shared_->mutex);
  return std::exchange(shared_->readings, {});
}

void CounterWatch::run(Shared& shared, const std::stop_token& stop) {
  const auto& device = shared.device;
  const auto clock = device.clock();
  const auto participation = clock.participate();
  const auto refresh =
      gpu::measure_refresh(device, gpu::Sensor::energy, gpu::kRefreshPatience, stop);
  if (!refresh) return;
  std::optional<gpu::Millijoules> last;
  int failures = 0;
  while (!stop.stop_requested() && failures < kMostFailures) {
    const auto reading = device.energy();
    failures = reading ? 0 : failures + 1;
    const bool moved = reading && last && reading->counter != *last;
    if (moved) shared.note(*reading);
    if (reading) last = reading->counter;
    // Just behind the next refresh, so that the next reading is the first of its value.
    clock.sleep_for(moved ? refresh->period * (1.0 - kRetry) : refresh->period * kRetry);
  }
}

}  // namespace negawatt::govern
