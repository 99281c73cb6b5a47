// SPDX-License-Identifier: Apache-2.0
#include "core/evidence.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/csv.hpp"
#include "core/text.hpp"

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

Result<Evidence> evidence_in(const CsvReader& csv) {
  Evidence evidence{.source = std::string(csv.comment("source"))};
  if (!is_printable(evidence.source))
    return csv.error(fmt::format("source is '{}', expected UTF-8 text without control characters",
                                 printable(evidence.source)));
  const auto kind = csv.comment("evidence");
  if (kind.empty()) return evidence;
  const auto known = evidence_kind_named(kind);
  if (!known)
    return csv.error(fmt::format(
        "evidence is '{}', expected measured, modelled, simulated or published", printable(kind)));
  evidence.kind = *known;
  return evidence;
}

}  // namespace negawatt
