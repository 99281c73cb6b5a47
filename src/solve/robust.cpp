// SPDX-License-Identifier: Apache-2.0
#include "solve/robust.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "solve/gaussian.hpp"
#include "solve/measured.hpp"

// Inside this file times are seconds and energies joules in plain doubles.
namespace negawatt::solve {
namespace {

// How the information of the table (inverse variance) is shared between the three parts. Chosen by
// simulation (docs/robust.md); the savings change little around these values.
constexpr double kChoose = 0.5;
constexpr double kCertify = 0.35;
constexpr double kEstimate = 1.0 - kChoose - kCertify;
constexpr double kRest = kCertify + kEstimate;

/// Further splits of what did not choose, over which the estimate is averaged.
constexpr int kSplits = 500;

/// A candidate counts every departure from the baseline this many standard errors slower than
/// measured. From very careful to not at all; finer steps change the savings little.
constexpr double kFirstMargin = 8.0;
constexpr double kLastMargin = 0.1;
constexpr double kMarginStep = 0.8;

// Streams of random numbers: which split they make.
constexpr std::uint64_t kChooseFromRest = 0;
constexpr std::uint64_t kCertifyFromEstimate = 1;

using Plan = std::vector<std::uint32_t>;

/// The table as two independent ones whose weighted mean it is.
struct Parts {
  std::vector<Cost> choose;  ///< share kChoose of the information
  std::vector<Cost> rest;    ///< share kRest
};

Parts split(const RobustProblem& problem, const Measured& table) {
  const GaussianStream noise(problem.seed, kChooseFromRest);
  const double outward = std::sqrt(kRest / kChoose);
  Parts parts;
  for (std::size_t i = 0; i < table.costs().size(); ++i) {
    const Deviation& deviation = problem.deviations[i];
    const double shared = noise.at(2 * i);
    const double own = noise.at(2 * i + 1);
    const double along = deviation.correlation;
    const Cost error{shared * deviation.time,
                     (along * shared + std::sqrt(1.0 - along * along) * own) * deviation.energy};
    parts.choose.push_back(table.costs()[i] + outward * error);
    parts.rest.push_back(table.costs()[i] - (1.0 / outward) * error);
  }
  return parts;
}

/// The options as the choosing part sees them, departures from the baseline `margin` standard
/// errors slower. Noise may make a short time negative: 0 then.
ChoiceProblem with_margin(const RobustProblem& problem, const Measured& table,
                          const std::vector<Cost>& choose, double margin) {
  ChoiceProblem result;
  std::vector<Cost> costs;
  for (std::size_t item = 0; item < table.items(); ++item) {
    const std::size_t stay = table.baseline(item);
    const double stay_sd = (1.0 + problem.slowdown) * problem.deviations[stay].time.in_si();
    costs.clear();
    for (std::uint32_t option = 0; option < problem.options.options(item).size(); ++option) {
      const std::size_t i = table.flat(item, option);
      const double sd = std::hypot(problem.deviations[i].time.in_si(), stay_sd);
      costs.push_back({std::max(Seconds(0.0), choose[i].time), choose[i].energy});
      if (i != stay) costs.back().time += Seconds(margin * sd);
    }
    result.add_item(costs);
  }
  return result;
}

std::vector<double> margins(const RobustProblem& problem) {
  std::vector<double> result;
  const bool exact_times = std::all_of(problem.deviations.begin(), problem.deviations.end(),
                                       [](const Deviation& d) { return d.time == Seconds(0.0); });
  if (!exact_times)
    for (double margin = kFirstMargin; margin > kLastMargin; margin *= kMarginStep)
      result.push_back(margin);
  result.push_back(0.0);
  return result;
}

/// Plans from careful to bold, made from the choosing part alone. The baseline, which needs no
/// certificate, is not among them.
Result<std::vector<Plan>> candidates(const RobustProblem& problem, const Measured& table,
                                     const std::vector<Cost>& choose) {
  std::vector<Plan> plans;
  for (const double margin : margins(problem)) {
    const ChoiceProblem noisy = with_margin(problem, table, choose, margin);
    const Seconds budget = (1.0 + problem.slowdown) * total_of(noisy, problem.baseline).time;
    NW_TRY(Choice found, least_energy_within(noisy, budget, problem.limits));
    if (found.option != problem.baseline && (plans.empty() || plans.back() != found.option))
      plans.push_back(std::move(found.option));
  }
  return plans;
}

/// The rest splits once more: the certifying part is rest + kSpread * noise and the estimating part
/// rest - kReturn * noise, where the noise has the covariance of the table.
const double kSpread = std::sqrt(kEstimate / (kCertify * kRest));
const double kReturn = kSpread * kCertify / kEstimate;

/// Fixed-sequence test of the slacks of the candidates.
class Certificate {
 public:
  Certificate(const RobustProblem& problem, const Measured& table, const std::vector<Plan>& plans,
              const std::vector<Cost>& rest);

