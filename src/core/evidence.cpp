// SPDX-License-Identifier: Apache-2.0
#include "core/evidence.hpp"

#include <algorithm>
#include <array>

namespace negawatt {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"measured", "modelled", "simulated",
                                                    "published", "unstated"};

}  // namespace

std::string_view name_of(EvidenceKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<EvidenceKind> evidence_kind_named(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<EvidenceKind>(found - kNames.begin());
}

}  // namespace negawatt
