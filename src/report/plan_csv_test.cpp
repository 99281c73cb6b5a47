// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>

#include <string>

#include "report/escape.hpp"
#include "report/report.hpp"
#include "report/sample_report_for_test.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::report {
namespace {

using testing::Sample;

TEST(PlanCsv, IsAKernelTableWithThePlansPairOnly) {
  const Sample sample;
  const auto table = trace::parse_kernel_table(plan_csv(sample.report()), "plan.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->kernels.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& kernel = table->kernels[k];
    const auto& choice = sample.plan.choices[k];
    EXPECT_EQ(kernel.name, sample.table.kernels[k].name);
    EXPECT_EQ(kernel.group, sample.table.kernels[k].group);
    EXPECT_EQ(kernel.calls, sample.table.kernels[k].calls);
    ASSERT_EQ(kernel.options.size(), 1U);
    EXPECT_EQ(kernel.options[0].clocks, choice.clocks);
    EXPECT_EQ(kernel.options[0].time, choice.per_call.time);
    EXPECT_EQ(kernel.options[0].energy, choice.per_call.energy);
  }
  EXPECT_EQ(table->evidence.kind, EvidenceKind::measured);
  EXPECT_EQ(table->evidence.source, "NVML energy counter, 1 s windows");
  EXPECT_FALSE(table->last_line_open);
}

TEST(PlanCsv, AScheduleIsWrittenSegmentBySegment) {
  Sample sample;
  sample.make_schedule();
  sample.table.evidence = {};
  EXPECT_EQ(plan_csv(sample.report()),
            "first,last,core_mhz,memory_mhz,time_s,energy_j\n"
            "0,0,1410,5001,0.26,60\n"
            "1,1,auto,auto,0.5,100\n"
            "2,2,1410,5001,0.26,60\n"
            "3,4,auto,auto,1.5,300\n");
}

RC_GTEST_PROP(PlanCsv, AnyNameAndNumberComesBackUnchanged, (const std::string& bytes)) {
  // Bytes that are no printable text never reach a plan: the reader of tables refuses them.
  const auto name = "k" + displayable(bytes);
  const auto seconds = *rc::gen::suchThat<double>([](double x) { return x > 0 && x < 1e300; });
  Sample sample;
  sample.table.kernels[1].name = name;
  sample.plan.choices[1].per_call = testing::cost(seconds, seconds / 3.0);
  const auto table = trace::parse_kernel_table(plan_csv(sample.report()), "plan.csv");
  RC_ASSERT(table.has_value());
  RC_ASSERT(table->kernels[1].name == name);
  RC_ASSERT(table->kernels[1].options[0].time == Seconds(seconds));
}

}  // namespace
}  // namespace negawatt::report
