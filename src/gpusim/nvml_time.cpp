// SPDX-License-Identifier: Apache-2.0
//
// The simulated library: its clock, which a real driver lacks (nvml/simulated_time.hpp).
#include <algorithm>
#include <cstdint>

#include "gpusim/nvml_library.hpp"
#include "gpusim/nvml_session.hpp"

namespace negawatt::gpusim {
namespace {

/// `action` is nvmlReturn_t(WorldClock&, Seat&).
template <class Action>
nvmlReturn_t at_clock(Action action) noexcept try {
  const auto world = session();
  return world == nullptr ? NVML_ERROR_UNINITIALIZED : action(world->clock(), seat_at(world));
} catch (...) {
  return NVML_ERROR_UNKNOWN;
}

}  // namespace
}  // namespace negawatt::gpusim

using namespace negawatt::gpusim;  // NOLINT(google-build-using-namespace): the C names call it all

nvmlReturn_t negawattSimNow(std::uint64_t* nanoseconds) noexcept {
  if (nanoseconds == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return at_clock([&](WorldClock& clock, Seat&) {
    *nanoseconds = static_cast<std::uint64_t>(clock.now_ns());
    return NVML_SUCCESS;
  });
}

nvmlReturn_t negawattSimJoin() noexcept {
  return at_clock([](WorldClock& clock, Seat& seat) {
    return clock.join(seat) ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_RESOURCES;
  });
}

nvmlReturn_t negawattSimLeave() noexcept {
  return at_clock([](WorldClock& clock, Seat& seat) {
    clock.leave(seat);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t negawattSimSleepUntil(std::uint64_t nanoseconds) noexcept {
  return at_clock([&](WorldClock& clock, Seat& seat) {
    const auto latest = static_cast<std::uint64_t>(kNever);
    clock.sleep_until(seat, static_cast<std::int64_t>(std::min(nanoseconds, latest)));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t negawattSimNotify() noexcept {
  return at_clock([](WorldClock& clock, Seat& seat) {
    clock.notify(seat);
    return NVML_SUCCESS;
  });
}
