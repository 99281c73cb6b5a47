// SPDX-License-Identifier: Apache-2.0
//
// trace::RecordingReader on any bytes: what it gives is what stands in whole blocks, however it
// goes on behind them, and every id and time in it can be used. A damaged recording is not
// accepted.
#include "trace/recording_reader.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/text.hpp"
#include "fuzz/reader.hpp"
#include "trace/recording_merge.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.nwrec";
using Kind = trace::RecordingEnding::Kind;

struct Everything {
  std::vector<trace::Event> events;
  trace::RecordingEnding ending;
};

void require_usable(const trace::Event& event, const trace::RecordingTables& tables) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.start; }) require(one.end >= one.start, "no time is negative");
        if constexpr (requires { one.lane; }) {
          require(one.lane < tables.lanes().size(), "a lane is known");
        }
        if constexpr (requires { one.kernel_class; }) {
          require(one.kernel_class < tables.classes().size(), "a kernel's class is known");
          require(tables.classes()[one.kernel_class].name < tables.texts(), "a class has a name");
        }
        if constexpr (requires { one.sensor; }) {
          require(one.sensor < tables.sensors().size(), "a sensor is known");
        }
        if constexpr (requires { one.name; }) require(one.name < tables.texts(), "a name is known");
      },
      event);
  const auto at = trace::time_of(event).ns;
  require(at >= 0 && at <= trace::kLastMoment, "a moment lies within time");
}

Everything read(trace::RecordingReader reader) {
  Everything all;
  while (true) {
    const auto event = reader.next();
    require(event.has_value(), "bytes in memory can be read");
    if (!*event) break;
    require_usable(**event, reader.tables());
    all.events.push_back(**event);
  }
  require(reader.ending().has_value(), "a reader that is done knows how it ended");
  all.ending = *reader.ending();
  return all;
}

trace::RecordingReader opened(std::string_view bytes) {
  auto reader = trace::RecordingReader::open(trace::bytes_in_memory(bytes), kFile);
  require(reader.has_value(), "what was read once can be read again");
  return *std::move(reader);
}

void require_merges(std::string_view bytes, std::size_t events) {
  std::vector<trace::RecordingReader> files;
  files.push_back(opened(bytes));
  files.push_back(opened(bytes));
  trace::RecordingMerge merge(std::move(files), {.slack = Seconds(1e-3), .most_waiting = 100});
  std::optional<trace::Instant> last;
  std::size_t count = 0;
  std::size_t late = 0;
  while (const auto event = merge.next().value()) {
    if (last && event->at < *last) ++late;
    if (!last || event->at > *last) last = event->at;
    ++count;
  }
  require(count == 2 * events, "a merge loses nothing");
  require(late == merge.late(), "what comes late is counted");
}

}  // namespace

bool accepts(std::string_view bytes) {
  auto reader = trace::RecordingReader::open(trace::bytes_in_memory(bytes), kFile);
  if (!reader) return refused(reader.error(), kFile);
  const Everything all = read(*std::move(reader));
  const auto& ending = all.ending;
  require(ending.whole_bytes <= bytes.size(), "no more is read than is there");
  require((ending.kind == Kind::closed) == ending.message.empty(), "what is not closed says why");
  require(ending.message.empty() || ending.message.starts_with(kFile), "a message names the file");
  require(is_printable(ending.message), "a message is one printable line");

  const auto whole = read(opened(bytes.substr(0, ending.whole_bytes)));
  require(whole.events.size() == all.events.size(), "what is whole does not hang on what follows");
  require(whole.ending.kind == Kind::closed || whole.ending.kind == Kind::open,
          "whole blocks are whole");
  require_merges(bytes, all.events.size());
  return ending.kind != Kind::damaged;
}

}  // namespace negawatt::fuzz
