// SPDX-License-Identifier: Apache-2.0
/// What happens now, on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.
#pragma once

#include "src/core/units.h"

#include <chrono>
#include <string>

namespace scaleworth::cli {

class Progress {
 public:
  enum class Style { bar, lines, quiet };
  /// bar when stderr is a terminal, else lines; quiet on request.
  static Style suitable_style(bool quiet);

  /// `total` is the plan's estimate for everything.
  Progress(Style style, Seconds total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A probe begins that is expected to take `estimate`.
  void begin(const std::string& probe, Seconds estimate);
  /// `fraction` of the current probe is done; `what` comes now.
  void update(double fraction, const std::string& what);
  /// The current probe ended: `outcome` is one word and an optional reason.
  void end(const std::string& outcome);
  /// A line that must be seen (a warning), outside of the bar.
  void note(const std::string& line);

 private:
  void draw(const std::string& what);
  void clear();

  Style style_;
  Seconds total_;
  Seconds finished_{};  // estimates of the probes that have ended
  Seconds current_{};
  double fraction_ = 0.0;
  bool drawn_ = false;
  std::string probe_;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::steady_clock::time_point last_draw_{};
};

}  // namespace scaleworth::cli
