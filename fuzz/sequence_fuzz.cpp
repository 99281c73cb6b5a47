// SPDX-License-Identifier: Apache-2.0
//
// trace::parse_sequence on any bytes, against a fixed table: an accepted sequence calls every
// kernel as often as the table says.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "fuzz/reader.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.csv";

trace::Kernel kernel(std::string_view name, std::uint32_t calls) {
  return {std::string(name), "group", calls, {{.time = Seconds(1), .energy = Joules(1)}}};
}

const trace::KernelTable& table() {
  static const trace::KernelTable kTable{
      .kernels = {kernel("gemm", 3), kernel("a,b", 1), kernel("say \"hi\"", 2)},
      .name = "table.csv"};
  return kTable;
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto sequence = trace::parse_sequence(bytes, kFile, table());
  const auto again = trace::parse_sequence(bytes, kFile, table());
  require_same_outcome(sequence, again);
  if (!sequence) return refused(sequence.error(), kFile);

  require(*sequence == *again, "the same bytes have the same sequence");
  std::size_t calls = 0;
  for (std::uint32_t k = 0; k < table().kernels.size(); ++k) {
    require(std::ranges::count(*sequence, k) == table().kernels[k].calls,
            "a kernel appears as often as the table says");
    calls += table().kernels[k].calls;
  }
  require(sequence->size() == calls, "nothing but the table's kernels appears");
  return true;
}

}  // namespace negawatt::fuzz
