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

/// Fed with means over equal pieces of time; settled when neither clock nor power has changed by
/// more than the rule allows: the least-squares slope over the window times its length, relative to
/// the mean.
class SettleWatch {
 public:
  explicit SettleWatch(const SettleRule& rule) : rule_(rule) {}
  /// `power_w` is absent without telemetry: then the clock decides alone.
  void add(Seconds piece, double clock, std::optional<double> power_w);
  bool settled() const;
  bool finished() const { return settled() || elapsed_ >= rule_.maximum; }
  Seconds elapsed() const { return elapsed_; }
  /// "clock settled after 3.2 s (0.4 % in 2 s)".
  std::string explanation() const;

 private:
  struct Piece {
    double end_s;
    double clock;
    std::optional<double> power_w;
  };
  /// Relative change over the window; absent while it is not full or for a missing series.
  std::optional<double> change(bool of_power) const;

  SettleRule rule_;
  Seconds elapsed_{};
  std::vector<Piece> pieces_;
};

/// Runs the product without gaps until the watch is content. Where clocks cannot be counted the
/// rate of the product stands for the clock.
SettleWatch settle(GemmSession& session, const GemmCandidate& candidate, const SettleRule& rule);

}  // namespace scaleworth::probes
