// SPDX-License-Identifier: Apache-2.0
#include "govern/leased_clocks.hpp"

#include <fmt/core.h>

#include <utility>

namespace negawatt::govern {
namespace {

// The driver answers within milliseconds; a hanging one must not hold us up for ever.
constexpr Seconds kPatience(2.0);

lease::Clock on_the_wire(trace::Clock clock) {
  return clock.is_automatic() ? lease::Clock() : lease::Clock::locked_mhz(clock.mhz());
}

}  // namespace

Result<LeasedClocks> LeasedClocks::acquire(const gpu::GpuId& gpu, const std::string& program,
                                           bool needs_memory) {
  NW_TRY(auto client, lease::Client::connect({.program = program}));
  if (client.observe_only())
    return failure(Code::unavailable,
                   "negawattd runs with --observe-only: it does not change clocks");
  NW_TRY(auto held, client.acquire(gpu.text(), {.memory = needs_memory}));
  return LeasedClocks(std::move(client), std::move(held));
}

Status LeasedClocks::ask(trace::ClockPair clocks) {
  NW_CHECK(lease_.request({on_the_wire(clocks.core), on_the_wire(clocks.memory)}));
  NW_TRY(const auto applied, lease_.wait_applied(kPatience));
  if (applied.outcome == lease::Outcome::applied || applied.outcome == lease::Outcome::unchanged)
    return {};
  const bool can_never = applied.outcome == lease::Outcome::outside_limits ||
                         applied.outcome == lease::Outcome::unsupported;
  return failure(can_never ? Code::infeasible : Code::internal,
                 fmt::format("{} cannot be set: {}", to_string(clocks), name_of(applied.outcome)));
}

std::string LeasedClocks::end_reason() const { return std::string(name_of(lease_.end_reason())); }

}  // namespace negawatt::govern
