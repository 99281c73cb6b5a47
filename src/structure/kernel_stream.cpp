// SPDX-License-Identifier: Apache-2.0
#include "structure/kernel_stream.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>

namespace negawatt::structure {

void KernelCollector::add(const trace::Event& event, const trace::RecordingTables& tables) {
  const auto* run = std::get_if<trace::KernelRun>(&event);
  if (run != nullptr) by_device_[tables.lanes()[run->lane].device].push_back(*run);
}

std::vector<KernelStream> KernelCollector::streams(const trace::RecordingTables& tables) {
  std::vector<KernelStream> streams;
  for (auto& [device, runs] : std::exchange(by_device_, {})) {
    KernelStream stream{device, std::move(runs), {}, {}};
    std::ranges::stable_sort(stream.runs, {}, &trace::KernelRun::start);
    std::unordered_map<std::uint32_t, std::uint32_t> functions;  // by name
    for (const trace::KernelRun& run : stream.runs) {
      const std::uint32_t name = tables.classes()[run.kernel_class].name;
      const auto [function, is_new] =
          functions.try_emplace(name, static_cast<std::uint32_t>(functions.size()));
      if (is_new) stream.names.push_back(name);
      stream.functions.push_back(function->second);
    }
    streams.push_back(std::move(stream));
  }
  return streams;
}

std::vector<ClassUse> class_uses(const KernelStream& stream) {
  std::unordered_map<std::uint32_t, ClassUse> by_class;
  for (const trace::KernelRun& run : stream.runs) {
    ClassUse& use = by_class[run.kernel_class];
    use.kernel_class = run.kernel_class;
    ++use.runs;
    use.time += run.end - run.start;
  }
  std::vector<ClassUse> uses;
  uses.reserve(by_class.size());
  for (const auto& [kernel_class, use] : by_class) uses.push_back(use);
  std::ranges::sort(uses, [](const ClassUse& a, const ClassUse& b) {
    return std::pair(b.time, a.kernel_class) < std::pair(a.time, b.kernel_class);
  });
  return uses;
}

}  // namespace negawatt::structure
