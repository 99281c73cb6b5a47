// SPDX-License-Identifier: Apache-2.0
//
// negawatt-record-machine [LIBRARY]: prints a description of this machine's GPUs for the simulated
// library. LIBRARY defaults to libnvidia-ml.so.1. Nothing is changed on the machine.
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <span>

#include "gpusim/machine_record.hpp"
#include "gpusim/nvml_symbols.hpp"

namespace negawatt::gpusim {
namespace {

Result<std::string> record(const std::string& library) {
  NW_TRY(const auto nvml, load_nvml(library));
  return record_machine(nvml);
}

int record_main(std::span<char*> words) {
  if (words.size() > 2 || (words.size() == 2 && *words[1] == '-')) {
    fmt::print(stderr, "usage: negawatt-record-machine [LIBRARY] >machine.toml\n");
    return 2;
  }
  const auto text = record(words.size() == 2 ? words[1] : "libnvidia-ml.so.1");
  if (!text) {
    fmt::print(stderr, "negawatt-record-machine: {}\n", text.error().message);
    return 3;
  }
  fmt::print("{}", *text);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace negawatt::gpusim

int main(int argc, char** argv) {
  try {
    return negawatt::gpusim::record_main({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "negawatt-record-machine: {}\n", error.what());
    return 1;
  }
}
