// SPDX-License-Identifier: Apache-2.0
#include "core/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace negawatt {
namespace {

/// Levenshtein's distance (1965), one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 64;  // no key is longer; keeps the work small
  if (name.size() > kLongest) return {};
  std::string_view best;
  std::size_t least = kLongest;
  for (const auto candidate : known) {
    const auto changes = distance(name, candidate);
    if (changes > std::max(name.size(), candidate.size()) / 3 || changes >= least) continue;
    least = changes;
    best = candidate;
  }
  return best;
}

}  // namespace negawatt
