// SPDX-License-Identifier: Apache-2.0
//
// The published facts as least-squares rows about the cells of a surface, linearised where the
// surface is. One-sided facts (no pair is faster than the least time) are rows only where violated.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "calibrate_gpt3_xl/facts.hpp"
#include "calibrate_gpt3_xl/least_squares.hpp"
#include "calibrate_gpt3_xl/prices.hpp"
#include "calibrate_gpt3_xl/surface.hpp"

namespace negawatt::calibrate {

/// A sum is drawn to its value gently inside a band around it, and firmly back into the band.
struct Band {
  double width = 0.0, inside = 0.0, outside = 0.0;
};

/// How far from each kind of fact counts as one error, in logarithms.
struct Tolerances {
  double chosen = 0.0;
  double extreme = 0.0;  ///< the extreme is reached
  double beyond = 0.0;   ///< a pair lies beyond the extreme
  Band near_pass;        ///< sums of a pass at pairs near automatic clocks
  Band far_pass;         ///< and at other pairs
  Band curve;            ///< totals along the relaxed curve
  double level = 0.0;    ///< a pair beats a level of the relaxed curve
  double plan = 0.0;     ///< a pair beats the chosen one
};

/// Adds rows for what was published of the kernels and the passes.
void add_fact_rows(const Facts& facts, const Surface& surface, const Tolerances& tolerances,
                   Rows& rows);

/// Adds rows for what was published of plans: at no price does a pair beat its kernel's level, and
/// the levels' pairs reach them.
void add_price_rows(const Facts& facts, const std::vector<PriceLevels>& prices,
                    const Surface& surface, const Tolerances& tolerances, Rows& rows);

}  // namespace negawatt::calibrate
