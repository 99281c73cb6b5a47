// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions that are the same on every machine. Those of the C library differ in their
// last digits; these use only IEEE 754 addition, multiplication, division and square root, without
// contraction into fused operations (see core/CMakeLists.txt). Relative error: a few units in the
// last place. Nothing here fails.
#pragma once

namespace negawatt {

[[nodiscard]] double same_log(double x);      ///< x > 0
[[nodiscard]] double same_exp(double x);      ///< 0 below -693, infinite above 693
[[nodiscard]] double same_sine(double turn);  ///< of `turn` full turns, 0 <= turn <= 1
[[nodiscard]] double same_log1p(double x);    ///< log(1 + x), x >= -1
[[nodiscard]] double same_expm1(double x);    ///< exp(x) - 1; ends as same_exp does

}  // namespace negawatt
