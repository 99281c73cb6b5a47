// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/serving_tables.hpp"

namespace negawatt::report {
namespace {

std::string name_html(const ServedPolicy& policy) {
  return "<bdi>" + html_escaped(policy_name(policy)) + "</bdi>";
}

std::string best_tile(const ServingFindings& found) {
  const auto& best = *found.finding.best;
  auto detail = name_html(best);
  if (const auto joules = best.per_token())
    detail += ", " + typographic(quantity(*joules)) + " an output token";
  const bool nobody = found.finding.verdict == Verdict::nobody;
  const bool is_alone = found.finding.verdict == Verdict::alone;
  return tile_html({nobody     ? "Closest to the SLO"
                    : is_alone ? "Energy"
                               : "Least energy",
                    quantity(best.of.energy, 4), detail, ""});
}

/// A change of energy, and what latencies do.
struct Against {
  std::string_view name;
  const ServedPolicy& from;
  const ServedPolicy& to;
  const ServedPolicy& shown;  ///< the one of both that is not the best
};

std::string against_tile(const Against& against) {
  const auto& [name, from, to, shown] = against;
  const double energy = change_pct(from.of.energy, to.of.energy);
  const auto latencies =
      fmt::format("p99 latency {}, mean {}", typographic(latency_change(p99(from), p99(to))),
                  typographic(latency_change(from.of.e2e.mean, to.of.e2e.mean)));
  return tile_html({std::string(name), rough_change(energy), name_html(shown) + "; " + latencies,
                    energy < -100.0 * kSameEnergy ? "good" : ""});
}

std::string missing_tile(std::string_view name, bool was_simulated) {
  return tile_html({std::string(name), "-",
                    was_simulated ? "none of them counts" : "nothing of it was simulated", ""});
}

std::string device_tile(const ServingFindings& found) {
  const auto& finding = found.finding;
  constexpr std::string_view kName = "Against one device type";
  if (finding.verdict == Verdict::alone) return missing_tile(kName, false);
  if (finding.device == nullptr) return missing_tile(kName, finding.has_device);
  if (finding.device != finding.best)
    return against_tile({kName, *finding.device, *finding.best, *finding.device});
  if (finding.next != nullptr)
    return against_tile({"Next best", *finding.best, *finding.next, *finding.next});
  return tile_html({std::string(kName), "-", "it is the best itself", ""});
}

std::string load_tile(const ServingFindings& found) {
  const auto& finding = found.finding;
  constexpr std::string_view kName = "Against routing by load";
  if (finding.verdict == Verdict::alone) return missing_tile(kName, false);
  if (finding.load == nullptr) return missing_tile(kName, finding.has_load);
  if (finding.load != finding.best)
    return against_tile({kName, *finding.load, *finding.best, *finding.load});
  return tile_html({std::string(kName), "-", "it is the best itself", ""});
}

std::string slo_tile(const ServingFindings& found) {
  const auto& best = *found.finding.best;
  const auto unserved = best.of.requests - best.of.completed;
  const auto served = unserved == 0 ? std::string("every request was served")
                                    : counted(unserved, "request") + " not served";
  if (!best.of.attainment) return tile_html({"SLO attained", "none set", served, ""});
  return tile_html({"SLO attained", attained_text(*best.of.attainment),
                    typographic(demanded_text(found.demanded)) + " demanded; " + served,
                    best.keeps ? "good" : "bad"});
}

std::string bound_tile(const ServingFindings& found) {
  const auto bound = found.finding.bound;
  if (bound <= Joules()) return tile_html({"Above the lower bound", "-", "no bound is known", ""});
  return tile_html({"Above the lower bound",
                    rough_change(change_pct(bound, found.finding.best->of.energy)),
                    "no policy needs less than " + typographic(quantity(bound, 4)), ""});
}

}  // namespace

std::string serving_tiles_html(const ServingFindings& found) {
  return best_tile(found) + device_tile(found) + load_tile(found) + slo_tile(found) +
         bound_tile(found);
}

}  // namespace negawatt::report
