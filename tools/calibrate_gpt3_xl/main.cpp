// SPDX-License-Identifier: Apache-2.0
//
// calibrate_gpt3_xl FOLDER > surface.csv: computes the surface from the published facts in FOLDER
// (data/gpt3-xl-3080ti). Exit code 1 when a file is missing or wrong, 2 on wrong usage.
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>

#include "calibrate_gpt3_xl/correction.hpp"
#include "calibrate_gpt3_xl/device_model.hpp"
#include "calibrate_gpt3_xl/facts.hpp"
#include "calibrate_gpt3_xl/surface.hpp"

namespace negawatt::calibrate {
namespace {

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(Code::invalid, "cannot open " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::string> surface_from(const std::string& folder) {
  NW_TRY(const std::string kernels, read_file(folder + "/kernels.csv"));
  NW_TRY(const std::string passes, read_file(folder + "/passes.csv"));
  NW_TRY(const std::string extremes, read_file(folder + "/extremes.csv"));
  NW_TRY(const std::string relaxed, read_file(folder + "/relaxed.csv"));
  NW_TRY(const Facts facts, read_facts({kernels, passes, extremes, relaxed}));
  return table_of(facts, corrected(facts, fitted_model(facts)));
}

}  // namespace
}  // namespace negawatt::calibrate

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: calibrate_gpt3_xl FOLDER > surface.csv\n");
    return 2;
  }
  const auto table = negawatt::calibrate::surface_from(argv[1]);
  if (!table) {
    fmt::print(stderr, "calibrate_gpt3_xl: {}\n", table.error().message);
    return 1;
  }
  fmt::print("{}", *table);
  return 0;
}
