// SPDX-License-Identifier: Apache-2.0
//
// trace::parse_kernel_table on any bytes: an accepted table is one that could have been measured.
#include "trace/kernel_table.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "core/text.hpp"
#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.csv";
// Longer iterations are right, and only cost time here.
constexpr std::size_t kMostInvocations = 10'000;

void check_options(const trace::Kernel& kernel, bool has_deviations) {
  require(!kernel.options.empty(), "a kernel has an option");
  for (const auto& option : kernel.options) {
    require_positive(option.time, option.energy);
    require(option.time_sd >= Seconds(0) && option.time_sd.is_finite() &&
                option.energy_sd >= Joules(0) && option.energy_sd.is_finite(),
            "a deviation is finite and not negative");
    require(has_deviations || (option.time_sd == Seconds(0) && option.energy_sd == Joules(0)),
            "there are no deviations when the file has none");
    require(kernel.at(option.clocks) == &option, "an option is found at its clocks");
  }
  const auto not_increasing = [](const trace::KernelOption& a, const trace::KernelOption& b) {
    return a.clocks >= b.clocks;
  };
  require(std::ranges::adjacent_find(kernel.options, not_increasing) == kernel.options.end(),
          "options are sorted by clock pair, and no pair is there twice");
}

void check_sequence(const trace::KernelTable& table) {
  std::size_t calls = 0;
  for (const auto& kernel : table.kernels) calls += kernel.calls;
  if (calls > kMostInvocations) return;
  const auto sequence = trace::sequence_in_table_order(table);
  require(sequence && sequence->size() == calls, "a sequence has every call");
  require(std::ranges::is_sorted(*sequence) && sequence->back() + 1 == table.kernels.size(),
          "a sequence in table order goes through the table");
}

bool same(const trace::KernelOption& a, const trace::KernelOption& b) {
  return a.clocks == b.clocks && a.time == b.time && a.energy == b.energy &&
         a.time_sd == b.time_sd && a.energy_sd == b.energy_sd;
}

bool same(const trace::Kernel& a, const trace::Kernel& b) {
  return a.name == b.name && a.group == b.group && a.calls == b.calls &&
         std::ranges::equal(a.options, b.options,
                            [](const auto& x, const auto& y) { return same(x, y); });
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto table = trace::parse_kernel_table(bytes, kFile);
  const auto again = trace::parse_kernel_table(bytes, kFile);
  require_same_outcome(table, again);
  if (!table) return refused(table.error(), kFile);

  require(!table->kernels.empty(), "a table has a kernel");
  require(is_printable(table->evidence.source), "a source is printable");
  std::set<std::string_view> names;
  for (const auto& kernel : table->kernels) {
    require(!kernel.name.empty() && is_printable(kernel.name) && is_printable(kernel.group),
            "a kernel has a printable name and group");
    require(names.insert(kernel.name).second, "no kernel is there twice");
    require(kernel.calls > 0, "a kernel is called");
    check_options(kernel, table->has_deviations);
  }
  check_sequence(*table);
  require(std::ranges::equal(table->kernels, again->kernels,
                             [](const auto& a, const auto& b) { return same(a, b); }),
          "the same bytes have the same table");
  return true;
}

}  // namespace negawatt::fuzz
