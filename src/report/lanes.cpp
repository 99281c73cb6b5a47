// SPDX-License-Identifier: Apache-2.0
#include "report/lanes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "report/iteration.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

/// What one lane shows: its labels, and which of them holds during an invocation.
struct Subject {
  std::string name;
  std::vector<std::string> labels;
  std::function<std::uint32_t(const Invocation&)> label_of;
};

Subject groups_of(const trace::KernelTable& table) {
  Subject subject{.name = "group"};
  std::unordered_map<std::string, std::uint32_t> index;
  std::vector<std::uint32_t> group_of_kernel;
  for (const auto& kernel : table.kernels) {
    const auto next = static_cast<std::uint32_t>(subject.labels.size());
    const auto [found, is_new] = index.emplace(kernel.group, next);
    if (is_new) subject.labels.push_back(kernel.group);
    group_of_kernel.push_back(found->second);
  }
  subject.label_of = [group_of_kernel](const Invocation& i) { return group_of_kernel[i.kernel]; };
  return subject;
}

Subject kernels_of(const trace::KernelTable& table) {
  Subject subject{.name = "kernel"};
  for (const auto& kernel : table.kernels) subject.labels.push_back(kernel.name);
  subject.label_of = [](const Invocation& i) { return i.kernel; };
  return subject;
}

/// Clocks from auto over the lowest to the highest frequency.
Subject clocks_of(const plan::ClockPlan& plan, std::string name,
                  trace::Clock trace::ClockPair::* d) {
  Subject subject{.name = std::move(name)};
  std::set<trace::Clock> used;
  for (const auto& segment : plan.segments) used.insert(segment.clocks.*d);
  const std::vector<trace::Clock> clocks(used.begin(), used.end());
  for (const auto clock : clocks) subject.labels.push_back(clock_name(clock));
  subject.label_of = [clocks, d](const Invocation& i) {
    const auto at = std::ranges::lower_bound(clocks, i.option->clocks.*d);
    return static_cast<std::uint32_t>(at - clocks.begin());
  };
  return subject;
}

/// Builds a lane of exact runs.
class RunRecorder {
 public:
  void add(std::uint32_t label, Seconds end) {
    if (!runs_.empty() && runs_.back().label == label)
      runs_.back().end = end;
    else
      runs_.push_back({end, label});
  }
  std::vector<Lane::Run> finish() && { return std::move(runs_); }

 private:
  std::vector<Lane::Run> runs_;
};

/// Builds a lane of equal slices. Each shows one of the labels that hold during it: the one whose
/// shown time lags most behind its true time (error diffusion, as in dithering). Showing the
/// longest one instead would hide every label that holds for less than half of each slice.
class SliceRecorder {
 public:
  SliceRecorder(std::size_t slices, Seconds total, std::size_t labels)
      : total_(total), slices_(slices), unshown_(labels) {}

  void add(std::uint32_t label, Seconds end) {
    while (slice_ < slices_ && end >= slice_end()) {
      hold(label, slice_end());
      close_slice();
    }
    hold(label, end);
  }
  std::vector<Lane::Run> finish() && {
    // Rounding of the total may leave the last slice open.
    if (slice_ < slices_) close_slice();
    return std::move(recorder_).finish();
  }

 private:
  [[nodiscard]] Seconds slice_end() const {
    const auto passed = static_cast<double>(slice_ + 1) / static_cast<double>(slices_);
    return passed * total_;
  }
  void hold(std::uint32_t label, Seconds until) {
    if (until <= at_) return;
    if (touched_.empty() || touched_.back() != label) touched_.push_back(label);
    unshown_[label] += until - at_;
    at_ = until;
  }
  void close_slice() {
    if (!touched_.empty()) {
      const auto chosen =
          *std::ranges::max_element(touched_, {}, [this](auto label) { return unshown_[label]; });
      unshown_[chosen] -= total_ / static_cast<double>(slices_);
      recorder_.add(chosen, slice_end());
    }
    touched_.clear();
    ++slice_;
  }

  Seconds total_;
  std::size_t slices_;
  std::size_t slice_ = 0;
  Seconds at_;
  std::vector<Seconds> unshown_;        // by label: true minus shown time so far
  std::vector<std::uint32_t> touched_;  // labels in the open slice
  RunRecorder recorder_;
};

template <class Recorder>
std::vector<Lane::Run> record(const ClockReport& report, const Subject& subject,
                              Recorder recorder) {
  for_each_invocation(report, [&](const Invocation& invocation) {
    recorder.add(subject.label_of(invocation), invocation.start + invocation.option->time);
  });
  return std::move(recorder).finish();
}

std::uint64_t count_runs(const ClockReport& report, const Subject& subject) {
  std::uint64_t runs = 0;
  std::uint32_t last = 0;
  for_each_invocation(report, [&](const Invocation& invocation) {
    const auto label = subject.label_of(invocation);
    if (runs == 0 || label != last) ++runs;
    last = label;
  });
  return runs;
}

}  // namespace

Iteration iteration_lanes(const ClockReport& report, std::size_t most) {
  const std::array subjects = {groups_of(report.table), kernels_of(report.table),
                               clocks_of(report.plan, "core clock", &trace::ClockPair::core),
                               clocks_of(report.plan, "memory clock", &trace::ClockPair::memory)};
  Iteration iteration{.time = for_each_invocation(report, [](const Invocation&) {})};
  for (const auto& subject : subjects) {
    Lane lane{.name = subject.name, .labels = subject.labels};
    lane.all = count_runs(report, subject);
    lane.sliced = lane.all > most;
    lane.runs = lane.sliced ? record(report, subject,
                                     SliceRecorder(most, iteration.time, lane.labels.size()))
                            : record(report, subject, RunRecorder());
    iteration.lanes.push_back(std::move(lane));
  }
  return iteration;
}

}  // namespace negawatt::report
