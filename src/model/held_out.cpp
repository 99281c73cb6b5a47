// SPDX-License-Identifier: Apache-2.0
#include "model/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace negawatt::model {
namespace {

/// A number for every sample, the same for those that measured the same; in order of appearance.
std::vector<std::size_t> configurations_of(std::span<const Sample> samples) {
  std::map<std::pair<const Architecture*, std::vector<double>>, std::size_t> numbers;
  std::vector<std::size_t> configurations;
  for (const auto& sample : samples) {
    std::vector<double> key{1.0 * sample.devices};
    for (const auto& [load, count] : sample.steps)
      key.insert(key.end(), {load.prompt_tokens, load.prompt_attention, load.sequences,
                             load.context_tokens, count});
    const auto next = numbers.size();
    configurations.push_back(
        numbers.try_emplace({sample.architecture, std::move(key)}, next).first->second);
  }
  return configurations;
}

/// Samples that one fit predicts, and those that it sees.
struct Fold {
  std::vector<std::size_t> tested;
  std::vector<std::size_t> seen;
};

/// Everything is tested once. What is in a fold, and repeats of it, is not seen in it.
std::vector<Fold> folds_of(std::span<const Sample> samples, HeldOut held_out) {
  const auto configurations = configurations_of(samples);
  std::map<std::size_t, std::vector<std::size_t>> tested;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (held_out == HeldOut::none)
      tested[0].push_back(i);
    else if (held_out == HeldOut::row)
      tested[configurations[i] % kMostFits].push_back(i);
    else
      tested[samples[i].curve].push_back(i);
  }
  std::vector<Fold> folds;
  for (auto& [number, indices] : tested) {
    Fold fold{std::move(indices), {}};
    std::vector<bool> hidden(samples.size(), false);  // by configuration
    for (const std::size_t i : fold.tested) hidden[configurations[i]] = held_out != HeldOut::none;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (!hidden[configurations[i]]) fold.seen.push_back(i);
    folds.push_back(std::move(fold));
  }
  return folds;
}

/// The samples among `seen` of an architecture, and on a number of devices, that is tested.
std::vector<Sample> relatives(std::span<const Sample> samples, const Fold& fold) {
  std::set<std::pair<const Architecture*, std::uint32_t>> tested;
  for (const std::size_t i : fold.tested)
    tested.emplace(samples[i].architecture, samples[i].devices);
  std::vector<Sample> some;
  for (const std::size_t i : fold.seen)
    if (tested.contains({samples[i].architecture, samples[i].devices})) some.push_back(samples[i]);
  return some;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<Ratio> held_out_ratios(const Device& device, std::span<const Sample> samples,
                                   const DeviceFitOptions& options, Trial trial) {
  const SampleFits fits(device, samples);
  std::vector<Ratio> ratios(samples.size());
  for (const auto& fold : folds_of(samples, trial.held_out)) {
    Device fitted = fits.fit(device, fold.seen, options);
    if (trial.calibrated) calibrate(fitted, relatives(samples, fold));
    for (const std::size_t i : fold.tested) {
      const Cost cost = predicted(fitted, samples[i]);
      ratios[i] = {samples[i].seconds / cost.time.in_si(), samples[i].joules / cost.energy.in_si()};
    }
  }
  return ratios;
}

FitError error_of(std::vector<double> ratios) {
  std::erase(ratios, 0.0);
  if (ratios.empty()) return {};
  std::ranges::sort(ratios);
  std::vector<double> errors;
  errors.reserve(ratios.size());
  for (const double ratio : ratios) errors.push_back(std::abs(1.0 / ratio - 1.0));
  std::ranges::sort(errors);
  FitError error;
  error.median_pct = 100.0 * quantile(errors, 0.5);
  error.mean_pct = 100.0 * std::accumulate(errors.begin(), errors.end(), 0.0) /
                   static_cast<double>(errors.size());
  error.p95_pct = 100.0 * quantile(errors, 0.95);
  error.band = {error.median_pct, std::min(1.0, quantile(ratios, 0.05)),
                std::max(1.0, quantile(ratios, 0.95))};
  return error;
}

FitError time_error_of(std::span<const Ratio> ratios) {
  std::vector<double> times;
  for (const auto& ratio : ratios) times.push_back(ratio.time);
  return error_of(std::move(times));
}

FitError energy_error_of(std::span<const Ratio> ratios) {
  std::vector<double> energies;
  for (const auto& ratio : ratios) energies.push_back(ratio.energy);
  return error_of(std::move(energies));
}

}  // namespace negawatt::model
