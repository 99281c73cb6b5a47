// SPDX-License-Identifier: Apache-2.0
#include "structure/phases.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace negawatt::structure {
namespace {

/// What happened on a host thread, in the order in which it counts at the same moment.
enum class Kind : std::uint8_t { push, call, pop };
struct Moment {
  std::uint32_t thread;
  trace::Instant at;
  Kind kind;
  std::size_t index;  // among its kind
};

std::vector<Moment> in_order(std::span<const trace::HostCall> calls,
                             std::span<const trace::RangePush> pushes,
                             std::span<const trace::RangePop> pops) {
  std::vector<Moment> moments;
  moments.reserve(calls.size() + pushes.size() + pops.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    moments.push_back({calls[i].thread, calls[i].start, Kind::call, i});
  }
  for (std::size_t i = 0; i < pushes.size(); ++i) {
    moments.push_back({pushes[i].thread, pushes[i].at, Kind::push, i});
  }
  for (std::size_t i = 0; i < pops.size(); ++i) {
    moments.push_back({pops[i].thread, pops[i].at, Kind::pop, i});
  }
  std::ranges::sort(moments, [](const Moment& a, const Moment& b) {
    return std::tie(a.thread, a.at, a.kind, a.index) < std::tie(b.thread, b.at, b.kind, b.index);
  });
  return moments;
}

/// The ranges that are open on a thread; domains nest by themselves.
struct Open {
  std::uint32_t domain, phase;
};

}  // namespace

Phases find_phases(std::span<const trace::HostCall> calls, std::span<const trace::RangePush> pushes,
                   std::span<const trace::RangePop> pops) {
  Phases phases{{Phase{}}, std::vector<std::uint32_t>(calls.size(), 0), {}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;  // by parent and name
  std::vector<Open> open;
  std::uint32_t thread = 0;
  for (const Moment& moment : in_order(calls, pushes, pops)) {
    if (moment.thread != std::exchange(thread, moment.thread)) open.clear();
    const std::uint32_t inner = open.empty() ? 0 : open.back().phase;
    if (moment.kind == Kind::push) {
      const trace::RangePush& push = pushes[moment.index];
      const auto [phase, is_new] =
          known.try_emplace({inner, push.name}, static_cast<std::uint32_t>(phases.all.size()));
      if (is_new) phases.all.push_back({inner, push.name});
      open.push_back({push.domain, phase->second});
    } else if (moment.kind == Kind::call) {
      phases.of_call[moment.index] = inner;
      phases.of_correlation[calls[moment.index].correlation] = inner;
    } else {
      const auto last =
          std::ranges::find(open.rbegin(), open.rend(), pops[moment.index].domain, &Open::domain);
      if (last != open.rend()) open.erase(std::prev(last.base()));
    }
  }
  return phases;
}

std::vector<PhaseSpan> phase_spans(const Phases& phases, std::span<const trace::KernelRun> runs) {
  std::vector<PhaseSpan> spans;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto found = phases.of_correlation.find(runs[i].correlation);
    const std::uint32_t phase = found == phases.of_correlation.end() ? 0 : found->second;
    if (spans.empty() || spans.back().phase != phase) spans.push_back({phase, i, i});
    spans.back().last = i + 1;
  }
  return spans;
}

}  // namespace negawatt::structure
