// SPDX-License-Identifier: Apache-2.0
#include "model/device_fit.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
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

/// Nothing takes less time than by the sheet's rates. Work on a link may hide behind other work.
TimeFactors least_times() {
  TimeFactors least{};
  for (const auto& key : kTimeKeys) least.*key.member = 0.0;
  for (const auto ratio : {&TimeFactors::weights, &TimeFactors::experts, &TimeFactors::kv,
                           &TimeFactors::state, &TimeFactors::compute, &TimeFactors::attention})
    least.*ratio = 1.0;
  return least;
}

/// No byte that is read and no operation is free, and something flows while a step runs.
EnergyFactors least_energies(const Device& device) {
  constexpr double kOfTypical = 0.25;
  const EnergyFactors typical = typical_energies(device);
  EnergyFactors least{};
  for (const auto energy :
       {&EnergyFactors::active, &EnergyFactors::weights, &EnergyFactors::experts,
        &EnergyFactors::kv, &EnergyFactors::state, &EnergyFactors::compute})
    least.*energy = kOfTypical * typical.*energy;
  return least;
}

template <class Factors>
struct Start {
  Factors values;
  Factors scale;  ///< above 0: a factor that is 0 can be learned all the same
  Factors least;
};

bool is_held(const DeviceFitOptions& options, std::string_view key) {
  return std::ranges::count(options.held, key) > 0;
}

template <class Factors, std::size_t N>
Prior prior_of(const std::array<FactorKey<Factors>, N>& keys, const Start<Factors>& start,
               const DeviceFitOptions& options) {
  Prior prior;
  prior.weight = options.prior_weight;
  for (const auto& key : keys) {
    prior.values.push_back(start.values.*key.member);
    prior.scale.push_back(is_held(options, key.key) ? 0.0 : start.scale.*key.member);
    prior.least.push_back(start.least.*key.member);
    prior.most.push_back(std::numeric_limits<double>::infinity());
  }
  return prior;
}

template <class Factors, std::size_t N>
void assign(const std::array<FactorKey<Factors>, N>& keys, std::span<const double> values,
            Factors& factors) {
  for (std::size_t i = 0; i < N; ++i) factors.*keys[i].member = values[i];
}

/// The device with a calibration for the sample's architecture alone.
StepCoefficients calibrated_by(const Device& device, const Sample& sample,
                               Calibration calibration) {
  Device copy = device;
  calibration.model = sample.architecture->name;
  copy.calibrations = {calibration};
  return uncapped(*sample.architecture, copy, sample.devices);
}

/// Of a step and of a sequence. A curve has some ten samples: each one's error counts.
Prior correction_prior() {
  return {{1.0, 1.0},
          {1.0, 1.0},
          0.02,
          {kLeastCorrection, kLeastCorrection},
          {kMostCorrection, kMostCorrection}};
}

void fit_calibrated_times(const Device& device, std::span<const Sample> samples,
                          Calibration& calibration) {
  std::vector<RooflineSample> rooflines;
  for (const auto& sample : samples) {
    if (sample.seconds <= 0.0) continue;
    RooflineSample roofline;
    roofline.seconds = sample.seconds;
    add_parameter(calibrated_by(device, sample, {"", 0, 1, 0, 0, 0}), sample, roofline);
    add_parameter(calibrated_by(device, sample, {"", 0, 0, 1, 0, 0}), sample, roofline);
    rooflines.push_back(std::move(roofline));
  }
  std::vector<const RooflineSample*> pointers;
  pointers.reserve(rooflines.size());
  for (const auto& roofline : rooflines) pointers.push_back(&roofline);
  const auto factors = fit_roofline(pointers, correction_prior());
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
                        {"", 0, calibration.step_time, calibration.sequence_time, step, sequence}),
          sample);
    };
    const double known = energy(0, 0);
    rows.push_back({{energy(1, 0) - known, energy(0, 1) - known}, known, sample.joules});
  }
  const auto factors = fit_linear(rows, correction_prior());
  calibration.step_energy = factors[0];
  calibration.sequence_energy = factors[1];
}

}  // namespace

