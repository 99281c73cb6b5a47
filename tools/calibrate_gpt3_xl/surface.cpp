// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/surface.hpp"

#include <fmt/format.h>

#include <iterator>

namespace negawatt::calibrate {
namespace {

std::string name_of(std::uint32_t mhz) { return mhz == 0 ? "auto" : fmt::format("{}", mhz); }

}  // namespace

std::string table_of(const Facts& facts, const Surface& surface) {
  std::string text =
      "# evidence: modelled\n"
      "# source: tools/calibrate_gpt3_xl, a surface that agrees with the figures and tables of "
      "arXiv 2601.08539v1; errors in README.md\n"
      "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n";
  for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
    const KernelFacts& kernel = facts.kernels[k];
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const Point cost = surface.at(k, pair);
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{:.7g},{:.7g}\n", kernel.name,
                     kernel.group, kernel.calls, name_of(kCores[core_of(pair)]),
                     name_of(kMemories[memory_of(pair)]), cost.time, cost.energy);
    }
  }
  return text;
}

}  // namespace negawatt::calibrate
