// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/facts.hpp"

#include <utility>

#include "core/csv.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::calibrate {
namespace {

/// Forward are the embedding, the forward layers, and of the loss the logits and the softmax; the
/// kernels from here on compute gradients.
constexpr std::size_t kFirstGradient = 16;

Point point_of(const trace::KernelOption& option) {
  return {option.time.in_si(), option.energy.in_si()};
}

Result<std::vector<KernelFacts>> read_kernels(std::string_view bytes) {
  NW_TRY(const trace::KernelTable table, trace::parse_kernel_table(bytes, "kernels.csv"));
  std::vector<KernelFacts> kernels;
  for (const trace::Kernel& kernel : table.kernels) {
    KernelFacts facts;
    facts.name = kernel.name;
    facts.group = kernel.group;
    facts.calls = kernel.calls;
    facts.pass = kernels.size() < kFirstGradient ? 0 : 1;
    const trace::KernelOption* automatic = kernel.at({});
    if (automatic == nullptr)
      return failure(Code::invalid, "kernels.csv: " + kernel.name + " lacks the automatic pair");
    facts.automatic = facts.chosen = point_of(*automatic);
    facts.chosen_pair = kAutomatic;
    for (std::size_t pair = 0; pair < kAutomatic; ++pair) {
      if (const trace::KernelOption* option = kernel.at(clocks_of(pair))) {
        facts.chosen = point_of(*option);
        facts.chosen_pair = pair;
      }
    }
    kernels.push_back(std::move(facts));
  }
  return kernels;
}

Status read_extremes(std::string_view bytes, std::vector<KernelFacts>& kernels) {
  CsvReader csv(bytes, "extremes.csv");
  NW_CHECK(csv.read_header());
  constexpr std::array<std::string_view, 4> kNames = {"t_min_ms", "t_max_ms", "e_min_J", "e_max_J"};
  NW_TRY(const auto columns, csv.require(kNames));
  for (KernelFacts& kernel : kernels) {
    NW_TRY(const bool more, csv.next());
    if (!more) return failure(Code::invalid, "extremes.csv: no row for " + kernel.name);
    NW_TRY(const double least_ms, csv.positive(columns[0]));
    NW_TRY(const double most_ms, csv.positive(columns[1]));
    NW_TRY(kernel.least.energy, csv.positive(columns[2]));
    NW_TRY(kernel.most.energy, csv.positive(columns[3]));
    kernel.least.time = 1e-3 * least_ms;
    kernel.most.time = 1e-3 * most_ms;
  }
  return {};
}

Status read_passes(std::string_view bytes, Facts& facts) {
  NW_TRY(const trace::KernelTable table, trace::parse_kernel_table(bytes, "passes.csv"));
  if (table.kernels.size() != facts.pass_ratio.size())
    return failure(Code::invalid, "passes.csv: expected a forward and a backward pass");
  for (std::size_t pass = 0; pass < facts.pass_ratio.size(); ++pass) {
    const trace::KernelOption* automatic = table.kernels[pass].at({});
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const trace::KernelOption* option = table.kernels[pass].at(clocks_of(pair));
      if (option == nullptr || automatic == nullptr)
        return failure(Code::invalid, "passes.csv: no row at " + to_string(clocks_of(pair)));
      facts.pass_ratio[pass][pair] = {option->time / automatic->time,
                                      option->energy / automatic->energy};
    }
  }
  return {};
}

bool turns_left(Point a, Point b, Point c) {
  return (b.time - a.time) * (c.energy - a.energy) > (c.time - a.time) * (b.energy - a.energy);
}

Result<std::vector<Point>> read_relaxed(std::string_view bytes) {
  CsvReader csv(bytes, "relaxed.csv");
  NW_CHECK(csv.read_header());
  constexpr std::array<std::string_view, 2> kNames = {"tolerated_time_increase_pct",
                                                      "global_denergy_pct"};
  NW_TRY(const auto columns, csv.require(kNames));
  std::vector<Point> hull;
  for (;;) {
    NW_TRY(const bool more, csv.next());
    if (!more) return hull;
    NW_TRY(const double slower_pct, csv.number(columns[0]));
    NW_TRY(const double change_pct, csv.number(columns[1]));
    const Point next = {1.0 + slower_pct / 100.0, 1.0 + change_pct / 100.0};
    while (hull.size() > 1 && !turns_left(hull[hull.size() - 2], hull.back(), next))
      hull.pop_back();
    hull.push_back(next);
  }
}

}  // namespace

trace::ClockPair clocks_of(std::size_t pair) {
  const auto clock = [](std::uint32_t mhz) {
    return mhz == 0 ? trace::Clock::automatic() : trace::Clock::locked_mhz(mhz);
  };
  return {clock(kCores[core_of(pair)]), clock(kMemories[memory_of(pair)])};
}

Point automatic_iteration(const Facts& facts) {
  const Point forward = automatic_pass(facts, 0), backward = automatic_pass(facts, 1);
  return {forward.time + backward.time, forward.energy + backward.energy};
}

Point automatic_pass(const Facts& facts, std::size_t pass) {
  Point total;
  for (const KernelFacts& kernel : facts.kernels) {
    if (kernel.pass != pass) continue;
    total.time += kernel.calls * kernel.automatic.time;
    total.energy += kernel.calls * kernel.automatic.energy;
  }
  return total;
}

Result<Facts> read_facts(const FactFiles& files) {
  Facts facts;
  NW_TRY(facts.kernels, read_kernels(files.kernels));
  NW_CHECK(read_extremes(files.extremes, facts.kernels));
  NW_CHECK(read_passes(files.passes, facts));
  NW_TRY(facts.relaxed, read_relaxed(files.relaxed));
  return facts;
}

}  // namespace negawatt::calibrate
