// SPDX-License-Identifier: Apache-2.0
#include "daemon/lease_session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/log.hpp"

namespace negawatt::daemon {
namespace {

// Clocks follow a request within 150 ms on the slowest card measured; power limits within a second.
constexpr std::chrono::milliseconds kSettling{1000};

SteadyClock::duration to_duration(Seconds time) {
  return std::chrono::duration_cast<SteadyClock::duration>(
      std::chrono::duration<double>(time.in_si()));
}

std::optional<gpu::ClockRange> range_of(lease::Clock clock) {
  if (clock.is_automatic()) return std::nullopt;
  return gpu::ClockRange::exactly({clock.mhz()});
}

lease::Clock clock_of(lease::Clock asked, const std::optional<gpu::ClockRange>& set) {
  return asked.is_automatic() || !set ? lease::Clock()
                                      : lease::Clock::locked_mhz(set->most().count);
}

gpu::GuardOptions guard_options(const LeaseOrder& order, const gpu::Device& device,
                                GpuCounters& counters) {
  const auto& policy = order.policy;
  gpu::AdminLimits admin;
  if (policy.core_min || policy.core_max)
    admin.core =
        gpu::ClockRange::between(policy.core_min.value_or(gpu::Megahertz{0}),
                                 policy.core_max.value_or(gpu::Megahertz{lease::kMaxMegahertz}));
  admin.memory_lock = policy.memory && order.terms.memory;
  admin.power_limit = policy.power;
  if (policy.power_min) admin.least_power = gpu::to_milliwatts(*policy.power_min);
  if (policy.power_max) admin.most_power = gpu::to_milliwatts(*policy.power_max);
  return {.limits = {gpu::read_limits(device), admin},
          .policy_core = policy.unleased_core,
          .policy_memory = policy.unleased_memory,
          .on_failure =
              [&counters](const gpu::RestoreFailure& failure) {
                ++counters.restore_failures;
                log(Level::error, "knob not restored",
                    {{"gpu", failure.gpu.text()},
                     {"previous", gpu::to_string(failure.previous)},
                     {"error", failure.error.message}});
              },
          .on_back = [&counters](const gpu::Setting&) { ++counters.restores; },
          .on_left =
              [&counters, gpu = device.id()](const gpu::Setting& previous) {
                ++counters.left;
                log(Level::warn, "left, as somebody else has lowered it meanwhile",
                    {{"gpu", gpu.text()}, {"previous", gpu::to_string(previous)}});
              }};
}

std::int64_t now_ns() {
  // libstdc++'s steady_clock is CLOCK_MONOTONIC, as the mailbox promises.
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch())
      .count();
}

}  // namespace

LeaseSession::LeaseSession(LeaseOrder order, Surroundings around)
    : order_(std::move(order)),
      device_(around.device),
      journal_(around.journal),
      counters_(around.counters),
      last_on_gpu_(SteadyClock::now()) {}

bool LeaseSession::check_on_gpu(const ProcessTree& tree) {
  const auto processes = device_->compute_processes();
  if (!processes) ++counters_->driver_errors;
  gpu_is_lost_ = !processes && processes.error().obstacle == gpu::Obstacle::lost;
  on_gpu_ = processes && std::ranges::any_of(*processes, [&](const gpu::ComputeProcess& process) {
              return tree.descends(process.pid, order_.client);
            });
  const auto now = SteadyClock::now();
  if (on_gpu_) last_on_gpu_ = now;
  return now - last_on_gpu_ <= to_duration(order_.policy.grace);
}

Status LeaseSession::activate() {
  guard_.emplace(*device_, *journal_, guard_options(order_, *device_, *counters_));
  if (order_.terms.power_limit) {
    const gpu::Request wanted{.power =
                                  gpu::PowerLimit{gpu::to_milliwatts(*order_.terms.power_limit)}};
    if (auto set = guard_->apply(wanted); !set) {
      ++counters_->driver_errors;
      return tl::unexpected(std::move(set).error());
    }
  }
  counters_->leases_active = 1;
  last_change_ = SteadyClock::now();
  return {};
}

void LeaseSession::say_active() {
  order_.mailbox.publish(lease::LeaseState::active, lease::EndReason::none);
}

void LeaseSession::rest() {
  next_change_ =
      std::max(next_change_, SteadyClock::now() + to_duration(order_.policy.min_change_interval));
}

bool LeaseSession::serve() {
  const auto request = order_.mailbox.take();
  if (!request) return true;
  ++counters_->requests;
  const auto outcome = set(request->clocks);
  order_.mailbox.publish(
      {.sequence = request->sequence, .clocks = set_, .outcome = outcome, .time_ns = now_ns()});
  return outcome != lease::Outcome::failed || !is_lost();
}

