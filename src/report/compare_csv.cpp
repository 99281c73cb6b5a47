// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <string>

#include "core/csv.hpp"
#include "report/compare_report.hpp"
#include "report/compare_view.hpp"
#include "report/compare_wording.hpp"

namespace negawatt::report {
namespace {

constexpr const char* kHeader =
    "run,governed,iterations,"
    "promised_time_s,promised_energy_j,promised_time_change_pct,promised_energy_change_pct,"
    "achieved_time_s,achieved_time_sd_s,achieved_energy_j,achieved_energy_sd_j,"
    "achieved_time_change_pct,achieved_time_change_sd_pct,"
    "achieved_energy_change_pct,achieved_energy_change_sd_pct,achieved_against,"
    "time_difference_points,energy_difference_points,"
    "best_static_time_change_pct,best_static_energy_change_pct,bound_energy_change_pct,"
    "changes,late,most_late_s,requests,refused,evidence,promised_evidence,verdict\n";

class Row {
 public:
  void text(std::string_view field) {
    if (!line_.empty()) line_ += ',';
    line_ += csv_field(field);
  }
  void number(std::optional<double> value) { text(value ? fmt::format("{}", *value) : ""); }
  template <class Unit>
  void quantity(std::optional<Unit> value) {
    number(value ? std::optional(value->in_si()) : std::nullopt);
  }
  void count(std::uint64_t value) { text(std::to_string(value)); }
  void change(const std::optional<Change>& change) {
    number(change ? std::optional(change->percent) : std::nullopt);
    number(change ? change->error : std::nullopt);
  }
  [[nodiscard]] std::string line() && { return std::move(line_) + '\n'; }

 private:
  std::string line_;
};

void add_promise(const RunView& view, Row& row) {
  const bool has_promise = view.promised_time.has_value();
  row.quantity(has_promise ? std::optional(view.run.promised.time) : std::nullopt);
  row.quantity(has_promise ? std::optional(view.run.promised.energy) : std::nullopt);
  row.number(view.promised_time);
  row.number(view.promised_energy);
}

std::string row_of(const RunView& view) {
  const auto& run = view.run;
  Row row;
  row.text(run.label);
  row.text(run.governed ? "true" : "false");
  row.count(run.achieved.iterations);
  add_promise(view, row);
  row.quantity(run.achieved.time);
  row.quantity(run.achieved.time_error);
  row.quantity(run.achieved.energy);
  row.quantity(run.achieved.energy_error);
  row.change(view.time);
  row.change(view.energy);
  row.text(view.is_against_measured ? "run" : "table");
  for (const auto& value : {view.time_difference, view.energy_difference, view.static_time,
                            view.static_energy, view.bound_energy})
    row.number(value);
  row.count(run.changes);
  row.count(run.late);
  row.number(run.most_late.in_si());
  row.count(run.requests);
  row.count(run.refused);
  row.text(name_of(run.evidence));
  row.text(name_of(run.promised_evidence));
  row.text(verdict(view));
  return std::move(row).line();
}

}  // namespace

std::string compare_csv(const CompareReport& report) {
  std::string out = kHeader;
  for (const auto& view : comparison_of(report).runs) out += row_of(view);
  return out;
}

}  // namespace negawatt::report
