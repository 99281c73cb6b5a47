// SPDX-License-Identifier: Apache-2.0
#include "structure/kernel_stream.hpp"

#include <gtest/gtest.h>

#include "tests/recording_bytes.hpp"

namespace negawatt::structure {
namespace {

/// Two devices; kernels of device 0 run on two streams and are recorded out of order.
std::string two_devices() {
  testing::RecordingBytes file(trace::RecordingHeader{});
  file.add(trace::Text{"gemm"});
  file.add(trace::Text{"add"});
  file.add(trace::KernelClass{1, {8, 1, 1}, {}, 0, 0, 0});
  file.add(trace::KernelClass{2, {8, 1, 1}, {}, 0, 0, 0});
  file.add(trace::KernelClass{1, {16, 1, 1}, {}, 0, 0, 0});
  file.add(trace::Lane{0, 1, 7});
  file.add(trace::Lane{0, 1, 8});
  file.add(trace::Lane{1, 2, 7});
  file.add(trace::KernelRun{{300}, {400}, 2, 1, 1, {}});
  file.add(trace::KernelRun{{100}, {200}, 1, 1, 2, {}});
  file.add(trace::RangePop{{120}, 1, 0});
  file.add(trace::KernelRun{{150}, {180}, 3, 2, 3, {}});
  file.add(trace::KernelRun{{110}, {115}, 2, 3, 4, {}});
  file.end_block();
  return file.bytes();
}

TEST(KernelStream, IsADevicesKernelsInOrder) {
  const std::string bytes = two_devices();
  auto reader = testing::reader_of(bytes);
  KernelCollector collector;
  while (const auto event = reader.next().value()) collector.add(*event, reader.tables());
  const auto streams = collector.streams(reader.tables());
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[1].device, 1U);
  EXPECT_EQ(streams[1].runs.size(), 1U);

  const KernelStream& first = streams[0];
  ASSERT_EQ(first.runs.size(), 3U);
  EXPECT_EQ(first.runs[0].correlation, 2U);
  EXPECT_EQ(first.runs[1].correlation, 3U);
  EXPECT_EQ(first.functions, (std::vector<std::uint32_t>{0, 0, 1})) << "shapes are no functions";
  EXPECT_EQ(reader.tables().text(first.names[1]), "add");
  EXPECT_EQ(first.sequence().count, 2U);
  EXPECT_TRUE(collector.streams(reader.tables()).empty());

  const auto uses = class_uses(first);
  EXPECT_EQ(uses, (std::vector<ClassUse>{
                      {1, 1, Seconds(100e-9)}, {2, 1, Seconds(100e-9)}, {3, 1, Seconds(30e-9)}}));
}

}  // namespace
}  // namespace negawatt::structure
