// SPDX-License-Identifier: Apache-2.0
/// Waiting until clock and power of a busy GPU have settled.
#pragma once

#include "probes/gpu/device.h"
#include "src/core/units.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {

struct SettleRule {
  Seconds minimum{3.0};
  Seconds maximum{10.0};
  Seconds window{2.0};   // looked back over
  double change = 0.01;  // over the window, relative
};

/// Means over a piece of time.
struct SettlePiece {
  std::optional<double> clock_hz;  // absent where it could not be counted
  double product_s = 0.0;          // time of one product
  std::optional<double> power_w;   // absent without telemetry
};

/// Fed with equal pieces of time; settled when neither clock nor power has changed by more than the
/// rule allows: the least-squares slope over the window times its length, relative to the mean.
/// While the window holds a piece without a clock, the rate of the product stands for the clock;
/// one without power leaves it to the clock alone.
class SettleWatch {
 public:
  explicit SettleWatch(const SettleRule& rule) : rule_(rule) {}
  void add(Seconds duration, const SettlePiece& piece);
  bool settled() const;
  bool finished() const { return settled() || elapsed_ >= rule_.maximum; }
  Seconds elapsed() const { return elapsed_; }
  /// "settled after 3.2 s (over the last 2 s: clock 0.4 %, power 0.1 %)".
  std::string explanation() const;

 private:
  enum class Series { clock, rate, power };
  struct Ended {
    double end_s;
    SettlePiece piece;
  };
  static std::optional<double> value(Series series, const SettlePiece& piece);
  bool in_window(const Ended& ended) const;
  /// The clock where every piece of the window has one, else the rate.
  Series speed() const;
  /// Relative change over the window; absent while it is not full or for a missing series.
  std::optional<double> change(Series series) const;

  SettleRule rule_;
  Seconds elapsed_{};
  std::vector<Ended> pieces_;
};

/// Runs the product without gaps until the watch is content.
SettleWatch settle(GemmSession& session, const GemmCandidate& candidate, const SettleRule& rule);

}  // namespace scaleworth::probes
