// SPDX-License-Identifier: Apache-2.0
#include "plan/workload.hpp"

#include <algorithm>

namespace negawatt::plan {

Workload workload_of(std::span<const trace::Request> requests) {
  Workload workload;
  std::vector<trace::RequestSize> sizes;
  sizes.reserve(requests.size());
  for (const auto& request : requests)
    sizes.push_back({request.input_tokens, request.output_tokens});
  auto sorted = sizes;
  std::ranges::sort(sorted);
  for (const auto& size : sorted) {
    if (workload.groups.empty() || workload.groups.back().size != size)
      workload.groups.push_back({size, 0});
    ++workload.groups.back().requests;
  }
  workload.group_of.reserve(sizes.size());
  for (const auto& size : sizes)
    workload.group_of.push_back(static_cast<std::uint32_t>(
        std::ranges::lower_bound(workload.groups, size, {}, &SizeGroup::size) -
        workload.groups.begin()));
  return workload;
}

}  // namespace negawatt::plan
