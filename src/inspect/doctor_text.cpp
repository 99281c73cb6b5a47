// SPDX-License-Identifier: Apache-2.0
// The findings of doctor on a terminal.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "inspect/doctor.hpp"
#include "inspect/words.hpp"

namespace negawatt::inspect {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kTextWidth = kScreenWidth - kTextColumn;

/// Colour is an addition: the state is always there in words.
std::string coloured(State state, const std::string& word, bool colour) {
  if (!colour) return word;
  constexpr std::string_view kReset = "\033[0m";
  const std::string_view on = state == State::good      ? "\033[32m"
                              : state == State::missing ? "\033[1;31m"
                                                        : "\033[33m";
  return fmt::format("{}{}{}", on, word, kReset);
}

std::string bold(const std::string& line, bool colour) {
  return colour ? fmt::format("\033[1m{}\033[0m\n", line) : line + "\n";
}

void add(std::string& text, const Finding& finding, bool colour) {
  const std::string state =
      coloured(finding.state, fmt::format("{:<7}", name_of(finding.state)), colour);
  std::string front = fmt::format("  {}  {:<17}  ", state, cut(finding.subject, 17));
  const std::string indent(kTextColumn, ' ');
  for (const auto& line : wrapped(finding.found, kTextWidth)) {
    text += front + line + "\n";
    front = indent;
  }
  if (finding.action.empty()) return;
  front += "-> ";
  for (const auto& line : wrapped(finding.action, kTextWidth - 3)) {
    text += front + line + "\n";
    front = indent + "   ";
  }
}

/// Whether there is nothing new in `gpu` but its numbers.
bool is_like(const GpuFindings& gpu, const GpuFindings& first) {
  if (gpu.name != first.name || gpu.findings.size() != first.findings.size()) return false;
  for (std::size_t i = 0; i < gpu.findings.size(); ++i) {
    const Finding& a = gpu.findings[i];
    const Finding& b = first.findings[i];
    if (a.subject != b.subject || a.state != b.state || a.action != b.action) return false;
  }
  return !gpu.uuid.empty();
}

std::string title_of(const GpuFindings& gpu) {
  if (gpu.uuid.empty()) return fmt::format("GPU {}", gpu.display_index);
  return cut(fmt::format("GPU {}  {}  {}", gpu.display_index, gpu.name, gpu.uuid), kScreenWidth);
}

void add_gpus(std::string& text, const std::vector<GpuFindings>& gpus, bool colour) {
  for (const auto& gpu : gpus) {
    text += "\n" + bold(title_of(gpu), colour);
    if (&gpu != &gpus.front() && is_like(gpu, gpus.front())) {
      text += fmt::format("  as GPU {}, with its own numbers (--json has them)\n",
                          gpus.front().display_index);
      continue;
    }
    for (const auto& finding : gpu.findings) add(text, finding, colour);
  }
}

}  // namespace

std::string doctor_text(const Diagnosis& diagnosis, bool colour) {
  std::string text = bold("This machine", colour);
  for (const auto& finding : diagnosis.machine) add(text, finding, colour);
  add_gpus(text, diagnosis.gpus, colour);
  text += "\n" + bold(works(diagnosis) ? "Planning, measuring and running work here."
                                       : "Something that measuring and running need is missing.",
                      colour);
  std::string front = "Next: ";
  for (const auto& line : wrapped(next_step(diagnosis), kScreenWidth - front.size())) {
    text += front + line + "\n";
    front = std::string(front.size(), ' ');
  }
  return text;
}

}  // namespace negawatt::inspect
