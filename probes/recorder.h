// SPDX-License-Identifier: Apache-2.0
/// Where a probe puts what it measured, point by point, so that an interruption loses nothing.
#pragma once

#include "src/core/run/record.h"
#include "src/core/span.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Keeps one measured setting.
  virtual void add(Point point) = 0;
  /// Keeps the spans of one measured setting; `setting` is the point they belong to (already
  /// added).
  virtual void add_timeline(const Point& setting, Timeline timeline) = 0;
  /// Keeps rows of a table beside run.json; `name` ends in .csv, columns carry units. Appends; the
  /// header is written once.
  virtual void add_rows(const std::string& name,
                        const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows) = 0;
  virtual void warn(const std::string& warning) = 0;
  /// Counts something lost ("discarded_samples").
  virtual void lose(const std::string& what, double amount) = 0;
  /// `fraction` of this probe done, 0 to 1, and what comes now; shown on stderr.
  virtual void progress(double fraction, const std::string& what) = 0;
};

}  // namespace scaleworth::probes
