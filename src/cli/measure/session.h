// SPDX-License-Identifier: Apache-2.0
/// One measuring invocation: the run being filled, its directory, its progress.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/host/cpu_state.h"
#include "probes/machine.h"
#include "src/cli/application.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure_flags.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/run_directory.h"
#include "src/core/non_copyable.h"
#include "src/core/process.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <chrono>
#include <optional>
#include <span>

namespace scaleworth::cli {
/// What happens now, on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.
class Progress : NonCopyable {
 public:
  /// `total` is the plan's estimate for everything.
  Progress(bool quiet, Seconds total);
  ~Progress() { clear(); }

  void begin(const std::string& probe, Seconds estimate);
  /// `fraction` of the current probe is done; `what` comes now.
  void update(double fraction, const std::string& what);
  /// The current probe ended: `outcome` is one word and an optional reason.
  void end(const std::string& outcome, double seconds);
  void note(const std::string& line);
  void clear();

 private:
  enum class Style { bar, lines, quiet };
  void draw(const std::string& what);

  Style style_;
  Seconds total_;
  Seconds finished_{};  // estimates of the probes that have ended
  Seconds current_{};
  double fraction_ = 0.0;
  bool drawn_ = false;
  std::string probe_;
  std::chrono::steady_clock::time_point last_draw_{};
};

/// Keeps what probes measure in the run and soon on disk; a number that is not finite is a
/// ProbeFailure. When saving fails (disk full), recording goes on in memory.
class Session final : public Recorder {
 public:
  /// Creates the run directory, if it is to `write`, with every planned probe as pending. `options`
  /// and `plan` must outlive the session. Throws UserError.
  Session(const MeasureOptions& options,
          const Plan& plan,
          const std::vector<std::string>& arguments,
          bool write);

  const MeasureOptions& options() const { return options_; }
  const Plan& plan() const { return plan_; }
  Run& run() { return run_; }
  /// Empty when nothing is written.
  std::string directory() const { return directory_ ? directory_->path().string() : ""; }

  /// `measure(probe)` for each probe of the table that is planned; records how it ended.
  /// Interrupted is recorded and passed on.
  template <class Probe, class Measure>
  void run_probes(std::span<const Probe> table, Measure measure) {
    for (const PlannedProbe& planned : plan_.probes) {
      const Probe* probe = find_in(table, planned.name, &Probe::name);
      if (probe) run_probe(planned, [&] { measure(*probe); });
    }
  }
  /// `look(probe)` for each of those that were measured and have main figures to look at again.
  template <class Probe, class Look>
  void look_again(std::span<const Probe> table, Look look) {
    for (const Probe& probe : table) {
      const auto* first = find_in(run_.probes, probe.name, &ProbeRecord::name);
      if (!probe.look_again || !first || first->status != ProbeStatus::measured) continue;
      current_ = probe.name;
      try {
        look(probe);
      } catch (const ProbeFailure&) {
        // The first look stands.
      }
      progress_.clear();
    }
  }
  /// One of the plan, unless it was left out of it.
  void run_probe(const PlannedProbe& probe, const std::function<void()>& measure);
  /// The whole of `measure`, or until a signal, which is remembered.
  void until_interrupted(const std::function<void()>& measure);

  /// `own`: as in gpu_facts.
  void record_environment(Machine& machine, std::span<const pid_t> own = {});
  /// How the ranks of `group` came about.
  void record_ranks(const RankGroup& group, const char* medium, const LaunchEnvironment& launch);
  /// Each node with its ranks and network cards.
  void record_nodes(RankGroup& group);
  /// After the last probe, on every rank: the CPU time of the job's other processes on this node is
  /// not that of other programs.
  void count_ranks(RankGroup& group);
  /// Warns the reader when `ranks` processes share `cores` of one node.
  void warn_of_sharing(int ranks, int cores);

  /// A line on stderr, unless it is to be quiet.
  void note(const std::string& line) { progress_.note(line); }

  /// The value of --part-of-bench for the next process that leaves its results to us.
  std::string memory_path() { return memory_.emplace().path(); }
  /// Takes over what other processes left in the run directory `part` inside ours, or in memory:
  /// the ranks, or all of the run `number`, from 1, whose points join those of the runs before.
  /// What they did not reach is failed with `failure` (absent: they ended well).
  void adopt_part(const std::string& part, const std::optional<Finding>& failure, int number = 0);

