// SPDX-License-Identifier: Apache-2.0
#include "gpu/settings.hpp"

#include <fmt/core.h>

#include <variant>

#include "gpu/units.hpp"

namespace negawatt::gpu {
namespace {

std::string to_string(const std::optional<ClockRange>& range) {
  if (!range) return "none";
  if (range->least() == range->most()) return to_string(range->most());
  return fmt::format("{} to {} MHz", range->least().count, range->most().count);
}

}  // namespace

std::string to_string(Megahertz clock) { return fmt::format("{} MHz", clock.count); }
std::string to_string(Milliwatts power) {
  return fmt::format("{:.6g} W", to_si(power).in_si());  // at most to the mW, without noise digits
}

std::string_view name_of(Knob knob) {
  switch (knob) {
    case Knob::core_lock:
      return "core lock";
    case Knob::memory_lock:
      return "memory lock";
    case Knob::power_limit:
      return "power limit";
  }
  return "";
}

std::string to_string(const Setting& setting) {
  struct State {
    std::string operator()(const CoreLock& lock) const { return to_string(lock.range); }
    std::string operator()(const MemoryLock& lock) const { return to_string(lock.range); }
    std::string operator()(const PowerLimit& power) const { return to_string(power.limit); }
  };
  return fmt::format("{} {}", name_of(knob_of(setting)), std::visit(State{}, setting));
}

std::optional<Setting> setting_in(const Request& request, Knob knob) {
  const auto as_setting = [](const auto& named) {
    return named ? std::optional<Setting>(*named) : std::nullopt;
  };
  switch (knob) {
    case Knob::core_lock:
      return as_setting(request.core);
    case Knob::memory_lock:
      return as_setting(request.memory);
    case Knob::power_limit:
      return as_setting(request.power);
  }
  return std::nullopt;
}

std::vector<Setting> settings_of(const Request& request) {
  std::vector<Setting> settings;
  for (const Knob knob : kKnobs) {
    if (const auto setting = setting_in(request, knob)) settings.push_back(*setting);
  }
  return settings;
}

void put(const Setting& setting, Request& request) {
  struct Put {
    Request& request;
    void operator()(const CoreLock& lock) const { request.core = lock; }
    void operator()(const MemoryLock& lock) const { request.memory = lock; }
    void operator()(const PowerLimit& power) const { request.power = power; }
  };
  std::visit(Put{request}, setting);
}

void drop(Knob knob, Request& request) {
  switch (knob) {
    case Knob::core_lock:
      request.core.reset();
      break;
    case Knob::memory_lock:
      request.memory.reset();
      break;
    case Knob::power_limit:
      request.power.reset();
      break;
  }
}

}  // namespace negawatt::gpu
