// SPDX-License-Identifier: Apache-2.0
#include "gpusim/workload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/text.hpp"
#include "gpusim/text_file.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::gpusim {
namespace {

Result<Workload> workload_of_demands(const GpuModel& model) {
  if (model.kernels.empty())
    return failure(Code::invalid, fmt::format("no kernel table is given and the description of {} "
                                              "has no kernels",
                                              model.identity.name));
  Workload workload;
  for (const auto& demand : model.kernels) {
    NW_TRY(auto surface, surface_of_demand(model, demand));
    const auto kernel = static_cast<std::uint32_t>(workload.kernels.size());
    workload.kernels.push_back({demand.name, demand.group, demand.calls, surface});
    workload.iteration.insert(workload.iteration.end(), demand.calls, {.kernel = kernel});
  }
  return workload;
}

Result<trace::Sequence> order_of(const trace::KernelTable& table, const std::string& path) {
  if (path.empty()) return trace::sequence_in_table_order(table);
  NW_TRY(const auto bytes, read_text_file(path));
  return trace::parse_sequence(bytes, path, table);
}

}  // namespace

std::size_t Workload::find(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::find(kernels, name, &WorkloadKernel::name) -
                                  kernels.begin());
}

Result<Workload> load_workload(const GpuModel& model, const WorkloadFiles& files) {
  if (files.table.empty()) return workload_of_demands(model);
  NW_TRY(const auto bytes, read_text_file(files.table));
  NW_TRY(const auto kernels, trace::parse_kernel_table(bytes, files.table));
  NW_TRY(const auto order, order_of(kernels, files.sequence));
  Workload workload;
  for (const auto& kernel : kernels.kernels) {
    NW_TRY(auto surface, surface_of_table(model, kernel));
    workload.kernels.push_back({kernel.name, kernel.group, kernel.calls, surface});
  }
  for (const auto kernel : order) workload.iteration.push_back({.kernel = kernel});
  return workload;
}

Result<Workload> only_kernel(Workload workload, std::string_view name, std::uint64_t calls) {
  const auto kernel = workload.find(name);
  if (kernel == workload.kernels.size())
    return failure(Code::invalid, fmt::format("there is no kernel '{}'", printable(name)));
  workload.iteration = {{.kernel = static_cast<std::uint32_t>(kernel), .calls = calls}};
  return workload;
}

}  // namespace negawatt::gpusim
