// SPDX-License-Identifier: Apache-2.0
#include "model/learned_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace negawatt::model {
namespace {

HeldOutError held_out_error(const Device& device, std::span<const Sample> samples,
                            const DeviceFitOptions& options, Trial trial) {
  const auto ratios = held_out_ratios(device, samples, options, trial);
  return {time_error_of(ratios), energy_error_of(ratios)};
}

std::size_t curves_in(std::span<const Sample> samples) {
  std::vector<std::uint32_t> curves;
  for (const auto& sample : samples) curves.push_back(sample.curve);
  std::ranges::sort(curves);
  return curves.size() - std::ranges::unique(curves).size();
}

std::string line(std::string_view what, const FitError& error) {
  if (error.median_pct <= 0.0) return fmt::format("  {:<22}  -\n", what);
  return fmt::format("  {:<22}  median {:5.1f} %   mean {:5.1f} %   95 % below {:5.1f} %\n", what,
                     error.median_pct, error.mean_pct, error.p95_pct);
}

/// What was measured at all.
std::string medians(const HeldOutError& error) {
  std::string text;
  if (error.time.median_pct > 0.0) text = fmt::format("time {:.1f} %", error.time.median_pct);
  if (error.energy.median_pct > 0.0)
    text += fmt::format("{}energy {:.1f} %", text.empty() ? "" : " and ", error.energy.median_pct);
  return text;
}

}  // namespace

LearnedDevice learn_device(const Device& device, std::span<const Sample> samples,
                           const DeviceFitOptions& options, bool calibrated) {
  const Device sheet = unfitted(device, samples, options);
  LearnedDevice learned;
  learned.samples = samples.size();
  learned.curves = curves_in(samples);
  learned.calibrated = calibrated;
  learned.row = held_out_error(sheet, samples, options, {HeldOut::row, calibrated});
  if (learned.curves > 1)
    learned.curve = held_out_error(sheet, samples, options, {HeldOut::curve, false});
  learned.device = fit_device(sheet, samples, options);
  if (calibrated) calibrate(learned.device, samples);
  const HeldOutError& harsher = learned.curves > 1 ? learned.curve : learned.row;
  learned.device.time_error = harsher.time.band;
  learned.device.energy_error = harsher.energy.band;
  return learned;
}

std::string errors_text(const LearnedDevice& learned) {
  std::string text = fmt::format(
      "{}: {} measurements, {} curves, {} corrections by model; errors on what the fit has not "
      "seen\n",
      learned.device.name, learned.samples, learned.curves,
      learned.calibrated ? "with" : "without");
  text += line("time, a row", learned.row.time);
  text += line("energy, a row", learned.row.energy);
  text += line("time, a whole curve", learned.curve.time);
  text += line("energy, a whole curve", learned.curve.energy);
  return text;
}

std::string errors_line(const LearnedDevice& learned) {
  std::string text =
      fmt::format("{} measurements in {} curves; median error of {} on a row that was left out",
                  learned.samples, learned.curves, medians(learned.row));
  if (learned.curves > 1)
    text += fmt::format("; {} on a whole curve that was left out", medians(learned.curve));
  return text;
}

}  // namespace negawatt::model
