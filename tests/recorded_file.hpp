// SPDX-License-Identifier: Apache-2.0
//
// A recorder on a file of its own, and what a reader finds there afterwards.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "inject/recorder.hpp"
#include "tests/recording_bytes.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::testing {

inline const trace::RecordingHeader kSomeHeader{
    42, 41, trace::CommonClock::monotonic, {1}, 1, "node7", "b00t", {"train"}};

/// Limits under which nothing happens by itself.
inline inject::RecorderLimits unhurried() {
  return {.flush = Seconds(1000), .patience = Seconds(1000)};
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline WholeRecording recorded(const std::string& path) {
  const std::string bytes = bytes_of(path);
  return whole(reader_of(bytes));
}

template <class E>
std::vector<E> of_kind(const WholeRecording& recording) {
  std::vector<E> found;
  for (const auto& event : recording.events) {
    if (const auto* one = std::get_if<E>(&event)) found.push_back(*one);
  }
  return found;
}

/// Samples that zstd cannot make smaller: about 12 bytes each.
class Noise {
 public:
  [[nodiscard]] trace::Sample next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return {{++now_}, 0, state_};
  }

 private:
  std::uint64_t state_ = 1;
  std::int64_t now_ = 0;
};

}  // namespace negawatt::testing
