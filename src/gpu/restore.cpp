// SPDX-License-Identifier: Apache-2.0
// Putting settings back: by a guard at its end, and by whoever replays the journal after a crash.
#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "gpu/clock_guard.hpp"

namespace negawatt::gpu {
namespace {

constexpr int kRounds = 4;
constexpr Seconds kFirstPause{0.005};  // then four times as long each round: 0.1 s in all

/// Success of a call is not enough where the state can be read back.
Done apply_and_read_back(const Device& device, const Setting& setting) {
  NW_CHECK(device.apply(setting));
  const auto* const power = std::get_if<PowerLimit>(&setting);
  if (power == nullptr) return {};
  const auto limits = device.power_limits();
  if (!limits) return {};
  const auto& requested = limits->requested;
  if (!requested) return {};
  const Milliwatts now = *requested;
  if (same_limit(now, power->limit)) return {};
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

Answer<bool> lowered_by_another(const Device& device, const Backup& backup, Since since) {
  const auto* const previous = std::get_if<PowerLimit>(&backup.previous);
  if (previous == nullptr) return false;
  if (since == Since::our_change && backup.asked.empty()) return false;
  NW_TRY(const PowerLimits limits, device.power_limits());
  if (!limits.requested) return false;
  const Milliwatts now = *limits.requested;
  if (now >= previous->limit || same_limit(now, previous->limit)) return false;
  // All that we asked for count, not the last alone: a crash between note and call leaves the one
  // before.
  return since == Since::machine_start ||
         std::ranges::none_of(backup.asked, [&](Milliwatts ours) { return same_limit(now, ours); });
}

Restoration restore_backups(const Device& device, Journal& journal,
                            const std::vector<Backup>& backups, Since since) {
  Restoration result;
  std::vector<Setting> wanted;
  for (const Backup& backup : backups) {
    const auto lowered = lowered_by_another(device, backup, since);
    if (!lowered)
      result.failures.push_back({device.id(), backup.previous, lowered.error()});
    else
      (*lowered ? result.left : wanted).push_back(backup.previous);
  }
  const auto failed = restore_settings(device, wanted);
  for (const Setting& setting : wanted)
    if (std::ranges::find(failed, setting, &RestoreFailure::previous) == failed.end())
      result.back.push_back(setting);
  result.failures.insert(result.failures.end(), failed.begin(), failed.end());
  for (auto* const done : {&result.back, &result.left})
    std::erase_if(*done, [&](const Setting& setting) {
      const auto noted = journal.restored(device.id(), knob_of(setting));
      if (!noted)
        result.failures.push_back(
            {device.id(),
             setting,
             {Obstacle::failed, "journal", 0, "done, but not noted: " + noted.error().message}});
      return !noted;
    });
  return result;
}

std::vector<Backup> outstanding_of(const Journal& journal, const GpuId& gpu) {
  auto backups = journal.outstanding();
  std::erase_if(backups, [&](const Backup& backup) { return backup.gpu != gpu; });
  return backups;
}

}  // namespace negawatt::gpu
