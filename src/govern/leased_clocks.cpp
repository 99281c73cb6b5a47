// SPDX-License-Identifier: Apache-2.0
#include "govern/leased_clocks.hpp"

#include <fmt/core.h>

#include <stop_token>
#include <utility>

namespace negawatt::govern {
namespace {

// The driver answers within milliseconds; a hanging one must not hold us up for ever.
constexpr Seconds kPatience(2.0);
// How long somebody who shall stop may have to wait for us.
constexpr Seconds kSlice(0.05);

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

bool LeasedClocks::is_ready(Seconds patience, const std::stop_token& stop) const {
  using lease::LeaseState;
  for (Seconds waited; waited < patience && !stop.stop_requested(); waited += kSlice)
    if (lease_.state() != LeaseState::pending || lease_.wait_active(kSlice)) break;
  return lease_.state() == LeaseState::active;
}

Status LeasedClocks::ask(trace::ClockPair clocks, const std::stop_token& stop) {
  NW_CHECK(lease_.request({on_the_wire(clocks.core), on_the_wire(clocks.memory)}));
  auto applied = lease_.wait_applied(kSlice);
  for (Seconds waited = kSlice; !applied && waited < kPatience; waited += kSlice) {
    if (stop.stop_requested() || lease_.state() == lease::LeaseState::ended) break;
    applied = lease_.wait_applied(kSlice);
  }
  if (!applied) return tl::unexpected(std::move(applied).error());
  if (applied->outcome == lease::Outcome::applied || applied->outcome == lease::Outcome::unchanged)
    return {};
  const bool can_never = applied->outcome == lease::Outcome::outside_limits ||
                         applied->outcome == lease::Outcome::unsupported;
  return failure(can_never ? Code::infeasible : Code::internal,
                 fmt::format("{} cannot be set: {}", to_string(clocks), name_of(applied->outcome)));
}

std::optional<std::string> LeasedClocks::end_reason() const {
  if (lease_.state() != lease::LeaseState::ended) return std::nullopt;
  const auto reason = lease_.end_reason();
  if (reason == lease::EndReason::none) return "negawattd is gone";
  return std::string(name_of(reason));
}

}  // namespace negawatt::govern