  /// Marks the run complete, or interrupted, and saves it.
  void close();
  /// Closes the run and reports it on stdout and beside run.json. Returns the exit code.
  int conclude();
  int exit_code() const { return interruption_ ? exit_interrupted(interruption_->signal()) : 0; }

  void add(Point point) override;
  /// Also as a trace file, and as points of the step ledger.
  void add_timeline(const Point& setting, Timeline timeline) override;
  void add_rows(const std::string& name,
                const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows) override;
  void warn(const Finding& warning) override { record(current_).warnings.push_back(warning); }
  void lose(const std::string& what, double amount) override {
    record(current_).losses[what] += amount;
  }
  void progress(double fraction, const std::string& what) override {
    progress_.update(fraction, what);
  }

 private:
  ProbeRecord& record(const std::string& probe);
  void save();
  void write_file(const std::string& name, const std::string& contents);
  void remember_file(const std::string& name);
  /// Runs `write`; a failure is remembered and reported once.
  template <class Write>
  void guarded(Write write);

  const MeasureOptions& options_;
  const Plan& plan_;
  Run run_;
  std::optional<RunDirectory> directory_;
  std::optional<MemoryFile> memory_;
  Progress progress_;
  std::string current_;
  std::string folder_;  // of what ranks measured, within the directory; empty or with a slash
  std::optional<Finding> disk_trouble_;
  std::optional<Interrupted> interruption_;
  host::LoadWatch load_;
  /// CPU time of the job's other processes on this node; absent while it is not known.
  std::optional<double> other_ranks_cpu_s_ = 0.0;
};

inline constexpr const char* gpu_libraries_section = "gpu libraries";

/// What a reader needs to judge a run: facts of the machine, GPUs or why none, libraries found or
/// why not, and the allow-listed variables. `own`: as in gpu_facts.
MachineFacts collect_environment(Machine& machine,
                                 const std::string& mpi_module,
                                 const VendorPaths& vendor_paths,
                                 std::span<const pid_t> own = {});

// The measuring job. Each prints the result on stdout and returns the exit code; `arguments` are
// recorded with the run. Each throws UserError for what cannot be asked.

/// The whole plan in fresh processes, `options.repeat` times: their samples as one run.
int measure_repeatedly(const MeasureOptions& options,
                       const Plan& plan,
                       const std::vector<std::string>& arguments);

/// No launcher started us: probe the node in this process, start ranks, join the results. With
/// --dry-run the plan is that of the launched job `planned`, if any.
int measure_as_parent(const MeasureOptions& options,
                      const std::vector<std::string>& arguments,
                      const LaunchEnvironment& planned = {});

/// roofline.gemm measures the user's shapes where given.
void run_node_probes(Session& session, const PlanInputs& setting, Machine& machine);

/// At the end of the run.
void look_again(Session& session, const PlanInputs& setting, Machine& machine);

/// A launcher (mpirun, srun) started us: be one rank; rank 0 records and reports. Throws UserError
/// also when MPI cannot be opened or announces another size than the launcher.
int measure_as_rank(MeasureOptions options,
                    const std::vector<std::string>& arguments,
                    const LaunchEnvironment& launch);

/// The GPUs that the probes ask. `devices` is empty when nothing can be asked and only a plan is
/// wanted: `descriptions` are then of an assumed node, as `assumption` says.
struct ChosenDevices {
  Devices devices;
  std::vector<DeviceDescription> descriptions;
  std::string assumption;
};

/// This node's GPUs, with --dry-run an assumed one; absent: measure the host. Throws
/// NothingMeasurable when --machine cuda finds no GPU, and when GPUs cannot be used.
std::optional<ChosenDevices> choose_devices(const MeasureOptions& options);

/// Measures `chosen`, in one process or as one rank per GPU of a launcher's job: rank 0 asks the
/// GPUs of its node while the others wait, all measure what lies between ranks, rank 0 reports.
int measure_on_devices(const MeasureOptions& options,
                       const std::vector<std::string>& arguments,
                       const LaunchEnvironment& launch,
                       ChosenDevices chosen);
}  // namespace scaleworth::cli
