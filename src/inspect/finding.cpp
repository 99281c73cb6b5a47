// SPDX-License-Identifier: Apache-2.0
#include "inspect/finding.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace negawatt::inspect {
namespace {

/// The first action that goes with a finding of that state; empty: none.
std::string first_action(const Diagnosis& diagnosis, State state) {
  const auto asks_for_it = [state](const Finding& finding) {
    return finding.state == state && !finding.action.empty();
  };
  const auto found = std::ranges::find_if(diagnosis.machine, asks_for_it);
  if (found != diagnosis.machine.end()) {
    return fmt::format("{}: {}", found->subject, found->action);
  }
  for (const auto& gpu : diagnosis.gpus) {
    const auto on_gpu = std::ranges::find_if(gpu.findings, asks_for_it);
    if (on_gpu != gpu.findings.end()) {
      return fmt::format("GPU {}, {}: {}", gpu.display_index, on_gpu->subject, on_gpu->action);
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::good:
      return "good";
    case State::limited:
      return "limited";
    case State::missing:
      return "missing";
    case State::unknown:
      break;
  }
  return "unknown";
}

bool has_missing(const std::vector<Finding>& findings) {
  return std::ranges::find(findings, State::missing, &Finding::state) != findings.end();
}

bool works(const Diagnosis& diagnosis) {
  return !has_missing(diagnosis.machine) &&
         std::ranges::any_of(diagnosis.gpus,
                             [](const GpuFindings& gpu) { return !has_missing(gpu.findings); });
}

std::string next_step(const Diagnosis& diagnosis) {
  for (const State state : {State::missing, State::limited, State::unknown}) {
    if (auto action = first_action(diagnosis, state); !action.empty()) return action;
  }
  return "measure a kernel table: negawatt sweep";
}

}  // namespace negawatt::inspect
