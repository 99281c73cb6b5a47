// SPDX-License-Identifier: Apache-2.0
//
// Physical quantities with their dimension in the type: Watts * Seconds is Joules and
// Watts + Joules does not compile. A Quantity is one double in SI units; it costs nothing
// at run time. Construction is explicit, reading the number is explicit (`in_si()`).
#pragma once

#include <cmath>
#include <compare>

namespace negawatt {

/// A number of SI units with dimension kg^Mass * m^Length * s^Time.
template <int Mass, int Length, int Time>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : si_(si) {}

  [[nodiscard]] constexpr double in_si() const { return si_; }
  [[nodiscard]] bool is_finite() const { return std::isfinite(si_); }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-si_); }
  constexpr Quantity& operator+=(Quantity other) { return si_ += other.si_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return si_ -= other.si_, *this; }
  constexpr Quantity& operator*=(double factor) { return si_ *= factor, *this; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.si_ + b.si_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.si_ - b.si_); }
  friend constexpr Quantity operator*(Quantity a, double f) { return Quantity(a.si_ * f); }
  friend constexpr Quantity operator*(double f, Quantity a) { return Quantity(a.si_ * f); }
  friend constexpr Quantity operator/(Quantity a, double f) { return Quantity(a.si_ / f); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.si_ / b.si_; }

 private:
  double si_ = 0.0;
};

template <int M1, int L1, int T1, int M2, int L2, int T2>
[[nodiscard]] constexpr auto operator*(Quantity<M1, L1, T1> a, Quantity<M2, L2, T2> b) {
  return Quantity<M1 + M2, L1 + L2, T1 + T2>(a.in_si() * b.in_si());
}

template <int M1, int L1, int T1, int M2, int L2, int T2>
[[nodiscard]] constexpr auto operator/(Quantity<M1, L1, T1> a, Quantity<M2, L2, T2> b) {
  return Quantity<M1 - M2, L1 - L2, T1 - T2>(a.in_si() / b.in_si());
}

using Seconds = Quantity<0, 0, 1>;
using Joules = Quantity<1, 2, -2>;
using Watts = Quantity<1, 2, -3>;

/// Relative change in percent, the way every saving is reported: -9.6 means 9.6 % less.
template <int M, int L, int T>
[[nodiscard]] constexpr double change_pct(Quantity<M, L, T> from, Quantity<M, L, T> to) {
  return 100.0 * (to / from - 1.0);
}

}  // namespace negawatt
