// SPDX-License-Identifier: Apache-2.0
//
// The published facts and the committed surface, as the tests of the calibration read them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "calibrate_gpt3_xl/facts.hpp"
#include "tests/shared_data.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::calibrate {

inline Facts published_facts() {
  const std::string folder = "data/gpt3-xl-3080ti/";
  const std::string kernels = testing::repository_file(folder + "kernels.csv");
  const std::string passes = testing::repository_file(folder + "passes.csv");
  const std::string extremes = testing::repository_file(folder + "extremes.csv");
  const std::string relaxed = testing::repository_file(folder + "relaxed.csv");
  auto facts = read_facts({kernels, passes, extremes, relaxed});
  if (!facts) ADD_FAILURE() << facts.error().message;
  return facts.value_or(Facts{});
}

inline trace::KernelTable committed_surface() {
  const std::string bytes = testing::repository_file("data/gpt3-xl-3080ti/surface.csv");
  auto table = trace::parse_kernel_table(bytes, "surface.csv");
  if (!table) ADD_FAILURE() << table.error().message;
  return table.value_or(trace::KernelTable{});
}

/// Cost of one call; the pair must be in the table.
inline Point cost_at(const trace::Kernel& kernel, std::size_t pair) {
  const trace::KernelOption* option = kernel.at(clocks_of(pair));
  if (option == nullptr) {
    ADD_FAILURE() << kernel.name << " lacks " << trace::to_string(clocks_of(pair));
    return {};
  }
  return {option->time.in_si(), option->energy.in_si()};
}

}  // namespace negawatt::calibrate
