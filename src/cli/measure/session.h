// SPDX-License-Identifier: Apache-2.0
/// One measuring invocation: the run being filled, its directory, its progress.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/machine.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure_flags.h"
#include "src/core/files/run_directory.h"
#include "src/core/process.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {
// What happens now, on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.

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

// Keeps what probes measure in the run and on disk, and turns recorded spans into trace and
// ledger.

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
  /// Runs `write`; a failure is remembered and reported once.
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

  /// Writes report.html beside run.json, with `options`.
  void write_report(const ReportOptions& options);

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

// Everything about machine and software that a reader needs to judge a run.

/// The section with the versions of the GPU vendor's libraries.
inline constexpr const char* gpu_libraries_section = "gpu libraries";

/// The machine's own facts, GPUs or why none, libraries found or why not, and the allow-listed
/// variables.
std::vector<FactSection> collect_environment(probes::Machine& machine,
                                             const std::string& mpi_module,
                                             const probes::VendorPaths& vendor_paths = {});

// No launcher started us: probe the node in this process, start ranks with mpirun, join the
// results.

/// As `measure`.
int measure_as_parent(const MeasureOptions& options, const std::vector<std::string>& arguments);

// The probes of this node, one after another.

/// Runs the plan's node probes and records them in `session`; roofline.gemm measures the user's
/// shapes where given.
void run_node_probes(Session& session,
                     const Plan& plan,
                     const probes::Setting& setting,
                     const MeasureOptions& options,
                     probes::Machine& machine);

// A launcher (mpirun, srun) started us: be one rank; rank 0 records and reports.

/// As `measure`. Ranks other than 0 print nothing and return rank 0's verdict on success or
/// failure. Throws UserError when MPI cannot be opened or announces another size than the launcher.
int measure_as_rank(MeasureOptions options,
                    const std::vector<std::string>& arguments,
                    const LaunchEnvironment& launch);

// Which machine is measured: this node's GPUs where it has some, else its cores.

/// The GPUs that the probes ask. `devices` is empty when nothing can be asked and only a plan is
/// wanted: `descriptions` are then of an assumed node, as `assumption` says.
struct ChosenDevices {
  probes::Devices devices;
  std::vector<probes::DeviceDescription> descriptions;
  std::string assumption;
};

/// Absent: measure the host (--machine host, or auto on a node without a GPU).
/// Throws NothingMeasurable with the remedy when --machine cuda finds no GPU (unless --dry-run,
/// which then plans for an assumed one), and when GPUs are there but cannot be used: measuring the
/// host instead would answer another question than the one that was asked.
std::optional<ChosenDevices> choose_devices(const MeasureOptions& options);

// Measures this node's GPUs: in one process, or as one rank per GPU of a launcher's job.

/// As `measure`, on `chosen`. With a launcher every process calls it: rank 0 asks the GPUs of its
/// node while the others wait, all of them measure what lies between ranks, rank 0 reports.
int measure_on_devices(const MeasureOptions& options,
                       const std::vector<std::string>& arguments,
                       const LaunchEnvironment& launch,
                       ChosenDevices chosen);
}  // namespace scaleworth::cli
