// SPDX-License-Identifier: Apache-2.0
//
// How large a recording is: bytes per kernel of programs as they are traced.
#include <gtest/gtest.h>

#include "tests/kernel_stream.hpp"
#include "tests/recording_bytes.hpp"

namespace negawatt::trace {
namespace {

struct Size {
  double raw, stored;  // bytes per kernel, definitions included
};

Size size_of(const testing::KernelProgram& program, int iterations) {
  testing::RecordingBytes file(RecordingHeader{});
  file.add(Lane{0, 1, 7});
  for (std::uint32_t name = 1; const auto& text : program.names) {
    file.add(Text{text});
    file.add(KernelClass{name++, {64, 32, 1}, {384, 1, 1}, 0, 230'000, 168});
  }
  testing::KernelClock clock(1);
  for (int i = 0; i < iterations; ++i) {
    for (const std::uint32_t function : program.iteration) {
      KernelRun run = clock.run(program.duration_ns[function]);
      run.kernel_class = function + 1;
      run.lane = 1;
      file.add(run);
    }
  }
  file.end_block();
  const double kernels =
      static_cast<double>(iterations) * static_cast<double>(program.iteration.size());
  return {static_cast<double>(file.raw_bytes()) / kernels,
          static_cast<double>(file.bytes().size()) / kernels};
}

TEST(RecordingSize, OfATrainingLoopIsTenBytesAKernel) {
  const auto program = testing::training_program();
  EXPECT_EQ(program.iteration.size(), 897U);
  const Size size = size_of(program, 100);
  RecordProperty("raw_bytes_per_kernel", std::to_string(size.raw));
  RecordProperty("stored_bytes_per_kernel", std::to_string(size.stored));
  EXPECT_LT(size.raw, 12.0);
  EXPECT_LT(size.stored, 8.0);
}

TEST(RecordingSize, OfADecodingLoopIsTenBytesAKernel) {
  const auto program = testing::decoding_program();
  EXPECT_EQ(program.iteration.size(), 267U);
  const Size size = size_of(program, 400);
  RecordProperty("raw_bytes_per_kernel", std::to_string(size.raw));
  RecordProperty("stored_bytes_per_kernel", std::to_string(size.stored));
  EXPECT_LT(size.raw, 12.0);
  EXPECT_LT(size.stored, 8.0);
}

}  // namespace
}  // namespace negawatt::trace
