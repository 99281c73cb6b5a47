// SPDX-License-Identifier: Apache-2.0
#include "model/device_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/deployment.hpp"
#include "model/device_keys.hpp"
#include "model/roofline_fit.hpp"

namespace negawatt::model {
namespace {

/// The device with all factors 0.
Device bare(const Device& device) {
  Device copy = device;
  copy.calibrations.clear();
  for (const auto& key : kTimeKeys) copy.time.*key.member = 0.0;
  for (const auto& key : kEnergyKeys) copy.energy.*key.member = 0.0;
  return copy;
}

StepCoefficients uncapped(const Architecture& architecture, const Device& device,
                          std::uint32_t devices) {
  StepCoefficients c = coefficients_of(architecture, device, devices);
  c.power_cap = 0.0;
  return c;
}

/// Coefficients whose times are only what takes part in `memory`, `compute` or neither.
enum class Role : std::uint8_t { rest, memory, compute };

StepCoefficients only(Role role, StepCoefficients c) {
  const auto clear = [](std::initializer_list<double*> all) {
    for (double* one : all) *one = 0.0;
  };
  if (role != Role::rest)
    clear({&c.overhead, &c.overhead_per_sequence, &c.link, &c.link_per_token});
  if (role != Role::memory)
    clear({&c.memory_weights, &c.memory_experts, &c.memory_per_context, &c.memory_per_sequence,
           &c.memory_per_token});
  if (role != Role::compute) clear({&c.compute_per_token, &c.compute_per_attended});
  return c;
}

/// Appends what a parameter whose coefficients are `c` adds to each part of a sample.
void add_parameter(const StepCoefficients& c, const Sample& sample, RooflineSample& out) {
  out.parts.resize(sample.steps.size());
  const ServingModel rest(only(Role::rest, c));
  const ServingModel memory(only(Role::memory, c));
  const ServingModel compute(only(Role::compute, c));
  for (std::size_t i = 0; i < sample.steps.size(); ++i) {
    const auto& [load, count] = sample.steps[i];
    out.parts[i].rest.push_back(count * rest.step(load).time.in_si());
    out.parts[i].memory.push_back(count * memory.step(load).time.in_si());
    out.parts[i].compute.push_back(count * compute.step(load).time.in_si());
  }
}

double energy_of(const StepCoefficients& c, const Sample& sample) {
  const ServingModel model(c);
  double sum = 0.0;
  for (const auto& [load, count] : sample.steps) sum += count * model.step(load).energy.in_si();
  return sum;
}

/// Everything about a sample that a fit needs, worked out once.
struct Prepared {
  const Sample* sample = nullptr;
  RooflineSample time;
  std::vector<double> energy_shares;  ///< joules by energy factor; that of `active` is left 0
};

Prepared prepare(const Device& zero, const Sample& sample) {
  Prepared prepared{&sample, {}, {}};
  prepared.time.seconds = sample.seconds;
  for (const auto& key : kTimeKeys) {
    Device unit = zero;
    unit.time.*key.member = 1.0;
    add_parameter(uncapped(*sample.architecture, unit, sample.devices), sample, prepared.time);
  }
  for (const auto& key : kEnergyKeys) {
    Device unit = zero;
    unit.energy.*key.member = 1.0;
    prepared.energy_shares.push_back(
        energy_of(uncapped(*sample.architecture, unit, sample.devices), sample));
  }
  return prepared;
}

template <class Factors, std::size_t N>
Prior prior_of(const std::array<FactorKey<Factors>, N>& keys, const Factors& factors,
               const DeviceFitOptions& options) {
  Prior prior;
  prior.weight = options.prior_weight;
  for (const auto& key : keys) {
    const double value = factors.*key.member;
    prior.values.push_back(value);
    const bool held = std::ranges::count(options.held, key.key) > 0;
    prior.scale.push_back(held ? 0.0 : value);
  }
  return prior;
}

template <class Factors, std::size_t N>
void assign(const std::array<FactorKey<Factors>, N>& keys, std::span<const double> values,
            Factors& factors) {
  for (std::size_t i = 0; i < N; ++i) factors.*keys[i].member = values[i];
}

Device fit_prepared(const Device& device, std::span<const Prepared* const> samples,
                    const DeviceFitOptions& options) {
  Device fitted = device;
  fitted.calibrations.clear();
  std::vector<const RooflineSample*> times;
  for (const auto* sample : samples)
    if (sample->sample->seconds > 0.0) times.push_back(&sample->time);
  const auto factors = fit_roofline(times, prior_of(kTimeKeys, device.time, options));
  assign(kTimeKeys, factors, fitted.time);

  std::vector<LinearSample> energies;
  for (const auto* sample : samples) {
    if (sample->sample->joules <= 0.0) continue;
    const double device_seconds = sample->sample->devices * roofline_seconds(sample->time, factors);
    LinearSample row{sample->energy_shares, device.idle_power * device_seconds,
                     sample->sample->joules};
    row.shares.front() = device_seconds;  // active power
    energies.push_back(std::move(row));
  }
  assign(kEnergyKeys, fit_linear(energies, prior_of(kEnergyKeys, device.energy, options)),
         fitted.energy);
  // What always flows leaves room for work, whatever the measurements were.
  fitted.energy.active =
      std::min(fitted.energy.active, 0.95 * (device.max_power - device.idle_power));
  return fitted;
}

/// The device with a calibration for the sample's architecture alone.
StepCoefficients calibrated_by(const Device& device, const Sample& sample,
                               Calibration calibration) {
  Device copy = device;
  calibration.model = sample.architecture->name;
  copy.calibrations = {calibration};
  return uncapped(*sample.architecture, copy, sample.devices);
}

constexpr double kCalibrationWeight =
    0.02;  // a curve has some ten samples; each one's error counts

void fit_calibrated_times(const Device& device, std::span<const Sample> samples,
                          Calibration& calibration) {
  std::vector<RooflineSample> rooflines;
  for (const auto& sample : samples) {
    if (sample.seconds <= 0.0) continue;
    RooflineSample roofline;
    roofline.seconds = sample.seconds;
    add_parameter(calibrated_by(device, sample, {"", 1, 0, 0, 0}), sample, roofline);
    add_parameter(calibrated_by(device, sample, {"", 0, 1, 0, 0}), sample, roofline);
    rooflines.push_back(std::move(roofline));
  }
  std::vector<const RooflineSample*> pointers;
  for (const auto& roofline : rooflines) pointers.push_back(&roofline);
  const auto factors = fit_roofline(pointers, {{1.0, 1.0}, {1.0, 1.0}, kCalibrationWeight});
  calibration.step_time = factors[0];
  calibration.sequence_time = factors[1];
}

void fit_calibrated_energies(const Device& device, std::span<const Sample> samples,
                             Calibration& calibration) {
  std::vector<LinearSample> rows;
  for (const auto& sample : samples) {
    if (sample.joules <= 0.0) continue;
    const auto energy = [&](double step, double sequence) {
      return energy_of(
          calibrated_by(device, sample,
                        {"", calibration.step_time, calibration.sequence_time, step, sequence}),
          sample);
    };
    const double known = energy(0, 0);
    rows.push_back({{energy(1, 0) - known, energy(0, 1) - known}, known, sample.joules});
  }
  const auto factors = fit_linear(rows, {{1.0, 1.0}, {1.0, 1.0}, kCalibrationWeight});
  calibration.step_energy = factors[0];
  calibration.sequence_energy = factors[1];
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Cost predicted(const Device& device, const Sample& sample) {
  const ServingModel model(coefficients_of(*sample.architecture, device, sample.devices));
  Cost sum;
  for (const auto& [load, count] : sample.steps) sum += count * model.step(load);
  return sum;
}

Device fit_device(const Device& device, std::span<const Sample> samples,
                  const DeviceFitOptions& options) {
  const Device zero = bare(device);
  std::vector<Prepared> prepared;
  for (const auto& sample : samples) prepared.push_back(prepare(zero, sample));
  std::vector<const Prepared*> all;
  for (const auto& one : prepared) all.push_back(&one);
  return fit_prepared(device, all, options);
}

Calibration fit_calibration(const Device& device, std::span<const Sample> samples) {
  Calibration calibration;
  if (samples.empty()) return calibration;
  calibration.model = samples.front().architecture->name;
  fit_calibrated_times(device, samples, calibration);
  fit_calibrated_energies(device, samples, calibration);
  return calibration;
}

void calibrate(Device& device, std::span<const Sample> samples) {
  std::vector<const Architecture*> done;
  for (const auto& sample : samples) {
    if (std::ranges::count(done, sample.architecture) > 0) continue;
    done.push_back(sample.architecture);
    std::vector<Sample> own;
    std::ranges::copy_if(samples, std::back_inserter(own), [&](const Sample& other) {
      return other.architecture == sample.architecture;
    });
    device.calibrations.push_back(fit_calibration(device, own));
  }
}

std::vector<Ratio> held_out_ratios(const Device& device, std::span<const Sample> samples,
                                   const DeviceFitOptions& options, HeldOut held_out,
                                   bool calibrated) {
  const Device zero = bare(device);
  std::vector<Prepared> prepared;
  for (const auto& sample : samples) prepared.push_back(prepare(zero, sample));

  const auto seen_by = [&](const Sample& tested, const Sample& other) {
    if (held_out == HeldOut::row) return &tested != &other;
    return held_out == HeldOut::none || tested.curve != other.curve;
  };
  std::vector<Ratio> ratios;
  for (const auto& tested : samples) {
    std::vector<const Prepared*> seen;
    std::vector<Sample> siblings;
    for (const auto& other : prepared) {
      if (!seen_by(tested, *other.sample)) continue;
      seen.push_back(&other);
      if (other.sample->curve == tested.curve) siblings.push_back(*other.sample);
    }
    Device fitted = fit_prepared(device, seen, options);
    if (calibrated && !siblings.empty()) calibrate(fitted, siblings);
    const Cost cost = predicted(fitted, tested);
    ratios.push_back({tested.seconds / cost.time.in_si(), tested.joules / cost.energy.in_si()});
  }
  return ratios;
}

FitError error_of(std::vector<double> ratios) {
  std::erase(ratios, 0.0);
  if (ratios.empty()) return {};
  std::ranges::sort(ratios);
  std::vector<double> errors;
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
