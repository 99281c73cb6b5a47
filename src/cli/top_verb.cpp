// SPDX-License-Identifier: Apache-2.0
//
// negawatt top: what every GPU does now, once or again and again.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cli/files.hpp"
#include "cli/screen.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/driver.hpp"
#include "inspect/top.hpp"
#include "lease/client.hpp"

namespace negawatt::cli {
namespace {

// How long a look may wait for a GPU: long enough for a slow driver, and a part of the interval.
constexpr Seconds kShortest{0.5};
constexpr Seconds kLongest{2};

using Clock = std::chrono::steady_clock;

std::string page(const inspect::Snapshot& snapshot, bool json) {
  if (json) return inspect::top_json(snapshot) + "\n";
  std::string text;
  for (const auto& line : inspect::top_lines(snapshot)) text += line + "\n";
  return text;
}

Seconds since(Clock::time_point start) {
  return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

/// JSON goes below each other wherever it is shown; text is redrawn on a terminal.
Status show(const inspect::Snapshot& snapshot, bool json, Screen& screen) {
  return json ? write_output("-", page(snapshot, true)) : screen.show(inspect::top_lines(snapshot));
}

Status show_again_and_again(inspect::Watch& watch, const TopArguments& arguments) {
  const Seconds interval(arguments.interval_s);
  Screen screen(arguments.json ? Screen::Kind::printed : Screen::Kind::redrawn);
  while (true) {
    const auto start = Clock::now();
    const auto snapshot = watch.look();
    auto woken = Screen::Woken::resized;
    while (woken == Screen::Woken::resized) {
      NW_CHECK(show(snapshot, arguments.json, screen));
      woken = screen.wait(std::max(Seconds(0), interval - since(start)));
    }
    if (woken == Screen::Woken::ended) return {};
  }
}

}  // namespace

Status run_top(const TopArguments& arguments) {
  const Seconds interval(arguments.interval_s);
  NW_TRY(auto watch,
         inspect::Watch::open(
             {.library = gpu::default_library(),
              .socket = lease::default_socket(),
              .patience = arguments.once ? kLongest : std::clamp(interval, kShortest, kLongest)}));
  if (arguments.once) return write_output("-", page(watch.look(), arguments.json));
  return show_again_and_again(watch, arguments);
}

}  // namespace negawatt::cli
