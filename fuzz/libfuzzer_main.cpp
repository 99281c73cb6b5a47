// SPDX-License-Identifier: Apache-2.0
//
// The entry point that libFuzzer calls.
#include <cstddef>
#include <cstdint>

#include "fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  negawatt::fuzz::accepts({reinterpret_cast<const char*>(data), size});
  return 0;
}
