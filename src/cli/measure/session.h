// SPDX-License-Identifier: Apache-2.0
/// One measuring invocation: the run being filled, its directory, its progress.
#pragma once

#include "src/cli/measure/measure_options.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure/progress.h"
#include "src/cli/measure/run_recorder.h"
#include "src/core/run/record.h"
#include "src/core/run/run_directory.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

class Session {
 public:
  /// Creates the run directory (`write` false: nothing is written) and records every planned probe
  /// as pending. Throws UserError when the directory cannot be created.
  Session(const MeasureOptions& options,
          const Plan& plan,
          const std::vector<std::string>& arguments,
          bool write);

  Run& run() { return run_; }
  RunRecorder& recorder() { return recorder_; }
  Progress& progress() { return progress_; }
  /// Empty when nothing is written.
  std::string directory() const;

  /// Runs one probe and records how it ended: measured, skipped (NothingToMeasure) or failed
  /// (ProbeFailure, out of memory). Interrupted is recorded and passed on.
  void run_probe(const PlannedProbe& probe, const std::function<void()>& measure);

  /// Takes over what the rank processes left in the run directory `part` inside ours: records,
  /// files, facts. What they did not reach is failed with `failure` when they ended badly (absent:
  /// they ended well).
  void adopt_part(const std::string& part, const std::optional<std::string>& failure);

  /// Writes report.html beside run.json, as told with `options`.
  void write_report(const TellOptions& options);

  /// Marks the run complete, or interrupted with `interruption`, and saves it.
  void close(const std::string& interruption);
  /// 0, or 1 when a probe failed or the disk did.
  int exit_code() const;

 private:
  void adopt_record(ProbeRecord record, const std::optional<std::string>& failure);

  Run run_;
  std::optional<RunDirectory> directory_;
  Progress progress_;
  RunRecorder recorder_;
};

}  // namespace scaleworth::cli
