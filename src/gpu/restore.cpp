// SPDX-License-Identifier: Apache-2.0
// Putting settings back: by a guard at its end, and by whoever replays the journal after a crash.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "gpu/clock_guard.hpp"

namespace negawatt::gpu {
namespace {

constexpr int kRounds = 4;
constexpr Seconds kFirstPause{0.005};           // then four times as long each round: 0.1 s in all
constexpr std::uint32_t kPowerRounding = 1000;  // mW; drivers round limits

/// Success of a call is not enough where the state can be read back.
Done apply_and_read_back(const Device& device, const Setting& setting) {
  NW_CHECK(device.apply(setting));
  const auto* const power = std::get_if<PowerLimit>(&setting);
  if (power == nullptr) return {};
  const auto limits = device.power_limits();
  if (!limits || !limits->requested) return {};
  const Milliwatts now = *limits->requested;
  if (std::max(now, power->limit).count - std::min(now, power->limit).count <= kPowerRounding) {
    return {};
  }
  return tl::unexpected(
      DriverError{Obstacle::failed, "nvmlDeviceSetPowerManagementLimit", 0,
                  fmt::format("nvmlDeviceSetPowerManagementLimit on {}: accepted {}, but it is {}",
                              device.id().text(), to_string(power->limit), to_string(now))});
}

std::vector<RestoreFailure> one_round(const Device& device, const std::vector<Setting>& settings) {
  std::vector<RestoreFailure> failures;
  for (const Setting& setting : settings) {
    if (auto done = apply_and_read_back(device, setting); !done) {
      failures.push_back({device.id(), setting, std::move(done).error()});
    }
  }
  return failures;
}

}  // namespace

std::vector<RestoreFailure> restore_settings(const Device& device,
                                             const std::vector<Setting>& previous) {
  std::vector<Setting> left = previous;
  std::vector<RestoreFailure> failures;
  Seconds pause = kFirstPause;
  for (int round = 0; round < kRounds && !left.empty(); ++round) {
    if (round > 0) {
      device.clock().sleep_for(pause);
      pause *= 4;
    }
    // Some drivers take two knobs in one order only, so every round goes the other way.
    failures = one_round(device, left);
    left.clear();
    for (const RestoreFailure& failure : failures) left.push_back(failure.previous);
    std::ranges::reverse(left);
  }
  return failures;
}

std::vector<RestoreFailure> replay(Journal& journal, const std::vector<Device>& devices) {
  std::vector<RestoreFailure> failures;
  std::vector<Backup> backups = journal.outstanding();
  while (!backups.empty()) {
    const GpuId gpu = backups.front().gpu;
    std::vector<Setting> previous;
    std::erase_if(backups, [&](const Backup& backup) {
      if (backup.gpu != gpu) return false;
      previous.push_back(backup.previous);
      return true;
    });
    const auto device = std::ranges::find(devices, gpu, &Device::id);
    if (device == devices.end()) {
      const DriverError gone{
          Obstacle::lost, "replay", 0,
          fmt::format("{} does not answer: its settings stay in the journal", gpu.text())};
      for (const Setting& setting : previous) failures.push_back({gpu, setting, gone});
      continue;
    }
    const auto failed = restore_settings(*device, previous);
    for (const Setting& setting : previous) {
      if (std::ranges::find(failed, setting, &RestoreFailure::previous) != failed.end()) continue;
      if (auto noted = journal.restored(gpu, knob_of(setting)); !noted) {
        failures.push_back({gpu,
                            setting,
                            {Obstacle::failed, "journal", 0,
                             "restored, but not noted: " + noted.error().message}});
      }
    }
    failures.insert(failures.end(), failed.begin(), failed.end());
  }
  return failures;
}

}  // namespace negawatt::gpu
