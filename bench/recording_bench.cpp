// SPDX-License-Identifier: Apache-2.0
//
// What recording costs the program, per kernel: its class and lane looked up and the event encoded,
// from one thread and from several, until the recorder's blocks are full and while they are not.
// And how fast a recording is read.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "inject/recorder.hpp"
#include "tests/kernel_stream.hpp"
#include "tests/recording_bytes.hpp"

namespace negawatt {
namespace {

const testing::KernelProgram kProgram = testing::training_program();

trace::KernelClass shape_of(std::uint32_t function) {
  return {0, {64, 32, 1}, {384, 1, 1}, 0, 230'000 + function, 168};
}

/// To a file that takes everything: what is measured is the caller's side.
void record_kernel(benchmark::State& state) {
  static inject::RecorderHandle recorder;
  if (state.thread_index() == 0) {
    recorder = inject::Recorder::open("/dev/null", trace::RecordingHeader{}).value();
  }
  testing::KernelClock clock(1);
  std::size_t place = 0;
  for (auto _ : state) {
    const std::uint32_t function = kProgram.iteration[place];
    place = place + 1 == kProgram.iteration.size() ? 0 : place + 1;
    trace::KernelRun run = clock.run(kProgram.duration_ns[function]);
    run.kernel_class = recorder->kernel_class(kProgram.names[function], shape_of(function));
    run.lane = recorder->lane({0, 1, 7});
    recorder->add(run);
  }
  if (state.thread_index() == 0) {
    const auto tally = recorder->tally();
    state.counters["dropped_pct"] = 100.0 * static_cast<double>(tally.dropped) /
                                    static_cast<double>(tally.events + tally.dropped);
    recorder.reset();
  }
}

void read_recording(benchmark::State& state) {
  testing::RecordingBytes file(trace::RecordingHeader{});
  file.add(trace::Lane{0, 1, 7});
  file.add(trace::KernelClass{});
  testing::KernelClock clock(1);
  for (int i = 0; i < 1'000'000; ++i) {
    trace::KernelRun run = clock.run(30'000);
    run.kernel_class = run.lane = 1;
    file.add(run);
  }
  file.end_block();
  for (auto _ : state) {
    auto reader = testing::reader_of(file.bytes());
    while (const auto event = reader.next().value()) benchmark::DoNotOptimize(event);
  }
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}

BENCHMARK(record_kernel)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(read_recording)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace negawatt
