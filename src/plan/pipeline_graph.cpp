// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_graph.hpp"

#include <algorithm>
#include <numeric>

#include "core/result.hpp"

namespace negawatt::plan {
namespace {

struct Work {
  trace::Pass pass;
  std::uint32_t microbatch;
};

std::vector<Work> order_on_stage(std::uint32_t warm_up, std::uint32_t microbatches,
                                 PipelineSchedule schedule) {
  std::vector<Work> order;
  order.reserve(2 * std::size_t{microbatches});
  if (schedule == PipelineSchedule::gpipe) {
    for (std::uint32_t m = 0; m < microbatches; ++m) order.push_back({trace::Pass::forward, m});
    for (std::uint32_t m = microbatches; m-- > 0;) order.push_back({trace::Pass::backward, m});
    return order;
  }
  for (std::uint32_t m = 0; m < warm_up; ++m) order.push_back({trace::Pass::forward, m});
  for (std::uint32_t m = warm_up; m < microbatches; ++m) {
    order.push_back({trace::Pass::forward, m});
    order.push_back({trace::Pass::backward, m - warm_up});
  }
  for (std::uint32_t m = microbatches - warm_up; m < microbatches; ++m)
    order.push_back({trace::Pass::backward, m});
  return order;
}

/// Steps stage by stage, linked along stages and data.
std::vector<PipelineStep> linked_steps(std::uint32_t stages, std::uint32_t microbatches,
                                       PipelineSchedule schedule) {
  std::vector<PipelineStep> steps;
  steps.reserve(2 * std::size_t{stages} * microbatches);
  // where[pass][stage * microbatches + microbatch]: the step
  std::array<std::vector<std::uint32_t>, 2> where;
  for (auto& of_pass : where) of_pass.resize(std::size_t{stages} * microbatches);
  for (std::uint32_t s = 0; s < stages; ++s) {
    const auto warm_up = std::min(stages - s - 1, microbatches);
    for (const auto& work : order_on_stage(warm_up, microbatches, schedule)) {
      const auto here = static_cast<std::uint32_t>(steps.size());
      const bool is_first = here % (2 * microbatches) == 0;
      where[static_cast<std::size_t>(work.pass)][s * microbatches + work.microbatch] = here;
      steps.push_back({s, work.microbatch, work.pass, is_first ? kNoStep : here - 1});
      if (!is_first) steps[here - 1].after_on_stage = here;
    }
  }
  const auto link = [&](std::uint32_t before, std::uint32_t after) {
    steps[before].after_in_data = after;
    steps[after].before_in_data = before;
  };
  for (std::uint32_t i = 0; i < (stages - 1) * microbatches; ++i) {
    link(where[0][i], where[0][i + microbatches]);
    link(where[1][i + microbatches], where[1][i]);
  }
  // The last stage's backward waits for its own forward: its order on the stage sees to that.
  return steps;
}

}  // namespace

std::vector<PipelineStep> pipeline_steps(std::uint32_t stages, std::uint32_t microbatches,
                                         PipelineSchedule schedule) {
  const auto steps = linked_steps(stages, microbatches, schedule);
  std::vector<std::uint32_t> waits_for(steps.size());
  std::vector<std::uint32_t> ready;  // becomes the topological order
  ready.reserve(steps.size());
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    waits_for[i] = (steps[i].before_on_stage != kNoStep ? 1U : 0U) +
                   (steps[i].before_in_data != kNoStep ? 1U : 0U);
    if (waits_for[i] == 0) ready.push_back(i);
  }
  std::vector<std::uint32_t> place(steps.size(), kNoStep);
  for (std::uint32_t done = 0; done < ready.size(); ++done) {
    const auto& step = steps[ready[done]];
    place[ready[done]] = done;
    for (const auto after : {step.after_on_stage, step.after_in_data})
      if (after != kNoStep && --waits_for[after] == 0) ready.push_back(after);
  }
  NW_ASSERT(ready.size() == steps.size());

  std::vector<PipelineStep> sorted(steps.size());
  const auto moved = [&](std::uint32_t step) { return step == kNoStep ? kNoStep : place[step]; };
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    auto step = steps[i];
    step.before_on_stage = moved(step.before_on_stage);
    step.before_in_data = moved(step.before_in_data);
    step.after_on_stage = moved(step.after_on_stage);
    step.after_in_data = moved(step.after_in_data);
    sorted[place[i]] = step;
  }
  return sorted;
}

PipelineEvents pipeline_events(const std::vector<PipelineStep>& steps) {
  // Before merging, step i starts at event 2i and ends at 2i + 1.
  const auto count = static_cast<std::uint32_t>(2 * steps.size());
  std::vector<std::uint32_t> group(std::size_t{count} + 2);
  std::iota(group.begin(), group.end(), 0U);
  const auto root = [&](std::uint32_t event) {
    while (group[event] != event) event = group[event] = group[group[event]];
    return event;
  };
  std::vector<Precedence> kept;
  const auto join = [&](std::uint32_t before, std::uint32_t after) {
    const auto& first = steps[before];
    const auto& second = steps[after];
    const bool only_way_out = first.after_on_stage == kNoStep || first.after_in_data == kNoStep;
    const bool only_way_in = second.before_on_stage == kNoStep || second.before_in_data == kNoStep;
    // With one way out, the first may as well end when the second starts; with one way in, the
    // second may as well start when the first ends.
    if (only_way_out || only_way_in) {
      group[root(2 * after)] = root(2 * before + 1);
    } else {
      kept.push_back({2 * before + 1, 2 * after});
    }
  };
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    if (step.before_on_stage == kNoStep && step.before_in_data == kNoStep)
      group[root(2 * i)] = root(count);
    if (step.after_on_stage == kNoStep && step.after_in_data == kNoStep)
      group[root(2 * i + 1)] = root(count + 1);
    if (step.after_on_stage != kNoStep) join(i, step.after_on_stage);
    if (step.after_in_data != kNoStep) join(i, step.after_in_data);
  }

  PipelineEvents events;
  std::vector<std::uint32_t> number(group.size(), kNoStep);
  const auto event_of = [&](std::uint32_t event) {
    auto& n = number[root(event)];
    if (n == kNoStep) n = events.count++;
    return n;
  };
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    events.start.push_back(event_of(2 * i));
    events.end.push_back(event_of(2 * i + 1));
  }
  for (const auto& arc : kept)
    events.precedences.push_back({event_of(arc.before), event_of(arc.after)});
  events.source = event_of(count);
  events.sink = event_of(count + 1);
  return events;
}

}  // namespace negawatt::plan
