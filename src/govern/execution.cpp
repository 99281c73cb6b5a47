// SPDX-License-Identifier: Apache-2.0
#include "govern/execution.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace negawatt::govern {
namespace {

using Json = nlohmann::json;

/// Reads members of one JSON object; remembers the first thing that is wrong.
class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] tl::unexpected<Error> error() const {
    return failure(Code::invalid, fmt::format("{}: {}", file_, *error_));
  }
  void refuse(std::string what) {
    if (!error_) error_ = std::move(what);
  }

  /// The member, or null after noting that it is missing.
  const Json& member(const Json& object, const char* key) {
    static const Json kNull;
    if (object.is_object())
      if (const auto found = object.find(key); found != object.end()) return *found;
    refuse(fmt::format("no '{}'; expected the JSON of 'negawatt plan --out' of this version", key));
    return kNull;
  }

  const Json& array(const Json& object, const char* key) {
    const auto& value = member(object, key);
    if (!failed() && !value.is_array()) refuse(fmt::format("'{}' is no list", key));
    return value;
  }

  double number(const Json& object, const char* key) { return number_of(member(object, key), key); }

  /// A finite number that is not negative.
  double number_of(const Json& value, const char* key) {
    if (failed()) return 0.0;
    if (value.is_number())
      if (const double read = value.get<double>(); std::isfinite(read) && read >= 0.0) return read;
    refuse(fmt::format("'{}' is no number of 0 or more", key));
    return 0.0;
  }

  std::uint32_t whole(const Json& object, const char* key) {
    return whole_of(member(object, key), key);
  }

  std::uint32_t whole_of(const Json& value, const char* key) {
    if (failed()) return 0;
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= UINT32_MAX)
      return value.get<std::uint32_t>();
    refuse(fmt::format("'{}' is no whole number", key));
    return 0;
  }

  trace::Clock clock(const Json& object, const char* key) {
    const auto& value = member(object, key);
    if (failed() || value == "auto") return trace::Clock::automatic();
    const auto mhz = whole_of(value, key);
    if (!failed() && mhz == 0) refuse(fmt::format("'{}' is 0, expected MHz or \"auto\"", key));
    return mhz == 0 ? trace::Clock::automatic() : trace::Clock::locked_mhz(mhz);
  }

  trace::ClockPair clocks(const Json& object) {
    return {clock(object, "core_mhz"), clock(object, "memory_mhz")};
  }

  Cost cost(const Json& object) {
    return {Seconds(number(object, "time_s")), Joules(number(object, "energy_j"))};
  }

 private:
  std::string_view file_;
  std::optional<std::string> error_;
};

PlannedSegment read_segment(Reader& reader, const Json& object) {
  return {.first = reader.whole(object, "first"),
          .last = reader.whole(object, "last"),
          .clocks = reader.clocks(object),
          .core_lead = Seconds(reader.number(object, "core_lead_s")),
          .memory_lead = Seconds(reader.number(object, "memory_lead_s")),
          .promised = reader.cost(object)};
}

void read_iteration(Reader& reader, const Json& object, Execution& execution) {
  for (const auto& name : reader.array(object, "kernels")) {
    if (!name.is_string()) return reader.refuse("'kernels' holds something that is no name");
    execution.kernels.push_back(name.get<std::string>());
  }
  for (const auto& index : reader.array(object, "sequence"))
    execution.sequence.push_back(reader.whole_of(index, "sequence"));
  for (const auto& time : reader.array(object, "time_s"))
    execution.expected.emplace_back(reader.number_of(time, "time_s"));
  for (const auto& segment : reader.array(object, "segments"))
    execution.segments.push_back(read_segment(reader, segment));
}

/// What the numbers must be to each other.
void check_iteration(Reader& reader, const Execution& execution) {
  if (execution.sequence.empty()) return reader.refuse("'sequence' is empty");
  if (execution.expected.size() != execution.sequence.size())
    return reader.refuse("'time_s' and 'sequence' differ in length");
  for (const auto kernel : execution.sequence)
    if (kernel >= execution.kernels.size())
      return reader.refuse(
          fmt::format("'sequence' names kernel {} of {}", kernel, execution.kernels.size()));
  if (std::ranges::any_of(execution.expected, [](Seconds time) { return time <= Seconds(); }))
    return reader.refuse("'time_s' holds an invocation that takes no time");
  std::uint64_t next = 0;
  for (const auto& segment : execution.segments) {
    if (segment.first != next || segment.last < segment.first)
      return reader.refuse(fmt::format("a segment from {} to {} where {} was expected to start",
                                       segment.first, segment.last, next));
    next = std::uint64_t{segment.last} + 1;
  }
  if (next != execution.sequence.size())
    reader.refuse(
        fmt::format("the segments end at invocation {} of {}", next, execution.sequence.size()));
}

}  // namespace

Result<Execution> parse_execution(std::string_view bytes, std::string_view file) {
  const auto object = Json::parse(bytes, nullptr, false);
  if (object.is_discarded())
    return failure(Code::invalid, fmt::format("{}: not JSON; expected the output of 'negawatt "
                                              "plan --out'",
                                              file));
  Reader reader(file);
  Execution execution;
  read_iteration(reader, reader.member(object, "execution"), execution);
  execution.promised = reader.cost(reader.member(object, "plan"));
  const auto& baseline = reader.member(object, "baseline");
  execution.baseline = reader.cost(baseline);
  execution.baseline_clocks = reader.clocks(baseline);
  if (const auto found = object.find("best_static"); found != object.end())
    execution.best_static = reader.cost(*found);
  if (const auto found = object.find("bound"); found != object.end())
    execution.bound = Joules(reader.number(*found, "energy_j"));
  if (!reader.failed()) check_iteration(reader, execution);
  if (reader.failed()) return reader.error();
  if (const auto kind = object.find("evidence"); kind != object.end() && kind->is_string())
    execution.evidence =
        evidence_kind_named(kind->get<std::string>()).value_or(EvidenceKind::unstated);
  return execution;
}

}  // namespace negawatt::govern
