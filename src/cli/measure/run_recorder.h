// SPDX-License-Identifier: Apache-2.0
/// Keeps what probes measure in the run and on disk, and turns recorded spans into trace and
/// ledger.
#pragma once

#include "probes/recorder.h"
#include "src/cli/measure/progress.h"
#include "src/core/run/record.h"
#include "src/core/run/run_directory.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// One probe at a time is current; what it adds goes to its record in `run` and soon to disk. A
/// number that is not finite is a ProbeFailure of that probe. When saving fails (disk full),
/// recording goes on in memory and `disk_trouble` says so.
class RunRecorder final : public probes::Recorder {
 public:
  /// `directory` may be null: nothing is written (ranks other than 0).
  RunRecorder(Run& run, RunDirectory* directory, Progress& progress);

  /// Marks the named record of `run` (added as pending before) as current.
  void begin(const std::string& probe, Seconds estimate);
  void end(ProbeStatus status, const std::string& reason);
  void save();
  /// Writes a file beside run.json and lists it in the run.
  void write_file(const std::string& name, const std::string& contents);
  const std::optional<std::string>& disk_trouble() const { return disk_trouble_; }

  void add(Point point) override;
  void add_timeline(const Point& setting, Timeline timeline) override;
  void add_rows(const std::string& name,
                const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows) override;
  void warn(const std::string& warning) override;
  void lose(const std::string& what, double amount) override;
  void progress(double fraction, const std::string& what) override;

 private:
  ProbeRecord& record(const std::string& probe);
  ProbeRecord& current() { return record(current_); }
  /// Runs `write`; a failure is remembered and told once.
  template <class Write>
  void guarded(Write write);
  void remember_file(const std::string& name);

  Run& run_;
  RunDirectory* directory_;
  Progress& progress_;
  std::string current_;
  std::optional<std::string> disk_trouble_;
  std::chrono::steady_clock::time_point begun_{};
};

}  // namespace scaleworth::cli
