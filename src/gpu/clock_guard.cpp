// SPDX-License-Identifier: Apache-2.0
#include "gpu/clock_guard.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace negawatt::gpu {
namespace {

// Clocks come in steps of at most 15 MHz, and what is reported may lie one beside what is asked.
constexpr std::uint32_t kClockStep = 15;

std::size_t place(Knob knob) { return static_cast<std::size_t>(knob); }

/// Whether a call that failed this way has surely changed nothing.
bool left_nothing(Obstacle obstacle) {
  return obstacle == Obstacle::absent || obstacle == Obstacle::denied ||
         obstacle == Obstacle::refused;
}

}  // namespace

std::string_view name_of(Enforcement enforcement) {
  switch (enforcement) {
    case Enforcement::honoured:
      return "honoured";
    case Enforcement::limited:
      return "limited";
    case Enforcement::idle:
      return "idle";
    case Enforcement::not_honoured:
      return "not honoured";
  }
  return "";
}

ClockGuard::ClockGuard(Device device, Journal& journal, GuardOptions options)
    : device_(std::move(device)), journal_(&journal), options_(std::move(options)) {}

ClockGuard::ClockGuard(ClockGuard&& other) noexcept
    : device_(std::move(other.device_)),
      journal_(other.journal_),
      options_(std::move(other.options_)),
      asked_(std::exchange(other.asked_, {})),
      previous_(std::exchange(other.previous_, {})) {}

ClockGuard::~ClockGuard() {
  // Told to on_failure; there is nobody else to tell.
  if (armed()) (void)restore();
}

bool ClockGuard::armed() const {
  return std::ranges::any_of(previous_, [](const auto& setting) { return setting.has_value(); });
}

bool ClockGuard::armed(Knob knob) const { return previous_[place(knob)].has_value(); }

void ClockGuard::leave_to_journal() {
  previous_ = {};
  asked_ = {};
}

Result<Setting> ClockGuard::previous_of(Knob knob) const {
  switch (knob) {
    case Knob::core_lock:
      return options_.policy_core;
    case Knob::memory_lock:
      return options_.policy_memory;
    case Knob::power_limit:
      break;
  }
  NW_TRY(const PowerLimits limits, device_.power_limits());
  if (!limits.requested) {
    return failure(Code::unavailable,
                   fmt::format("{} does not tell its power limit, so it could not be restored",
                               device_.id().text()));
  }
  return PowerLimit{*limits.requested};
}

Result<bool> ClockGuard::arm(Knob knob) {
  auto& previous = previous_[place(knob)];
  if (previous) return false;
  NW_TRY(const Setting state, previous_of(knob));
  // A backup that is there already came first; it is what the journal restores, and we with it.
  NW_CHECK(journal_->save({device_.id(), state}));
  previous = state;
  for (const Backup& backup : outstanding_of(*journal_, device_.id())) {
    if (knob_of(backup.previous) == knob) previous = backup.previous;
  }
  return true;
}

void ClockGuard::disarm(Knob knob) {
  previous_[place(knob)].reset();
  drop(knob, asked_);
}

Setting ClockGuard::state_of(Knob knob) const {
  const auto asked = setting_in(asked_, knob);
  if (asked) return *asked;
  const auto& previous = previous_[place(knob)];
  NW_ASSERT(previous.has_value());
  return *previous;
}

Result<Request> ClockGuard::apply(const Request& request) {
  NW_TRY(const Request clamped, clamp(request, options_.limits));
  const std::vector<Setting> settings = settings_of(clamped);
  Attempt attempt;
  for (const Setting& setting : settings) {
    const auto armed = arm(knob_of(setting));
    if (!armed) {
      roll_back(attempt);
      return tl::unexpected(armed.error());
    }
    if (*armed) attempt.armed.push_back(knob_of(setting));
  }
  if (clamped.power) {
    if (auto noted = journal_->asked(device_.id(), clamped.power->limit); !noted) {
      roll_back(attempt);
      return tl::unexpected(std::move(noted).error());
    }
  }
  for (const Setting& setting : settings) {
    const Done done = device_.apply(setting);
    if (!done && left_nothing(done.error().obstacle)) {
      roll_back(attempt);
      return tl::unexpected(Error(done.error()));
    }
    attempt.touched.push_back(knob_of(setting));
    if (!done) {
      roll_back(attempt);
      return tl::unexpected(Error(done.error()));
    }
  }
  for (const Setting& setting : settings) put(setting, asked_);
  return clamped;
}

/// The touched knobs go back to what held before, and those armed for nothing are disarmed.
void ClockGuard::roll_back(const Attempt& attempt) {
  std::vector<Setting> before;
  before.reserve(attempt.touched.size());
  for (const Knob knob : attempt.touched) before.push_back(state_of(knob));
  std::ranges::reverse(before);
  const auto failures = restore_settings(device_, before);
  tell(failures);
  for (const Knob knob : attempt.armed) {
    const bool stuck = std::ranges::any_of(
        failures, [&](const RestoreFailure& failure) { return knob_of(failure.previous) == knob; });
    // A note that cannot be written leaves a backup that is right.
    if (!stuck && journal_->restored(device_.id(), knob)) disarm(knob);
  }
}

void ClockGuard::tell(const std::vector<RestoreFailure>& failures) const {
  if (!options_.on_failure) return;
  for (const RestoreFailure& failure : failures) options_.on_failure(failure);
}

Status ClockGuard::restore() {
  auto backups = outstanding_of(*journal_, device_.id());
  std::erase_if(backups, [&](const Backup& backup) { return !armed(knob_of(backup.previous)); });
  const auto restored = restore_backups(device_, *journal_, backups, Since::our_change);
  for (const Setting& setting : restored.back) {
    disarm(knob_of(setting));
    if (options_.on_back) options_.on_back(setting);
  }
  for (const Setting& setting : restored.left) {
    disarm(knob_of(setting));
    if (options_.on_left) options_.on_left(setting);
  }
  tell(restored.failures);
  if (restored.failures.empty()) return {};
  return tl::unexpected(Error(restored.failures.back().error));
}

Enforcement enforcement_of(const std::optional<ClockRange>& asked, Megahertz now,
                           const std::optional<EventReasons>& reasons) {
  if (!asked) return Enforcement::honoured;
  if (now.count > asked->most().count + kClockStep) return Enforcement::not_honoured;
  if (now.count + kClockStep >= asked->least().count) return Enforcement::honoured;
  if (!reasons) return Enforcement::not_honoured;
  if (reasons->idle()) return Enforcement::idle;
  return reasons->power_cap() || reasons->thermal() ? Enforcement::limited
                                                    : Enforcement::not_honoured;
}

Answer<Observation> ClockGuard::observe() const {
  Observation seen{.asked = asked_};
  NW_TRY(seen.clocks, device_.clocks());
  if (const auto reasons = device_.event_reasons()) seen.reasons = *reasons;
  if (asked_.core) seen.core = enforcement_of(asked_.core->range, seen.clocks.core, seen.reasons);
  if (asked_.memory) {
    seen.memory = enforcement_of(asked_.memory->range, seen.clocks.memory, seen.reasons);
  }
  if (!asked_.power) return seen;
  NW_TRY(const PowerLimits limits, device_.power_limits());
  seen.requested_limit = limits.requested;
  if (limits.requested && !same_limit(*limits.requested, asked_.power->limit)) {
    seen.power =
        *limits.requested < asked_.power->limit ? Enforcement::limited : Enforcement::not_honoured;
  }
  return seen;
}

}  // namespace negawatt::gpu