  /// The slacks of all candidates, then the time of the baseline: what `noise` below is the noise
  /// of, in this order; it may go on.
  [[nodiscard]] const std::vector<Form>& forms() const { return forms_; }
  /// How many candidates, from the first, have a certified slack under this split.
  [[nodiscard]] std::size_t certified(std::span<const double> noise) const;
  /// What the time of candidate `certified - 1` is at most, as a multiple of the baseline's.
  [[nodiscard]] double time_ratio(std::size_t certified, std::span<const double> noise) const;

 private:
  [[nodiscard]] double part(std::size_t form, std::span<const double> noise) const {
    return rest_[form] + kSpread * noise[form];
  }

  const RobustProblem& problem_;
  const Measured& table_;
  double quantile_;
  std::vector<Form> forms_;
  std::vector<double> rest_;    ///< their values in the rest
  std::vector<double> needed_;  ///< per candidate: the slack that certifies it
};

Certificate::Certificate(const RobustProblem& problem, const Measured& table,
                         const std::vector<Plan>& plans, const std::vector<Cost>& rest)
    : problem_(problem), table_(table), quantile_(normal_quantile(problem.confidence)) {
  for (const Plan& plan : plans) {
    const Form slack{plan, -1.0, 1.0 + problem.slowdown, Dimension::time};
    const double variance = table.covariance(slack, slack) / kCertify;
    forms_.push_back(slack);
    rest_.push_back(table.value(slack, rest));
    // Without any error the plan keeps the budget because the search says so.
    needed_.push_back(variance > 0.0 ? quantile_ * std::sqrt(variance) : rest_.back());
  }
  forms_.push_back({problem.baseline, 0.0, 1.0, Dimension::time});
  rest_.push_back(table.value(forms_.back(), rest));
}

std::size_t Certificate::certified(std::span<const double> noise) const {
  std::size_t count = 0;
  while (count < needed_.size() && part(count, noise) >= needed_[count]) ++count;
  return count;
}

// When the boldest candidate passes, the sequence goes on with ever smaller slowdowns for it; it
// stops where ratio * baseline - plan equals its quantile (Fieller, "Some problems in interval
// estimation", 1954).
double Certificate::time_ratio(std::size_t certified, std::span<const double> noise) const {
  if (certified == 0) return 1.0;
  const double tolerated = 1.0 + problem_.slowdown;
  if (certified < needed_.size()) return tolerated;
  const Form& baseline = forms_.back();
  const Form plan{forms_[certified - 1].plan, 1.0, 0.0, Dimension::time};
  const double baseline_time = part(certified, noise);
  const double plan_time = tolerated * baseline_time - part(certified - 1, noise);
  const double scale = quantile_ * quantile_ / kCertify;
  const double of_baseline = scale * table_.covariance(baseline, baseline);
  const double of_plan = scale * table_.covariance(plan, plan);
  const double of_both = scale * table_.covariance(baseline, plan);
  const double a = baseline_time * baseline_time - of_baseline;
  const double b = baseline_time * plan_time - of_both;
  // b^2 - a * c, without the terms that cancel.
  const double discriminant =
      baseline_time * baseline_time * of_plan - 2.0 * baseline_time * plan_time * of_both +
      plan_time * plan_time * of_baseline - (of_baseline * of_plan - of_both * of_both);
  if (a <= 0.0 || baseline_time <= 0.0) return tolerated;
  return std::min(tolerated, (b + std::sqrt(std::max(0.0, discriminant))) / a);
}

/// Mean and standard deviation of a form in the estimating part, averaged over splits.
class Average {
 public:
  void add(double value) {
    ++count_;
    const double step = value - mean_;
    mean_ += step / count_;
    squares_ += step * (value - mean_);
  }
  [[nodiscard]] double mean() const { return mean_; }
  /// A single split varies with variance `single`; what of it lies between the splits of one table
  /// is averaged away. Never below `least`.
  [[nodiscard]] double sd(double single, double least) const {
    const double between = count_ > 1 ? squares_ / (count_ - 1) : 0.0;
    return std::sqrt(std::max(least, single - between * (1.0 - 1.0 / count_)));
  }

