// SPDX-License-Identifier: Apache-2.0
//
// Where a time, power or energy comes from. It travels with every number that leaves the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace negawatt {

class CsvReader;

/// Ordered from strong to weak: a total is as weak as its weakest part.
enum class EvidenceKind : unsigned char { measured, modelled, simulated, published, unstated };

struct Evidence {
  EvidenceKind kind = EvidenceKind::unstated;
  /// Which sensor and window, which model, which publication. Empty when unstated.
  std::string source;
};

[[nodiscard]] std::string_view name_of(EvidenceKind kind);
[[nodiscard]] std::optional<EvidenceKind> evidence_kind_named(std::string_view name);

/// What a file says of itself in the comments "# evidence: KIND" and "# source: TEXT" above its
/// header; `unstated` when it says nothing.
[[nodiscard]] Result<Evidence> evidence_in(const CsvReader& csv);

}  // namespace negawatt
