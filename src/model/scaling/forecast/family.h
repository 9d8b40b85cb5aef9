// SPDX-License-Identifier: Apache-2.0
/// Laws of the time of the same work against the count, each as a way to fit it.
#pragma once

#include "src/model/scaling/contention/law.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {

/// Seconds that the same work takes at a count.
using TimeAt = std::function<double(double)>;

struct FittedLaw {
  std::vector<double> coefficients;  // in the order of the family's formula; s
  TimeAt time;
};

struct LawFamily {
  std::string name;
  std::string formula;         // of T(K)
  std::size_t parameters = 1;  // to be fitted, exponents among them
  /// By least relative squares, coefficients >= 0. At least one point, ascending.
  std::function<FittedLaw(std::span<const LawPoint>)> fit;
};

/// Fewest terms first:
///   constant efficiency a/K; constant; Amdahl a/K + b; and with the loss K T(K) growing as
///   a + b log2 K, a + b sqrt K or a K^b (least squares of the logarithms, 0 <= b <= 2); constant
///   and logarithm; Amdahl and logarithm; contention-coherency; all four terms; performance-model
///   normal form.
std::vector<LawFamily> law_families();

/// T(K) = a/K + b + `communication`(K), the part that is known from elsewhere.
LawFamily informed_family(TimeAt communication);

inline constexpr const char* amdahl_family = "Amdahl";
inline constexpr const char* logarithmic_family = "logarithmic loss";

}  // namespace scaleworth::model
