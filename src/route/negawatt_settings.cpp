// SPDX-License-Identifier: Apache-2.0
#include "route/negawatt_settings.hpp"

#include <algorithm>

namespace negawatt::route {
namespace {

/// The shortest wait that was promised to anyone, else ten seconds: as long as a person waits
/// without doing something else (Nielsen 1993).
Seconds default_patience(const FleetFacts& fleet) {
  constexpr Seconds kAttention(10.0);
  Seconds patience = kAttention;
  for (const Slo& slo : fleet.slos) {
    if (slo.time_to_first_token > Seconds(0)) {
      patience = std::min(patience, slo.time_to_first_token);
    }
  }
  return patience;
}

}  // namespace

NegawattSettings read_settings(std::string_view name, Parameters& parameters,
                               const MakerContext& context) {
  NegawattSettings settings{.name = name};
  settings.lambda = parameters.number("lambda", {0.0, 1.0}, settings.lambda);
  settings.joules = parameters.number("joules", {1e-9, 1e12}, settings.joules);
  settings.seconds = parameters.number("seconds", {1e-9, 1e12}, settings.seconds);
  settings.miss = parameters.number("miss", {0.0, 1.0}, settings.miss);
  const double nodes = parameters.number("nodes", {1.0, 9.0}, settings.nodes);
  settings.nodes = static_cast<int>(nodes);
  if (settings.nodes != nodes) parameters.refuse("nodes", "a whole number from 1 to 9");
  settings.patience =
      Seconds(parameters.number("patience", {1e-3, 1e9}, default_patience(context.fleet).in_si()));
  settings.plan = parameters.number("plan", {0.0, 1.0}, settings.plan ? 1.0 : 0.0) > 0.5;
  const std::string_view residuals = parameters.text("residuals");
  if (residuals == "equal") settings.residuals = Residuals::equal;
  if (!residuals.empty() && residuals != "equal" && residuals != "memoryless") {
    parameters.refuse("residuals", "equal or memoryless");
  }
  return settings;
}

Seconds tightest(std::span<const Slo> slos, Seconds Slo::* promise) {
  Seconds least;
  for (const Slo& slo : slos) {
    if (slo.*promise <= Seconds(0)) continue;
    least = least > Seconds(0) ? std::min(least, slo.*promise) : slo.*promise;
  }
  return least;
}

double miss_of_each(std::span<const Slo> slos, double miss) {
  int kinds = 0;
  for (const auto promise :
       {&Slo::time_to_first_token, &Slo::time_between_tokens, &Slo::time_to_completion}) {
    kinds += tightest(slos, promise) > Seconds(0) ? 1 : 0;
  }
  return miss / std::max(1, kinds);
}

FlowPromise tightest_promise(std::span<const Slo> slos, const NegawattSettings& settings) {
  const Seconds first = tightest(slos, &Slo::time_to_first_token);
  constexpr double kLeastMiss = 1e-6;
  return {.first = (first > Seconds(0) ? first : settings.patience).in_si(),
          .between = tightest(slos, &Slo::time_between_tokens).in_si(),
          .completion = tightest(slos, &Slo::time_to_completion).in_si(),
          .miss = std::max(kLeastMiss, miss_of_each(slos, settings.miss))};
}

}  // namespace negawatt::route
