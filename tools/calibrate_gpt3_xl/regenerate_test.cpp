// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrate_gpt3_xl/correction.hpp"
#include "calibrate_gpt3_xl/device_model.hpp"
#include "calibrate_gpt3_xl/published_facts_for_test.hpp"
#include "calibrate_gpt3_xl/surface.hpp"

namespace negawatt::calibrate {
namespace {

// Maths libraries differ in the last bit; without FMA instructions cells move by up to 0.5 %.
TEST(Regenerate, TheCommittedSurfaceIsWhatTheToolComputes) {
  const Facts facts = published_facts();
  const trace::KernelTable committed = committed_surface();
  ASSERT_EQ(committed.kernels.size(), facts.kernels.size());
  const Surface surface = corrected(facts, fitted_model(facts));
  for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const Point written = cost_at(committed.kernels[k], pair), computed = surface.at(k, pair);
      EXPECT_NEAR(computed.time / written.time, 1.0, 0.01) << facts.kernels[k].name << pair;
      EXPECT_NEAR(computed.energy / written.energy, 1.0, 0.01) << facts.kernels[k].name << pair;
    }
  }
}

TEST(Regenerate, TheTableReadsBackAsTheSurface) {
  const Facts facts = published_facts();
  Surface surface(facts.kernels.size());
  for (std::size_t i = 0; i < surface.logs.size(); ++i)
    surface.logs[i] = -3.0 + 0.001 * static_cast<double>(i);
  const auto table = trace::parse_kernel_table(table_of(facts, surface), "table");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  ASSERT_EQ(table->kernels.size(), facts.kernels.size());
  EXPECT_EQ(table->evidence.kind, EvidenceKind::modelled);
  for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
    EXPECT_EQ(table->kernels[k].name, facts.kernels[k].name);
    ASSERT_EQ(table->kernels[k].options.size(), kPairs);
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      EXPECT_NEAR(cost_at(table->kernels[k], pair).time / surface.at(k, pair).time, 1.0, 1e-6);
      EXPECT_NEAR(cost_at(table->kernels[k], pair).energy / surface.at(k, pair).energy, 1.0, 1e-6);
    }
  }
}

}  // namespace
}  // namespace negawatt::calibrate
