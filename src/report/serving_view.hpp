// SPDX-License-Identifier: Apache-2.0
//
// Simulated policies as the page needs them: seeds taken together, settings (a cluster and a speed)
// apart, and what is found in a setting: which policy needs least energy among those that keep the
// SLO, and against what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "report/serving_report.hpp"

namespace negawatt::report {

/// Energies closer than this share are taken as the same.
inline constexpr double kSameEnergy = 0.001;

/// A policy in one setting: mean energies and counts of its seeds, the least attainment, the
/// longest of every latency.
struct ServedPolicy {
  ServedRun of;           ///< its instances summed by place; names and kind of the first seed
  std::size_t first = 0;  ///< place among the policies in the order given
  std::size_t seeds = 1;
  Joules least_energy;  ///< of its seeds
  Joules most_energy;
  double served = 0.0;  ///< share of the requests, at worst
  bool keeps = false;   ///< serves, and meets the SLO for, the share demanded
  [[nodiscard]] std::optional<Joules> per_token() const;
};

struct Setting {
  std::size_t cluster = 0;
  double speed = 1.0;
  std::vector<ServedPolicy> policies;  ///< those that keep the SLO first, then by energy
};

enum class Verdict : unsigned char {
  alone,       ///< one policy was simulated: nothing to compare it with
  nobody,      ///< no policy that could be run keeps the SLO
  one_device,  ///< none needs less than one device type by itself
  load,        ///< none needs less than one that does not look at the work
  saving,      ///< one that does needs least
};

/// Pointers are into the setting; null where there is none.
struct Finding {
  Verdict verdict = Verdict::alone;
  const ServedPolicy* best = nullptr;         ///< the least energy; of `nobody`, most attained
  const ServedPolicy* device = nullptr;       ///< least energy of one device that keeps the SLO
  const ServedPolicy* load = nullptr;         ///< likewise, of those that go by load
  const ServedPolicy* next = nullptr;         ///< the best of another kind than `best`
  const ServedPolicy* clairvoyant = nullptr;  ///< keeps the SLO with less energy than `best`
  const ServedPolicy* breaker = nullptr;      ///< uses less energy than `best`, breaks the SLO
  bool has_device = false;                    ///< simulated, whether or not it keeps the SLO
  bool has_load = false;
  Joules bound;
};
[[nodiscard]] Finding finding_of(const Setting& setting);

/// By cluster and speed, after the one that the page is about: the first cluster at the requests'
/// own speed, or at the lowest there is.
[[nodiscard]] std::vector<Setting> settings_of(const ServingReport& report);

/// All of them by cluster and speed.
[[nodiscard]] std::vector<const Setting*> by_cluster_and_speed(
    const std::vector<Setting>& settings);

/// Policies that no other one beats in both energy and p99 to the last token, by p99 rising; of
/// those that keep the SLO if there is one, and that could be run.
[[nodiscard]] std::vector<const ServedPolicy*> front_of(const Setting& setting);

/// A policy and its lambdas, rising, in the first setting.
struct LambdaSeries {
  std::string family;
  std::vector<const ServedPolicy*> policies;
};
/// Those with two lambdas or more.
[[nodiscard]] std::vector<LambdaSeries> lambda_series(const Setting& setting);

[[nodiscard]] Seconds p99(const ServedPolicy& policy);

}  // namespace negawatt::report