 private:
  int count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

/// The change against the baseline.
struct Change {
  Cost mean;
  Cost sd;
};

/// The change of candidate `kept` - 1 by the estimating part, averaged over the splits of the rest
/// that keep the same candidate. The split that was used is the first of them and no different
/// from the others, so the mean is as unbiased as a single one (Rao and Blackwell).
Change estimate(const RobustProblem& problem, const Measured& table, const Certificate& certificate,
                std::size_t kept, const std::vector<Cost>& rest) {
  std::vector<Form> forms = certificate.forms();
  const Form time{forms[kept - 1].plan, 1.0, -1.0, Dimension::time};
  const Form energy{forms[kept - 1].plan, 1.0, -1.0, Dimension::energy};
  forms.push_back(time);
  forms.push_back(energy);
  const CorrelatedGaussian errors = errors_of(table, forms);
  const GaussianStream stream(problem.seed, kCertifyFromEstimate);
  const double rest_time = table.value(time, rest);
  const double rest_energy = table.value(energy, rest);
  Average times;
  Average energies;
  std::vector<double> noise;
  for (std::uint64_t n = 0; n < kSplits; ++n) {
    errors.draw(stream, n, noise);
    if (certificate.certified(noise) != kept) continue;
    times.add(rest_time - kReturn * noise[forms.size() - 2]);
    energies.add(rest_energy - kReturn * noise[forms.size() - 1]);
  }
  const double time_variance = table.covariance(time, time);
  const double energy_variance = table.covariance(energy, energy);
  return {{Seconds(times.mean()), Joules(energies.mean())},
          {Seconds(times.sd(time_variance / kEstimate, time_variance)),
           Joules(energies.sd(energy_variance / kEstimate, energy_variance))}};
}

/// The plan by the table, judged by what the table taken at its word would allow.
Result<Choice> by_table(const RobustProblem& problem, const Plan& plan) {
  Choice choice{plan, total_of(problem.options, plan), {}, {}};
  const Seconds budget =
      (1.0 + problem.slowdown) * total_of(problem.options, problem.baseline).time;
  NW_TRY(const Choice at_its_word,
         least_energy_within(problem.options, std::max(budget, choice.total.time), problem.limits));
  choice.lower_bound = at_its_word.lower_bound;
  choice.price = at_its_word.price;
  return choice;
}

Status in_range(const RobustProblem& problem) {
  NW_ASSERT(problem.deviations.size() == problem.options.option_count());
  NW_ASSERT(problem.baseline.size() == problem.options.items());
  for (std::size_t item = 0; item < problem.baseline.size(); ++item)
    NW_ASSERT(problem.baseline[item] < problem.options.options(item).size());
  if (!(problem.slowdown >= 0.0) || !std::isfinite(problem.slowdown))
    return failure(Code::invalid,
                   fmt::format("slowdown {}: expected a fraction of at least 0", problem.slowdown));
  if (!(problem.confidence >= 0.5 && problem.confidence < 1.0))
    return failure(Code::invalid, fmt::format("confidence {}: expected at least 0.5 and below 1",
                                              problem.confidence));
  for (const Deviation& deviation : problem.deviations) {
    const bool sizes = deviation.time.is_finite() && deviation.energy.is_finite() &&
                       deviation.time >= Seconds(0.0) && deviation.energy >= Joules(0.0);
    if (!sizes || !(std::abs(deviation.correlation) <= 1.0))
      return failure(
          Code::invalid,
          fmt::format("standard deviation {} s, {} J, correlation {}: expected finite "
                      "deviations of at least 0 and a correlation within -1..1",
                      deviation.time.in_si(), deviation.energy.in_si(), deviation.correlation));
  }
  return {};
}

}  // namespace

Deviation deviation_of_product(Cost mean, Seconds time_sd, Joules energy_sd) {
  if (!(energy_sd > Joules(0.0))) return {time_sd, energy_sd, 0.0};
  // energy = power * time with independent errors: covariance = mean power * variance of the time.
  const double correlation = (mean.energy / mean.time) * time_sd / energy_sd;
  return {time_sd, energy_sd, std::clamp(correlation, -1.0, 1.0)};
}

Deviation operator+(const Deviation& a, const Deviation& b) {
  const Seconds time(std::hypot(a.time.in_si(), b.time.in_si()));
  const Joules energy(std::hypot(a.energy.in_si(), b.energy.in_si()));
  const auto covariance = a.correlation * (a.time * a.energy) + b.correlation * (b.time * b.energy);
  const auto product = time * energy;
  if (!(product.in_si() > 0.0)) return {time, energy, 0.0};
  return {time, energy, std::clamp(covariance / product, -1.0, 1.0)};
}

Result<RobustChoice> least_energy_with_confidence(const RobustProblem& problem) {
  NW_CHECK(in_range(problem));
  const Measured table(problem);
  const Parts parts = split(problem, table);
  NW_TRY(const std::vector<Plan> plans, candidates(problem, table, parts.choose));
  const Certificate certificate(problem, table, plans, parts.rest);
  std::vector<double> noise;
  errors_of(table, certificate.forms())
      .draw(GaussianStream(problem.seed, kCertifyFromEstimate), 0, noise);
  const std::size_t kept = certificate.certified(noise);

  RobustChoice result;
  NW_TRY(result.choice, by_table(problem, kept == 0 ? problem.baseline : plans[kept - 1]));
  const Cost baseline = total_of(problem.options, problem.baseline);
  const Change change =
      kept == 0 ? Change{} : estimate(problem, table, certificate, kept, parts.rest);
  result.promise = {problem.confidence, baseline + change.mean, change.sd,
                    certificate.time_ratio(kept, noise) * baseline.time, result.choice.total};
  return result;
}

}  // namespace negawatt::solve
