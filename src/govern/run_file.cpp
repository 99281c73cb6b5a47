// SPDX-License-Identifier: Apache-2.0
#include "govern/run_file.hpp"

#include <fmt/core.h>

#include "govern/json_reader.hpp"

namespace negawatt::govern {
namespace {

/// A standard error; 0 stands for one that is not known.
template <class Unit>
std::optional<Unit> read_error(JsonReader& reader, JsonValue object, const char* key) {
  const double error = reader.number(object, key);
  if (error == 0.0) return std::nullopt;
  return Unit(error);
}

MeasuredIteration read_achieved(JsonReader& reader, JsonValue object) {
  MeasuredIteration achieved{.iterations = reader.count(object, "iterations")};
  if (achieved.iterations == 0) return achieved;
  achieved.time = Seconds(reader.positive(object, "time_s"));
  achieved.time_error = read_error<Seconds>(reader, object, "time_sd_s");
  if (!reader.find(object, "energy_j")) return achieved;
  achieved.energy = Joules(reader.positive(object, "energy_j"));
  achieved.energy_error = read_error<Joules>(reader, object, "energy_sd_j");
  return achieved;
}

RanSegment read_segment(JsonReader& reader, JsonValue object) {
  RanSegment segment{.first = reader.whole(object, "first"),
                     .last = reader.whole(object, "last"),
                     .clocks = reader.clocks(object),
                     .promised = Seconds(reader.positive(object, "promised_s"))};
  if (segment.last < segment.first)
    reader.refuse(fmt::format("a segment from {} to {}", segment.first, segment.last));
  if (reader.find(object, "achieved_s"))
    segment.achieved = Seconds(reader.positive(object, "achieved_s"));
  return segment;
}

void read_reasons(JsonReader& reader, JsonValue object, RunFile& run) {
  run.requests = reader.count(object, "requests");
  run.refused = reader.count(object, "refused");
  if (const auto refusal = reader.find(object, "last_refusal"))
    run.last_refusal = reader.text_of(*refusal, "last_refusal");
  run.punctuality = {.changes = reader.count(object, "changes"),
                     .late = reader.count(object, "late"),
                     .most_late = Seconds(reader.number(object, "most_late_s")),
                     .missed_iterations = reader.count(object, "missed_iterations")};
  run.pace = reader.number(object, "pace");
  run.was_off_plan = reader.flag(object, "off_plan");
}

void read_promise(JsonReader& reader, JsonValue root, RunFile& run) {
  const auto baseline = reader.member(root, "baseline");
  run.baseline = reader.positive_cost(baseline, "baseline");
  run.baseline_clocks = reader.clocks(baseline);
  run.promised = reader.positive_cost(reader.member(root, "promised"), "promised");
  if (const auto best = reader.find(root, "best_static"))
    run.best_static = reader.positive_cost(*best, "best_static");
  if (const auto bound = reader.find(root, "bound"))
    run.bound = Joules(reader.number(*bound, "energy_j"));
  run.promised_evidence = reader.evidence(root, "promised_evidence");
}

}  // namespace

Result<RunFile> parse_run(std::string_view bytes, std::string_view file) {
  JsonReader reader(bytes, {.file = file, .command = "negawatt run --out"});
  const auto root = reader.root();
  RunFile run{.governed = reader.flag(root, "governed")};
  read_promise(reader, root, run);
  run.achieved = read_achieved(reader, reader.member(root, "achieved"));
  for (const auto segment : reader.list(root, "segments"))
    run.segments.push_back(read_segment(reader, segment));
  read_reasons(reader, reader.member(root, "why"), run);
  if (const auto note = reader.find(root, "note")) run.note = reader.text_of(*note, "note");
  if (const auto note = reader.find(root, "energy_note"))
    run.energy_note = reader.text_of(*note, "energy_note");
  run.ending = reader.text(root, "ending");
  run.gpu = reader.text(root, "gpu");
  run.plan_file = reader.text(root, "plan_file");
  run.command = reader.text(root, "command");
  run.evidence = reader.evidence(root, "evidence");
  if (reader.failed()) return reader.error();
  return run;
}

}  // namespace negawatt::govern
