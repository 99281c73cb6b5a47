// SPDX-License-Identifier: Apache-2.0
#include "gpu/journal_records.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <system_error>
#include <variant>

#include "core/crc32.hpp"

namespace negawatt::gpu {
namespace {

constexpr std::string_view kHeader = "negawatt-journal 2\n";
constexpr std::string_view kHeaderBefore = "negawatt-journal 1\n";
static_assert(kHeader.size() == kHeaderBefore.size());
constexpr std::size_t kChecksumDigits = 8;
constexpr std::size_t kLongestId = 95;
constexpr std::array<std::string_view, kKnobs.size()> kKnobWords = {"core", "memory", "power"};

std::string_view word_of(Knob knob) { return kKnobWords[static_cast<std::size_t>(knob)]; }

std::optional<Knob> knob_named(std::string_view word) {
  const auto found = std::ranges::find(kKnobWords, word);
  if (found == kKnobWords.end()) return std::nullopt;
  return static_cast<Knob>(found - kKnobWords.begin());
}

std::string range_text(const std::optional<ClockRange>& range) {
  return range ? fmt::format("{} {}", range->least().count, range->most().count) : "none";
}

std::string setting_text(const Setting& setting) {
  struct State {
    std::string operator()(const CoreLock& lock) const { return range_text(lock.range); }
    std::string operator()(const MemoryLock& lock) const { return range_text(lock.range); }
    std::string operator()(const PowerLimit& power) const {
      return fmt::format("{}", power.limit.count);
    }
  };
  return fmt::format("{} {}", word_of(knob_of(setting)), std::visit(State{}, setting));
}

std::string with_checksum(std::string_view body) {
  return fmt::format("{} {:08x}\n", body, crc32(body));
}

std::vector<std::string_view> words_of(std::string_view body) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t blank = body.find(' ');
    words.push_back(body.substr(0, blank));
    if (blank == std::string_view::npos) return words;
    body.remove_prefix(blank + 1);
  }
}

std::optional<std::uint32_t> number_in(std::string_view word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// None for what is no range; the inner none is "none".
std::optional<std::optional<ClockRange>> range_in(std::span<const std::string_view> words) {
  if (words.size() == 1 && words[0] == "none") return std::optional<ClockRange>();
  if (words.size() != 2) return std::nullopt;
  const auto least = number_in(words[0]);
  const auto most = number_in(words[1]);
  if (!least || !most || *least > *most) return std::nullopt;
  return ClockRange::between({*least}, {*most});
}

std::optional<Setting> parse_setting(std::span<const std::string_view> words) {
  const auto knob = knob_named(words.front());
  const auto state = words.subspan(1);
  if (!knob) return std::nullopt;
  if (*knob == Knob::power_limit) {
    const auto limit = state.size() == 1 ? number_in(state[0]) : std::nullopt;
    return limit ? std::optional<Setting>(PowerLimit{{*limit}}) : std::nullopt;
  }
  const auto range = range_in(state);
  if (!range) return std::nullopt;
  if (*knob == Knob::core_lock) return CoreLock{*range};
  return MemoryLock{*range};
}

/// The body of a line whose checksum is right.
std::optional<std::string_view> body_of(std::string_view line) {
  if (line.size() < kChecksumDigits + 1) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - kChecksumDigits - 1);
  if (line.substr(body.size()) != fmt::format(" {:08x}", crc32(body))) return std::nullopt;
  return body;
}

/// False when the line is no record.
bool take_record(std::string_view line, Outstanding& outstanding) {
  const auto body = body_of(line);
  if (!body) return false;
  const auto words = words_of(*body);
  if (words.size() < 3 || !is_journal_id(words[1])) return false;
  const GpuId gpu{std::string(words[1])};
  if (words[0] == "save") {
    const auto setting = parse_setting(std::span(words).subspan(2));
    if (setting) outstanding.save({gpu, *setting});
    return setting.has_value();
  }
  const auto knob = knob_named(words[2]);
  if (words[0] == "asked") {
    const auto limit = words.size() == 4 ? number_in(words[3]) : std::nullopt;
    if (!limit || knob != Knob::power_limit) return false;
    outstanding.asked(gpu, {*limit});
    return true;
  }
  if (words[0] != "restored" || words.size() != 3 || !knob) return false;
  outstanding.restored(gpu, *knob);
  return true;
}

}  // namespace

bool is_journal_id(std::string_view gpu) {
  return !gpu.empty() && gpu.size() <= kLongestId && std::ranges::all_of(gpu, [](char character) {
    return character > ' ' && character < 127;
  });
}

const Backup* Outstanding::find(const GpuId& gpu, Knob knob) const {
  const auto found = std::ranges::find_if(backups_, [&](const Backup& backup) {
    return backup.gpu == gpu && knob_of(backup.previous) == knob;
  });
  return found == backups_.end() ? nullptr : &*found;
}

bool Outstanding::asked(const GpuId& gpu, Milliwatts limit) {
  for (Backup& backup : backups_) {
    if (backup.gpu != gpu || knob_of(backup.previous) != Knob::power_limit) continue;
    if (std::ranges::find(backup.asked, limit) != backup.asked.end()) return false;
    backup.asked.push_back(limit);
    return true;
  }
  return false;
}

bool Outstanding::save(const Backup& backup) {
  if (has(backup.gpu, knob_of(backup.previous))) return false;
  backups_.push_back(backup);
  return true;
}

bool Outstanding::restored(const GpuId& gpu, Knob knob) {
  return std::erase_if(backups_, [&](const Backup& backup) {
           return backup.gpu == gpu && knob_of(backup.previous) == knob;
         }) > 0;
}

std::string_view journal_header() { return kHeader; }

std::string save_record(const Backup& backup) {
  return with_checksum(fmt::format("save {} {}", backup.gpu.text(), setting_text(backup.previous)));
}

std::string asked_record(const GpuId& gpu, Milliwatts limit) {
  return with_checksum(
      fmt::format("asked {} {} {}", gpu.text(), word_of(Knob::power_limit), limit.count));
}

std::string restored_record(const GpuId& gpu, Knob knob) {
  return with_checksum(fmt::format("restored {} {}", gpu.text(), word_of(knob)));
}

Result<JournalContents> read_journal(std::string_view bytes, std::string_view file) {
  JournalContents contents;
  if (bytes.empty()) return contents;
  if (!bytes.starts_with(kHeader) && !bytes.starts_with(kHeaderBefore)) {
    return failure(Code::invalid,
                   fmt::format("{} is not a restore journal of this version: expected its first "
                               "line to be '{}'",
                               file, kHeader.substr(0, kHeader.size() - 1)));
  }
  contents.whole = kHeader.size();
  while (true) {
    const std::size_t end = bytes.find('\n', contents.whole);
    if (end == std::string_view::npos) return contents;
    const auto line = bytes.substr(contents.whole, end - contents.whole);
    if (!take_record(line, contents.outstanding)) ++contents.damaged;
    contents.whole = end + 1;
  }
}

}  // namespace negawatt::gpu
