// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/laws/gustafson.h"

#include "src/core/error.h"
#include "src/core/statistics/student_t.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::model {
namespace {

constexpr std::size_t least_counts = 3;
constexpr int bisections = 60;
constexpr double confidence = 0.95;

/// For a given s the best g and the squares that it leaves.
struct Profile {
  double rate = 0.0;
  double squares = 0.0;
};

Profile profile_at(const std::vector<LawPoint>& points, double serial) {
  double products = 0.0;
  double columns = 0.0;
  for (const LawPoint& at : points) {
    const double column = at.ranks * at.time * (1.0 - serial + serial / at.ranks);
    products += column;
    columns += column * column;
  }
  Profile profile{products / columns, static_cast<double>(points.size())};
  profile.squares -= products * products / columns;
  profile.squares = std::max(0.0, profile.squares);
  return profile;
}

/// The squares have one minimum in s: golden-section search.
double best_serial(const std::vector<LawPoint>& points) {
  const double ratio = 0.5 * (std::sqrt(5.0) - 1.0);
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < bisections; ++i) {
    const double first = high - ratio * (high - low);
    const double second = low + ratio * (high - low);
    if (profile_at(points, first).squares <= profile_at(points, second).squares) {
      high = second;
    } else {
      low = first;
    }
  }
  return 0.5 * (low + high);
}

double end_towards(const std::vector<LawPoint>& points,
                   double inside,
                   double outside,
                   double limit) {
  if (profile_at(points, outside).squares <= limit) return outside;
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (inside + outside);
    (profile_at(points, middle).squares <= limit ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

double gustafson_speedup(double serial, double count) {
  return count - serial * (count - 1.0);
}

double amdahl_serial_of(double gustafson_serial, double count) {
  return gustafson_serial / (gustafson_serial + count * (1.0 - gustafson_serial));
}

std::optional<GustafsonFit> fit_gustafson(const std::vector<LawPoint>& points) {
  for (const LawPoint& at : points) {
    if (!(at.time > 0.0) || !std::isfinite(at.time)) {
      throw UserError("a scaling law needs step times above zero; measure again");
    }
  }
  if (different_counts(points) < least_counts) return std::nullopt;
  const double serial = best_serial(points);
  const Profile best = profile_at(points, serial);
  const auto degrees = static_cast<double>(points.size() - 2);
  const double t = student_t_two_sided(confidence, degrees);
  const double limit = best.squares * (1.0 + t * t / degrees);
  GustafsonFit fit;
  fit.single = 1.0 / best.rate;
  fit.serial = {serial,
                Interval<double>{end_towards(points, serial, 0.0, limit),
                                 end_towards(points, serial, 1.0, limit)},
                points.size()};
  fit.residual = std::sqrt(best.squares / static_cast<double>(points.size()));
  for (const LawPoint& at : points) {
    fit.largest_count = std::max(fit.largest_count, static_cast<double>(at.ranks));
  }
  fit.amdahl_serial = amdahl_serial_of(serial, fit.largest_count);
  return fit;
}

}  // namespace scaleworth::model
