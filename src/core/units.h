// SPDX-License-Identifier: Apache-2.0
/// Strong quantities whose dimension is checked at compile time.
#pragma once

#include <compare>
#include <limits>
#include <type_traits>

namespace scaleworth {
/// The next whole number towards 0, the nearest one that the type holds for what lies beyond, and 0
/// for NaN: a plain cast of those is undefined.
template <class Integer>
constexpr Integer saturated(double value) {
  constexpr Integer least = std::numeric_limits<Integer>::min();
  constexpr Integer most = std::numeric_limits<Integer>::max();
  if (!(value > static_cast<double>(least))) return value < 0.0 ? least : Integer{0};
  return value < static_cast<double>(most) ? static_cast<Integer>(value) : most;
}

/// A number with the dimension second^S byte^B flop^F dollar^D, held in that base unit as a double.
/// Products and quotients carry the dimension along; a dimensionless result decays to double.
/// Byte and FLOP counts stay exact up to 2^53.
template <int S, int B, int F, int D>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  /// The number in base units (s, B, FLOP, USD and their quotients).
  constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value_ / k); }

 private:
  double value_ = 0.0;
};

/// What a product or quotient of this dimension is.
template <int S, int B, int F, int D>
using QuantityOrNumber =
    std::conditional_t<S == 0 && B == 0 && F == 0 && D == 0, double, Quantity<S, B, F, D>>;

template <int S1, int B1, int F1, int D1, int S2, int B2, int F2, int D2>
constexpr auto operator*(Quantity<S1, B1, F1, D1> a, Quantity<S2, B2, F2, D2> b) {
  return QuantityOrNumber<S1 + S2, B1 + B2, F1 + F2, D1 + D2>(a.value() * b.value());
}

template <int S1, int B1, int F1, int D1, int S2, int B2, int F2, int D2>
constexpr auto operator/(Quantity<S1, B1, F1, D1> a, Quantity<S2, B2, F2, D2> b) {
  return QuantityOrNumber<S1 - S2, B1 - B2, F1 - F2, D1 - D2>(a.value() / b.value());
}

template <int S, int B, int F, int D>
constexpr auto operator/(double k, Quantity<S, B, F, D> a) {
  return QuantityOrNumber<-S, -B, -F, -D>(k / a.value());
}

using Seconds = Quantity<1, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0>;
using Flops = Quantity<0, 0, 1, 0>;  // a count of floating-point operations
using Dollars = Quantity<0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using FlopPerSecond = Quantity<-1, 0, 1, 0>;
using FlopPerByte = Quantity<0, -1, 1, 0>;  // arithmetic intensity
using SecondsPerByte = Quantity<1, -1, 0, 0>;
using DollarsPerSecond = Quantity<-1, 0, 0, 1>;

inline constexpr double kibibyte = 1024.0;  // bytes
inline constexpr double mebibyte = 1024.0 * kibibyte;
inline constexpr double gibibyte = 1024.0 * mebibyte;
inline constexpr double seconds_per_hour = 3600.0;
inline constexpr double hours_per_year = 8760.0;  // of 365 days, as bills have it

constexpr DollarsPerSecond dollars_per_hour(double usd) {
  return DollarsPerSecond(usd / 3600.0);
}
constexpr double as_microseconds(Seconds time) {
  return time.value() * 1e6;
}
constexpr double as_milliseconds(Seconds time) {
  return time.value() * 1e3;
}
}  // namespace scaleworth
