// SPDX-License-Identifier: Apache-2.0
#include "tests/pipeline_instances.hpp"

#include <cstddef>
#include <random>

namespace negawatt::testing {
namespace {

using trace::Pass;
using trace::PassOption;

/// The same numbers with every standard library: its distributions differ.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  /// Uniform in 1 +- `spread`.
  double around_one(double spread) {
    constexpr double kScale = 1.0 / 18446744073709551616.0;  // 2^-64
    return 1.0 + spread * (2.0 * static_cast<double>(random_()) * kScale - 1.0);
  }
  std::uint32_t up_to(std::uint32_t most) {
    return static_cast<std::uint32_t>(random_() % (std::uint64_t{most} + 1));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

plan::PipelineProblem a100_like_pipeline(std::uint32_t microbatches,
                                         plan::PipelineSchedule schedule) {
  constexpr std::uint32_t kStages = 8;
  Noise noise(175);
  plan::PipelineProblem problem{
      .microbatches = microbatches, .schedule = schedule, .blocking = Watts(83.64)};
  problem.profile.name = "modelled A100 pipeline";
  for (std::uint32_t s = 0; s < kStages; ++s) {
    auto& stage = problem.profile.stages.emplace_back();
    for (const Pass pass : trace::kPasses) {
      const double work = (pass == Pass::forward ? 1.0 : 1.85) * (s + 1 == kStages ? 1.15 : 1.0);
      for (std::uint32_t mhz = 855; mhz <= 1410; mhz += 15) {
        const double clock = mhz / 1410.0;
        const double time = work * (0.004 + 0.046 / clock) * noise.around_one(0.002);
        const double power = (130.0 + 345.0 * clock * clock * clock) * noise.around_one(0.002);
        stage.options[static_cast<std::size_t>(pass)].push_back(
            {mhz, Seconds(time), Joules(power * time)});
      }
    }
  }
  return problem;
}

plan::PipelineProblem random_pipeline(const RandomPipeline& shape,
                                      plan::PipelineSchedule schedule) {
  Noise noise(shape.seed);
  plan::PipelineProblem problem{
      .microbatches = shape.microbatches, .schedule = schedule, .blocking = Watts(noise.up_to(3))};
  problem.profile.name = "random pipeline";
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    auto& stage = problem.profile.stages.emplace_back();
    for (auto& options : stage.options) {
      const auto clocks = 1 + noise.up_to(shape.clocks - 1);
      for (std::uint32_t k = 0; k < clocks; ++k)
        options.push_back(
            {100 * (k + 1), Seconds(0.25 * (1 + noise.up_to(8))), Joules(1 + noise.up_to(20))});
    }
  }
  return problem;
}

}  // namespace negawatt::testing
