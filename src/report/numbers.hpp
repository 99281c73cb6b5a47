// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them, the same in every output: significant digits with a unit, signed
// changes in percent, grouped counts. Plain ASCII; typographic() makes HTML of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/units.hpp"

namespace negawatt::report {

/// Changes are printed with two decimals; below half of the last one, nothing has changed.
inline constexpr double kShownChange = 0.005;

/// `digits` significant digits without an exponent: 5.36, 0.0123, 1815.
[[nodiscard]] std::string significant(double value, int digits = 3);

/// With the prefix that leaves one to three digits before the point: "5.36 s", "1.81 kJ".
[[nodiscard]] std::string quantity(Seconds value, int digits = 3);
[[nodiscard]] std::string quantity(Joules value, int digits = 3);
[[nodiscard]] std::string quantity(Watts value, int digits = 3);

/// "-15.64 %"; never "-0.00 %".
[[nodiscard]] std::string change(double percent);

/// "1 kernel", "46 kernels", "12,345 kernels".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// "in the same time", "and takes 0.80 % longer", "and is 2.00 % faster".
[[nodiscard]] std::string time_clause(double percent);

/// "proven optimal", or how far it may be from the optimum.
[[nodiscard]] std::string proof_of_gap(double gap_pct);

/// A number in typographic form, in HTML: a true minus, a micro sign, no break before the unit.
[[nodiscard]] std::string typographic(std::string number);

}  // namespace negawatt::report