lease::Outcome LeaseSession::set(lease::ClockPair clocks) {
  if (!within_terms(clocks)) {
    ++counters_->outside_limits;
    return lease::Outcome::outside_limits;
  }
  NW_ASSERT(guard_.has_value());
  const auto wanted = wanted_for(clocks);
  if (gpu::settings_of(wanted).empty()) return lease::Outcome::unchanged;

  last_change_ = SteadyClock::now();
  next_change_ = last_change_ + to_duration(order_.policy.min_change_interval);
  const auto applied = guard_->apply(wanted);
  if (!applied) {
    ++counters_->driver_errors;
    not_honoured_ = true;  // what holds now is uncertain where a knob would not go back
    log(Level::warn, "clock change failed",
        {{"gpu", device_->id().text()}, {"lease", order_.id}, {"error", applied.error().message}});
    const bool cannot = applied.error().code != Code::internal && !is_lost();
    return cannot ? lease::Outcome::unsupported : lease::Outcome::failed;
  }
  asked_ = clocks;
  const gpu::Request& rounded = *applied;
  if (rounded.core) set_.core = clock_of(clocks.core, rounded.core->range);
  if (rounded.memory) set_.memory = clock_of(clocks.memory, rounded.memory->range);
  ++counters_->changes;
  observed_astray_ = 0;
  counters_->asked_core_mhz = set_.core.mhz();
  counters_->asked_memory_mhz = set_.memory.mhz();
  return lease::Outcome::applied;
}

/// A knob that stands as asked is left alone, unless the GPU was seen not to follow it; a knob that
/// this lease does not hold is never touched for that.
gpu::Request LeaseSession::wanted_for(lease::ClockPair clocks) {
  const bool again = std::exchange(not_honoured_, false);
  const auto stands = [&](lease::Clock wanted, lease::Clock asked, gpu::Knob knob) {
    return wanted == asked && !(again && guard_->armed(knob));
  };
  gpu::Request wanted;
  if (!stands(clocks.core, asked_.core, gpu::Knob::core_lock))
    wanted.core = gpu::CoreLock{range_of(clocks.core)};
  if (!stands(clocks.memory, asked_.memory, gpu::Knob::memory_lock))
    wanted.memory = gpu::MemoryLock{range_of(clocks.memory)};
  if (again) wanted.power = power_that_went_up();
  return wanted;
}

/// The limit of this lease, when a higher one holds. A lower one is an administrator's and stays.
std::optional<gpu::PowerLimit> LeaseSession::power_that_went_up() const {
  NW_ASSERT(guard_.has_value());
  const auto& held = guard_->asked().power;
  const auto limits = device_->power_limits();
  if (!held || !limits) return std::nullopt;
  const auto& now = limits->requested;
  const bool higher = now && *now > held->limit && !gpu::same_limit(*now, held->limit);
  return higher ? held : std::nullopt;
}

bool LeaseSession::within_terms(lease::ClockPair clocks) const {
  const auto& terms = order_.terms;
  if (!clocks.memory.is_automatic() && !terms.memory) return false;
  return clocks.core.is_automatic() ||
         (clocks.core.mhz() >= terms.core_min_mhz && clocks.core.mhz() <= terms.core_max_mhz);
}

bool LeaseSession::is_lost() {
  const auto clocks = device_->clocks();
  return !clocks && clocks.error().obstacle == gpu::Obstacle::lost;
}

bool LeaseSession::observe() {
  NW_ASSERT(guard_.has_value());
  const auto seen = guard_->observe();
  if (!seen) {
    ++counters_->driver_errors;
    return seen.error().obstacle != gpu::Obstacle::lost;
  }
  if (SteadyClock::now() - last_change_ >= kSettling) note_enforcement(*seen);
  return true;
}

void LeaseSession::note_enforcement(const gpu::Observation& seen) {
  const auto astray = [](gpu::Enforcement knob) { return knob == gpu::Enforcement::not_honoured; };
  const bool any = astray(seen.core) || astray(seen.memory) || astray(seen.power);
  observed_astray_ = any ? observed_astray_ + 1 : 0;
  // Once may be a reading between two clocks.
  if (observed_astray_ == 2) {
    not_honoured_ = true;
    ++counters_->not_honoured;
    const auto watts = [](const std::optional<gpu::Milliwatts>& limit) {
      return limit ? fmt::format("{:g}", to_si(*limit).in_si()) : "none";
    };
    const auto& power = seen.asked.power;
    log(Level::warn, "lock not honoured",
        {{"gpu", device_->id().text()},
         {"lease", order_.id},
         {"asked_core_mhz", set_.core.mhz()},
         {"core_mhz", seen.clocks.core.count},
         {"asked_memory_mhz", set_.memory.mhz()},
         {"memory_mhz", seen.clocks.memory.count},
         {"asked_limit_w", watts(power ? std::optional(power->limit) : std::nullopt)},
         {"limit_w", watts(seen.requested_limit)},
         {"reasons", seen.reasons ? gpu::to_string(*seen.reasons) : "unknown"}});
  }
}

Status LeaseSession::end(lease::EndReason reason) {
  Status restored;
  if (guard_) {
    counters_->leases_active = 0;
    restored = guard_->restore();
    // The worker tries again, from the journal.
    if (!restored) guard_->leave_to_journal();
    guard_.reset();
    counters_->asked_core_mhz = 0;
    counters_->asked_memory_mhz = 0;
  }
  order_.mailbox.publish(lease::LeaseState::ended, reason);
  return restored;
}

}  // namespace negawatt::daemon
