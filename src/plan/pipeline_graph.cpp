// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_graph.hpp"

#include <algorithm>
#include <numeric>

#include "core/result.hpp"
#include "solve/time_cost.hpp"
#include "trace/pipeline_profile.hpp"

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

/// Instructions stage by stage, linked along stages and data.
std::vector<PipelineInstruction> linked_instructions(std::uint32_t stages,
                                                     std::uint32_t microbatches,
                                                     PipelineSchedule schedule) {
  std::vector<PipelineInstruction> instructions;
  instructions.reserve(2 * std::size_t{stages} * microbatches);
  // where[pass][stage * microbatches + microbatch]: the instruction
  std::array<std::vector<std::uint32_t>, 2> where;
  for (auto& of_pass : where) of_pass.resize(std::size_t{stages} * microbatches);
  for (std::uint32_t s = 0; s < stages; ++s) {
    const auto warm_up = std::min(stages - s - 1, microbatches);
    for (const auto& work : order_on_stage(warm_up, microbatches, schedule)) {
      const auto here = static_cast<std::uint32_t>(instructions.size());
      const bool is_first = here % (2 * microbatches) == 0;
      where[static_cast<std::size_t>(work.pass)][s * microbatches + work.microbatch] = here;
      instructions.push_back({s, work.microbatch, work.pass, is_first ? kNoInstruction : here - 1});
      if (!is_first) instructions[here - 1].after_on_stage = here;
    }
  }
  const auto link = [&](std::uint32_t before, std::uint32_t after) {
    instructions[before].after_in_data = after;
    instructions[after].before_in_data = before;
  };
  for (std::uint32_t i = 0; i < (stages - 1) * microbatches; ++i) {
    link(where[0][i], where[0][i + microbatches]);
    link(where[1][i + microbatches], where[1][i]);
  }
  // The last stage's backward waits for its own forward: its order on the stage sees to that.
  return instructions;
}

}  // namespace

std::vector<PipelineInstruction> pipeline_instructions(std::uint32_t stages,
                                                       std::uint32_t microbatches,
                                                       PipelineSchedule schedule) {
  const auto instructions = linked_instructions(stages, microbatches, schedule);
  std::vector<std::uint32_t> waits_for(instructions.size());
  std::vector<std::uint32_t> ready;  // becomes the topological order
  ready.reserve(instructions.size());
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    waits_for[i] = (instructions[i].before_on_stage != kNoInstruction ? 1U : 0U) +
                   (instructions[i].before_in_data != kNoInstruction ? 1U : 0U);
    if (waits_for[i] == 0) ready.push_back(i);
  }
  std::vector<std::uint32_t> place(instructions.size(), kNoInstruction);
  for (std::uint32_t done = 0; done < ready.size(); ++done) {
    const auto& instruction = instructions[ready[done]];
    place[ready[done]] = done;
    for (const auto after : {instruction.after_on_stage, instruction.after_in_data})
      if (after != kNoInstruction && --waits_for[after] == 0) ready.push_back(after);
  }
  NW_ASSERT(ready.size() == instructions.size());

  std::vector<PipelineInstruction> sorted(instructions.size());
  const auto moved = [&](std::uint32_t instruction) {
    return instruction == kNoInstruction ? kNoInstruction : place[instruction];
  };
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    auto instruction = instructions[i];
    instruction.before_on_stage = moved(instruction.before_on_stage);
    instruction.before_in_data = moved(instruction.before_in_data);
    instruction.after_on_stage = moved(instruction.after_on_stage);
    instruction.after_in_data = moved(instruction.after_in_data);
    sorted[place[i]] = instruction;
  }
  return sorted;
}

PipelineEvents pipeline_events(const std::vector<PipelineInstruction>& instructions) {
  // Before merging, instruction i starts at event 2i and ends at 2i + 1.
  const auto count = static_cast<std::uint32_t>(2 * instructions.size());
  std::vector<std::uint32_t> group(std::size_t{count} + 2);
  std::iota(group.begin(), group.end(), 0U);
  const auto root = [&](std::uint32_t event) {
    while (group[event] != event) event = group[event] = group[group[event]];
    return event;
  };
  std::vector<solve::Precedence> kept;
  const auto join = [&](std::uint32_t before, std::uint32_t after) {
    const auto& first = instructions[before];
    const auto& second = instructions[after];
    const bool only_way_out =
        first.after_on_stage == kNoInstruction || first.after_in_data == kNoInstruction;
    const bool only_way_in =
        second.before_on_stage == kNoInstruction || second.before_in_data == kNoInstruction;
    // With one way out, the first may as well end when the second starts; with one way in, the
    // second may as well start when the first ends.
    if (only_way_out || only_way_in) {
      group[root(2 * after)] = root(2 * before + 1);
    } else {
      kept.push_back({2 * before + 1, 2 * after});
    }
  };
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    const auto& instruction = instructions[i];
    if (instruction.before_on_stage == kNoInstruction &&
        instruction.before_in_data == kNoInstruction)
      group[root(2 * i)] = root(count);
    if (instruction.after_on_stage == kNoInstruction && instruction.after_in_data == kNoInstruction)
      group[root(2 * i + 1)] = root(count + 1);
    if (instruction.after_on_stage != kNoInstruction) join(i, instruction.after_on_stage);
    if (instruction.after_in_data != kNoInstruction) join(i, instruction.after_in_data);
  }

  PipelineEvents events;
  std::vector<std::uint32_t> number(group.size(), kNoInstruction);
  const auto event_of = [&](std::uint32_t event) {
    auto& n = number[root(event)];
    if (n == kNoInstruction) n = events.count++;
    return n;
  };
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
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
