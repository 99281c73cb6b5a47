// SPDX-License-Identifier: Apache-2.0
//
// The KV memory of an instance in blocks, as paged engines give it out (Kwon et al., "Efficient
// memory management for LLM serving with PagedAttention", SOSP 2023), for many sequences at once.
// Every decode step adds a token to every decoding sequence; a sequence takes a block when its last
// one is full. Its tokens and the number of steps then differ by a constant, so sequences are
// counted by that difference modulo the block: any number of steps costs O(block size), not O(
// sequences). Amounts are blocks and tokens; our own misuse ends the process.
#pragma once

#include <cstdint>
#include <vector>

namespace negawatt::sim {

class KvBlocks {
 public:
  KvBlocks(std::uint64_t blocks, std::uint32_t block_tokens)
      : capacity_(blocks), block_(block_tokens), by_phase_(block_tokens) {}

  [[nodiscard]] std::uint64_t blocks_of(std::uint64_t tokens) const {
    return (tokens + block_ - 1) / block_;
  }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t free() const { return capacity_ - used_; }
  [[nodiscard]] std::uint32_t block_tokens() const { return block_; }

  /// Blocks of a sequence that does not decode.
  void take(std::uint64_t blocks) { used_ += blocks; }
  void give_back(std::uint64_t blocks) { used_ -= blocks; }

  /// A sequence whose blocks_of(tokens) are already taken decodes from now on.
  void begin_decoding(std::uint64_t tokens) {
    ++by_phase_[phase_of(tokens)];
    ++decoding_;
  }
  /// It decodes no more; it keeps its blocks_of(tokens), which are given back separately.
  void end_decoding(std::uint64_t tokens) {
    --by_phase_[phase_of(tokens)];
    --decoding_;
  }

  /// Blocks that the next `steps` decode steps take.
  [[nodiscard]] std::uint64_t taken_by(std::uint64_t steps) const;
  /// The most of the next `limit` decode steps for which there is memory.
  [[nodiscard]] std::uint64_t steps_that_fit(std::uint64_t limit) const;
  /// Every decoding sequence has `steps` tokens more.
  void advance(std::uint64_t steps) {
    used_ += taken_by(steps);
    steps_ += steps;
  }

 private:
  // A sequence needs a block in the step before which its tokens fill its blocks exactly.
  [[nodiscard]] std::uint32_t phase_of(std::uint64_t tokens) const {
    return static_cast<std::uint32_t>((tokens % block_ + block_ - steps_ % block_) % block_);
  }
  [[nodiscard]] std::uint32_t phase_that_takes() const {
    return static_cast<std::uint32_t>((block_ - steps_ % block_) % block_);
  }

  std::uint64_t capacity_;
  std::uint32_t block_;
  std::vector<std::uint32_t> by_phase_;  ///< decoding sequences by (tokens - steps) mod block
  std::uint64_t used_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t decoding_ = 0;
};

}  // namespace negawatt::sim
