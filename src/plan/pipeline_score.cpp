// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_score.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "plan/pipeline.hpp"
#include "plan/pipeline_graph.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {
namespace {

using trace::Pass;

/// One stage on its way through an iteration of `microbatches`.
class StageRun {
 public:
  StageRun(std::uint32_t stages_behind, const PipelineProblem& problem)
      : microbatches_(problem.microbatches),
        schedule_(problem.schedule),
        warm_up_(std::min(stages_behind, problem.microbatches)) {}

  [[nodiscard]] bool is_done() const { return forwards_ + backwards_ == 2 * microbatches_; }

  [[nodiscard]] Pass next_pass() const {
    if (schedule_ == PipelineSchedule::gpipe)
      return forwards_ < microbatches_ ? Pass::forward : Pass::backward;
    if (forwards_ == microbatches_) return Pass::backward;
    return forwards_ <= backwards_ + warm_up_ ? Pass::forward : Pass::backward;
  }

  [[nodiscard]] std::uint32_t next_microbatch() const {
    if (next_pass() == Pass::forward) return forwards_;
    return schedule_ == PipelineSchedule::gpipe ? microbatches_ - 1 - backwards_ : backwards_;
  }

  void finish(Seconds at) {
    ++(next_pass() == Pass::forward ? forwards_ : backwards_);
    free_at = at;
  }

  Seconds free_at;

 private:
  std::uint32_t microbatches_;
  PipelineSchedule schedule_;
  std::uint32_t warm_up_;
  std::uint32_t forwards_ = 0;
  std::uint32_t backwards_ = 0;
};

/// Instructions by pass, stage and microbatch; null where there is none.
class Lookup {
 public:
  explicit Lookup(const PipelineProblem& problem)
      : stages_(problem.profile.stages.size()),
        microbatches_(problem.microbatches),
        found_(2 * stages_ * microbatches_, nullptr) {}

  InstructionChoice*& at(Pass pass, std::size_t stage, std::uint32_t microbatch) {
    return found_[(static_cast<std::size_t>(pass) * stages_ + stage) * microbatches_ + microbatch];
  }

  Status fill(std::vector<InstructionChoice>& instructions) {
    for (auto& choice : instructions) {
      if (choice.stage >= stages_ || choice.microbatch >= microbatches_)
        return failure(Code::invalid, fmt::format("stage {}, microbatch {} is not in the pipeline",
                                                  choice.stage, choice.microbatch));
      auto*& place = at(choice.pass, choice.stage, choice.microbatch);
      if (place != nullptr)
        return failure(Code::invalid,
                       fmt::format("stage {}, microbatch {}, {} is planned twice", choice.stage,
                                   choice.microbatch, name_of(choice.pass)));
      place = &choice;
    }
    if (instructions.size() < found_.size())
      return failure(Code::invalid, fmt::format("{} instructions planned, expected {}",
                                                instructions.size(), found_.size()));
    return {};
  }

 private:
  std::size_t stages_;
  std::uint32_t microbatches_;
  std::vector<InstructionChoice*> found_;
};

Result<const trace::PassOption*> option_of(const PipelineProblem& problem,
                                           const InstructionChoice& choice) {
  const auto& options = problem.profile.stages[choice.stage].of(choice.pass);
  const auto at = std::ranges::lower_bound(options, choice.mhz, {}, &trace::PassOption::mhz);
  if (at != options.end() && at->mhz == choice.mhz) return &*at;
  return failure(Code::invalid, fmt::format("stage {} {} has no row at {} MHz", choice.stage,
                                            name_of(choice.pass), choice.mhz));
}

/// The instruction whose output `choice` needs, or null. It may not have run yet.
const InstructionChoice* input_of(Lookup& lookup, const InstructionChoice& choice,
                                  std::size_t stages) {
  if (choice.pass == Pass::forward)
    return choice.stage == 0 ? nullptr
                             : lookup.at(Pass::forward, choice.stage - 1, choice.microbatch);
  if (choice.stage + 1 < stages)
    return lookup.at(Pass::backward, choice.stage + 1, choice.microbatch);
  return lookup.at(Pass::forward, choice.stage, choice.microbatch);
}

}  // namespace

Result<Cost> score_pipeline(const PipelineProblem& problem,
                            std::vector<InstructionChoice>& instructions) {
  const auto stages = problem.profile.stages.size();
  Lookup lookup(problem);
  NW_CHECK(lookup.fill(instructions));
  constexpr Seconds kNotYet{-1.0};
  for (auto& choice : instructions) choice.end = kNotYet;

  std::vector<StageRun> runs;
  runs.reserve(stages);
  for (std::size_t s = 0; s < stages; ++s)
    runs.emplace_back(static_cast<std::uint32_t>(stages - 1 - s), problem);
  Cost busy;
  std::size_t finished = 0;
  while (finished < instructions.size()) {
    const auto finished_before = finished;
    for (std::size_t s = 0; s < stages; ++s) {
      while (!runs[s].is_done()) {
        auto& choice = *lookup.at(runs[s].next_pass(), s, runs[s].next_microbatch());
        const auto* input = input_of(lookup, choice, stages);
        if (input != nullptr && input->end == kNotYet) break;
        NW_TRY(const auto* option, option_of(problem, choice));
        choice.start = input == nullptr ? runs[s].free_at : std::max(runs[s].free_at, input->end);
        choice.end = choice.start + option->time;
        runs[s].finish(choice.end);
        busy += {option->time, option->energy};
        ++finished;
      }
    }
    NW_ASSERT(finished > finished_before);  // the schedules have no cycle
  }
  Seconds time;
  for (const auto& run : runs) time = std::max(time, run.free_at);
  return Cost{time,
              busy.energy + problem.blocking * (static_cast<double>(stages) * time - busy.time)};
}

}  // namespace negawatt::plan
