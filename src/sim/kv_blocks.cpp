// SPDX-License-Identifier: Apache-2.0
#include "sim/kv_blocks.hpp"

#include <algorithm>

namespace negawatt::sim {

std::uint64_t KvBlocks::taken_by(std::uint64_t steps) const {
  std::uint64_t taken = steps / block_ * decoding_;
  std::uint32_t phase = phase_that_takes();
  for (std::uint64_t i = steps % block_; i > 0; --i) {
    taken += by_phase_[phase];
    phase = phase == 0 ? block_ - 1 : phase - 1;
  }
  return taken;
}

std::uint64_t KvBlocks::steps_that_fit(std::uint64_t limit) const {
  // Any run of steps takes at most this much: what mostly is true, and then the search is over.
  if (decoding_ == 0 || (limit / block_ + 1) * decoding_ <= free()) return limit;
  const std::uint64_t rounds = free() / decoding_;
  std::uint64_t left = free() % decoding_;
  std::uint64_t fit = rounds * block_;
  for (std::uint32_t phase = phase_that_takes(); by_phase_[phase] <= left;
       phase = phase == 0 ? block_ - 1 : phase - 1) {
    left -= by_phase_[phase];
    ++fit;  // ends within a round: a whole one would take decoding_ > left
  }
  return std::min(fit, limit);
}

}  // namespace negawatt::sim
