// SPDX-License-Identifier: Apache-2.0
//
// Requests by size: traces have many requests of the same size, and an offline assignment depends
// on nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/request.hpp"
#include "trace/system_table.hpp"

namespace negawatt::plan {

struct SizeGroup {
  trace::RequestSize size;
  std::uint64_t requests = 0;
};

struct Workload {
  std::vector<SizeGroup> groups;        ///< sorted by size, no size twice
  /// Of each request, in order of arrival. Empty: only the sizes are known, as of a histogram.
  std::vector<std::uint32_t> group_of;
};

[[nodiscard]] Workload workload_of(std::span<const trace::Request> requests);

}  // namespace negawatt::plan
