// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "gpusim/conditions.hpp"
#include "gpusim/physics.hpp"
#include "gpusim/work_queue.hpp"

namespace negawatt::gpusim {
namespace {

Context* find_context(GpuState& state, std::uint32_t id) {
  if (id == 0) return nullptr;
  const auto found = std::ranges::find(state.contexts, id, &Context::id);
  return found == state.contexts.end() ? nullptr : &*found;
}

/// The running item's end as a completion, with the whole calls it has done.
Completion completion_of_head(const GpuState& state) {
  const auto& item = state.queue[state.queue.begin];
  const auto& running = state.running;
  return {.ticket = item.ticket,
          .calls = running.calls_done,
          .begin_ns = running.begin_ns,
          .end_ns = running.last_call_end_ns,
          .energy = running.energy,
          .context = item.context,
          .surface = item.surface};
}

void keep_awake(const GpuModel& model, GpuState& state) {
  if (state.queue.size() == 0) state.settled_ns = state.anchor.at_ns + model.power.settle_ns;
}

/// Takes a context's items off the queue, the rest keeps its order.
void remove_work(const GpuModel& model, GpuState& state, std::uint32_t context) {
  auto& queue = state.queue;
  if (queue.size() == 0) return;
  if (queue[queue.begin].context == context) state.running = {};
  auto kept = queue.begin;
  for (auto n = queue.begin; n < queue.end; ++n)
    if (queue[n].context != context) queue[kept++] = queue[n];
  if (kept == queue.end) return;
  queue.end = kept;
  keep_awake(model, state);
}

}  // namespace

void complete_head(const GpuModel& model, GpuState& state) {
  auto& running = state.running;
  const auto& item = state.queue[state.queue.begin];
  const double call_ns = state.conditions.call_s * 1e9;
  const double left =
      static_cast<double>(item.calls - running.calls_done) - running.call_share_done;
  running.calls_done = item.calls;
  running.last_call_end_ns = state.anchor.at_ns;
  state.completions.push(completion_of_head(state));
  ++state.queue.begin;
  running = {.begin_fraction_ns = state.queue.size() > 0 ? left * call_ns : 0.0};
  keep_awake(model, state);
}

void drop_all_work(GpuState& state) {
  state.queue.begin = state.queue.end;
  state.running = {};
}

std::optional<std::uint32_t> create_context(const Device& device, const Context& process) {
  const auto& contexts = device.state.contexts;
  const auto slot = std::ranges::find(contexts, 0U, &Context::id);
  return create_context(device, process, static_cast<std::size_t>(slot - contexts.begin()));
}

std::optional<std::uint32_t> create_context(const Device& device, const Context& process,
                                            std::size_t slot) {
  const auto& [model, surfaces, state] = device;
  if (state.lost != 0 || slot >= kContexts || state.contexts[slot].id != 0) return std::nullopt;
  move_anchor(device, state.now_ns);
  auto& context = state.contexts[slot];
  context = process;
  context.id = state.next_context++;
  settle(device);
  return context.id;
}

void remove_context(const Device& device, std::uint32_t context) {
  const auto& [model, surfaces, state] = device;
  auto* found = find_context(state, context);
  if (found == nullptr) return;
  move_anchor(device, state.now_ns);
  remove_work(model, state, context);
  *found = {};
  settle(device);
}

std::optional<std::uint64_t> submit(const Device& device, std::uint32_t context,
                                    std::uint32_t surface, std::uint64_t calls) {
  const auto& [model, surfaces, state] = device;
  const bool known = surface < surfaces.size() && surfaces[surface].count > 0;
  if (!known || calls == 0 || state.queue.size() == kQueueItems ||
      find_context(state, context) == nullptr)
    return std::nullopt;
  const WorkItem item{state.next_ticket++, calls, context, surface};
  if (state.queue.size() > 0) {  // conditions stay
    state.queue.push(item);
    return item.ticket;
  }
  move_anchor(device, state.now_ns);
  state.queue.push(item);
  state.running = {};
  settle(device);
  return item.ticket;
}

void cancel(const Device& device, std::uint32_t context) {
  const auto& [model, surfaces, state] = device;
  if (state.queue.size() == 0) return;
  move_anchor(device, state.now_ns);
  if (state.queue[state.queue.begin].context == context && state.running.calls_done > 0)
    state.completions.push(completion_of_head(state));
  remove_work(model, state, context);
  settle(device);
}

std::optional<Progress> running_work(const GpuState& state, std::int64_t now_ns) {
  if (state.queue.size() == 0) return std::nullopt;
  const auto& item = state.queue[state.queue.begin];
  const auto& running = state.running;
  Progress progress{.ticket = item.ticket,
                    .calls = running.calls_done,
                    .begin_ns = running.begin_ns,
                    .last_end_ns = running.last_call_end_ns};
  const double since = static_cast<double>(now_ns - state.anchor.at_ns) * 1e-9;
  const double share = running.call_share_done + since / state.conditions.call_s;
  // The last call ends with the item, at its completion.
  const auto most = static_cast<double>(item.calls - running.calls_done - 1);
  const double whole = std::min(std::floor(share), most);
  if (whole < 1.0) return progress;
  progress.calls += static_cast<std::uint64_t>(whole);
  progress.last_end_ns = now_ns - std::llround((share - whole) * state.conditions.call_s * 1e9);
  return progress;
}

std::size_t completions_since(const GpuState& state, std::uint32_t context, std::uint64_t& cursor,
                              std::span<Completion> out) {
  const auto& ring = state.completions;
  cursor = std::max(cursor, ring.oldest());
  std::size_t count = 0;
  for (; cursor < ring.end && count < out.size(); ++cursor)
    if (ring[cursor].context == context) out[count++] = ring[cursor];
  return count;
}

}  // namespace negawatt::gpusim
