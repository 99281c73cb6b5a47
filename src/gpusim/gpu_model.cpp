// SPDX-License-Identifier: Apache-2.0
#include "gpusim/gpu_model.hpp"

#include <algorithm>

namespace negawatt::gpusim {

std::int64_t SwitchLatency::to(std::uint32_t mhz) const {
  if (mhz == 0) return to_auto_ns;
  const auto found = std::ranges::find(targets, mhz, &Target::mhz);
  return found != targets.end() ? found->latency_ns : otherwise_ns;
}

double ClockModel::volts_at(double mhz) const {
  const auto above = std::ranges::lower_bound(voltage, mhz, {}, &VoltagePoint::mhz);
  if (above == voltage.end()) return voltage.back().volts;
  if (above == voltage.begin()) return above->volts;
  const auto below = above - 1;
  const double share = (mhz - below->mhz) / (above->mhz - below->mhz);
  return below->volts + share * (above->volts - below->volts);
}

double ClockModel::switching_power_at(double mhz) const {
  const double highest = core_mhz.back();
  const double volts = volts_at(mhz) / volts_at(highest);
  return mhz / highest * volts * volts;
}

}  // namespace negawatt::gpusim