Cost predicted(const Device& device, const Sample& sample) {
  const ServingModel model(coefficients_of(*sample.architecture, device, sample.devices));
  Cost sum;
  for (const auto& [load, count] : sample.steps) sum += count * model.step(load);
  return sum;
}

Device unfitted(const Device& device, std::span<const Sample> samples,
                const DeviceFitOptions& options) {
  Device sheet = device;
  sheet.calibrations.clear();
  const EnergyFactors typical = typical_energies(device);
  if (std::ranges::any_of(samples, [](const Sample& sample) { return sample.seconds > 0.0; }))
    for (const auto& key : kTimeKeys)
      if (!is_held(options, key.key)) sheet.time.*key.member = TimeFactors{}.*key.member;
  if (std::ranges::any_of(samples, [](const Sample& sample) { return sample.joules > 0.0; }))
    for (const auto& key : kEnergyKeys)
      if (!is_held(options, key.key)) sheet.energy.*key.member = typical.*key.member;
  return sheet;
}

SampleFits::SampleFits(const Device& device, std::span<const Sample> samples) {
  const Device zero = bare(device);
  for (const auto& sample : samples) samples_.push_back(prepare(zero, sample));
}

SampleFits::Prepared SampleFits::prepare(const Device& zero, const Sample& sample) {
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

Device SampleFits::fit(const Device& device, std::span<const std::size_t> seen,
                       const DeviceFitOptions& options) const {
  Device fitted = device;
  fitted.calibrations.clear();
  std::vector<const RooflineSample*> times;
  for (const std::size_t i : seen)
    if (samples_[i].sample->seconds > 0.0) times.push_back(&samples_[i].time);
  const Start<TimeFactors> from{device.time, TimeFactors{}, least_times()};
  const Prior prior = prior_of(kTimeKeys, from, options);
  const auto factors = times.empty() ? prior.values : fit_roofline(times, prior);
  assign(kTimeKeys, factors, fitted.time);

  std::vector<LinearSample> energies;
  for (const std::size_t i : seen) {
    const Sample& sample = *samples_[i].sample;
    if (sample.joules <= 0.0) continue;
    const double device_seconds = sample.devices * roofline_seconds(samples_[i].time, factors);
    LinearSample row{samples_[i].energy_shares, device.idle_power * device_seconds, sample.joules};
    row.shares.front() = device_seconds;  // active power
    energies.push_back(std::move(row));
  }
  if (energies.empty()) return fitted;
  const Start<EnergyFactors> start{device.energy, typical_energies(device), least_energies(device)};
  assign(kEnergyKeys, fit_linear(energies, prior_of(kEnergyKeys, start, options)), fitted.energy);
  // What always flows leaves room for work, whatever the measurements were.
  fitted.energy.active =
      std::min(fitted.energy.active, 0.95 * (device.max_power - device.idle_power));
  return fitted;
}

Device fit_device(const Device& device, std::span<const Sample> samples,
                  const DeviceFitOptions& options) {
  std::vector<std::size_t> all(samples.size());
  std::iota(all.begin(), all.end(), 0U);
  return SampleFits(device, samples).fit(device, all, options);
}

Calibration fit_calibration(const Device& device, std::span<const Sample> samples) {
  Calibration calibration;
  if (samples.empty()) return calibration;
  calibration.model = samples.front().architecture->name;
  calibration.devices = samples.front().devices;
  fit_calibrated_times(device, samples, calibration);
  fit_calibrated_energies(device, samples, calibration);
  return calibration;
}

void calibrate(Device& device, std::span<const Sample> samples) {
  std::vector<std::pair<const Architecture*, std::uint32_t>> done;
  for (const auto& sample : samples) {
    const std::pair of{sample.architecture, sample.devices};
    if (std::ranges::find(done, of) != done.end()) continue;
    done.push_back(of);
    std::vector<Sample> own;
    std::ranges::copy_if(samples, std::back_inserter(own), [&](const Sample& other) {
      return std::pair{other.architecture, other.devices} == of;
    });
    device.calibrations.push_back(fit_calibration(device, own));
  }
}

}  // namespace negawatt::model
