// SPDX-License-Identifier: Apache-2.0
#include "sim/outcome.hpp"

namespace negawatt::sim {

std::uint64_t Outcome::steps() const {
  std::uint64_t sum = 0;
  for (const auto& instance : instances) sum += instance.steps;
  return sum;
}

std::uint64_t Outcome::preemptions() const {
  std::uint64_t sum = 0;
  for (const auto& instance : instances) sum += instance.preemptions;
  return sum;
}

std::optional<double> Outcome::slo_attainment() const {
  std::uint64_t of = 0;
  std::uint64_t met = 0;
  for (const auto& of_class : classes) {
    if (!of_class.has_slo) continue;
    of += of_class.requests;
    met += of_class.met_all;
  }
  if (of == 0) return std::nullopt;
  return static_cast<double>(met) / static_cast<double>(of);
}

}  // namespace negawatt::sim
