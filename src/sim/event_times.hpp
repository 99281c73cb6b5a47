// SPDX-License-Identifier: Apache-2.0
//
// When something happens next at each of a fixed number of places, and at which of them first: a
// tournament tree (Knuth, The Art of Computer Programming 3, 5.4.1). Of equal times the lower place
// wins. Times in seconds; infinity: never.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace negawatt::sim {

class EventTimes {
 public:
  explicit EventTimes(std::size_t places)
      : leaves_(std::bit_ceil(places)),
        times_(leaves_, std::numeric_limits<double>::infinity()),
        winners_(2 * leaves_) {
    for (std::size_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = static_cast<std::uint32_t>(i);
    for (std::size_t node = leaves_ - 1; node > 0; --node) play(node);
  }

  void set(std::size_t place, double time) {
    times_[place] = time;
    for (std::size_t node = (leaves_ + place) / 2; node > 0; node /= 2) play(node);
  }
  [[nodiscard]] std::size_t first() const { return leaves_ == 1 ? 0 : winners_[1]; }
  [[nodiscard]] double first_time() const { return times_[first()]; }

 private:
  void play(std::size_t node) {
    const auto left = winners_[2 * node];
    const auto right = winners_[2 * node + 1];
    winners_[node] = times_[right] < times_[left] ? right : left;
  }

  std::size_t leaves_;
  std::vector<double> times_;
  std::vector<std::uint32_t> winners_;  ///< of each inner node; the leaves from leaves_ on
};

}  // namespace negawatt::sim
