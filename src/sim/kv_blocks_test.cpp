// SPDX-License-Identifier: Apache-2.0
//
// Blocks of many sequences at once against each sequence by itself.
#include "sim/kv_blocks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

namespace negawatt::sim {
namespace {

std::uint64_t sum_of_blocks(const std::vector<std::uint64_t>& tokens, std::uint64_t more,
                            std::uint64_t block) {
  std::uint64_t sum = 0;
  for (const auto held : tokens) sum += (held + more + block - 1) / block;
  return sum;
}

RC_GTEST_PROP(KvBlocks, OfAnyNumberOfStepsAreThoseOfEachSequenceByItself, ()) {
  const auto block = *rc::gen::inRange<std::uint32_t>(1, 20);
  KvBlocks kv(*rc::gen::inRange<std::uint64_t>(1, 400), block);
  std::vector<std::uint64_t> tokens;
  const auto joining =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(1, 60));
  for (const auto held : joining) {
    if (kv.blocks_of(held) > kv.free()) break;
    kv.take(kv.blocks_of(held));
    kv.begin_decoding(held);
    tokens.push_back(held);
    const auto limit = *rc::gen::inRange<std::uint64_t>(0, 50);
    const auto fit = kv.steps_that_fit(limit);
    RC_ASSERT(fit <= limit);
    RC_ASSERT(sum_of_blocks(tokens, fit, block) <= kv.capacity());
    RC_ASSERT(fit == limit || sum_of_blocks(tokens, fit + 1, block) > kv.capacity());
    RC_ASSERT(kv.used() + kv.taken_by(fit) == sum_of_blocks(tokens, fit, block));
    kv.advance(fit);
    for (auto& each : tokens) each += fit;
    RC_ASSERT(kv.used() == sum_of_blocks(tokens, 0, block));
    if (tokens.size() % 3 == 0) {  // one leaves
      kv.end_decoding(tokens.front());
      kv.give_back(kv.blocks_of(tokens.front()));
      tokens.erase(tokens.begin());
    }
  }
  RC_ASSERT(kv.used() == sum_of_blocks(tokens, 0, block));
}

}  // namespace
}  // namespace negawatt::sim
