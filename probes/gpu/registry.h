// SPDX-License-Identifier: Apache-2.0
/// The table of the probes of a node's GPUs: `list`, help, plan and tests read it.
#pragma once

#include "probes/gpu/device.h"
#include "probes/registry.h"
#include "src/core/estimate.h"
#include "src/core/process.h"
#include "src/core/run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace scaleworth::probes {
using Devices = std::vector<std::unique_ptr<Device>>;

/// What a plan is made from, without measuring anything.
struct DeviceSetting {
  Suite suite = Suite::quick;
  std::vector<DeviceDescription> devices;
  int host_numa_nodes = 1;
  /// The user's own products (--shape, --shape-file) or a model's (--model): instead of the shape
  /// search; with the name that the user gave each.
  struct NamedProblem {
    std::string name;
    GemmProblem problem;
  };
  std::vector<NamedProblem> own_problems;
};

/// Of a node's GPUs; each point has the GPU's ordinal.
using DeviceProbe = Probe<DeviceSetting, Devices&, const DeviceSetting&, Recorder&>;

std::span<const DeviceProbe> device_probes();

/// Wall-clock time of probes that run one after another: each may last a tenth and a second longer
/// than its estimate, and use what those before it have left; one that lasted longer takes nothing
/// from those behind it.
class TimeBudget {
 public:
  /// `now`, in seconds since any moment; tests have a clock of their own.
  explicit TimeBudget(std::function<double()> now) : now_(std::move(now)), end_s_(now_()) {}
  // A tenth and a second beyond the estimate: it is one of medians. Less would cut runs that are
  // sound.
  void begin(Seconds estimate) { end_s_ = std::max(end_s_, now_()) + 1.0 + 1.1 * estimate.value(); }
  bool is_over() const { return now_() >= end_s_; }
  /// What `action` takes is none of the probes' time.
  void pause_for(const std::function<void()>& action) {
    struct Resume {
      TimeBudget& budget;
      double begun_s = budget.now_();
      ~Resume() { budget.end_s_ += budget.now_() - begun_s; }
    } resume{*this};
    action();
  }

 private:
  std::function<double()> now_;
  double end_s_;
};

/// Measures until the probe's time is over; what was recorded by then stays, and a warning says so.
/// Throws what the probe throws, NothingToMeasure where no time was left for it.
void measure_in_time(const DeviceProbe& probe,
                     Devices& devices,
                     const DeviceSetting& setting,
                     TimeBudget& budget,
                     Recorder& recorder);

struct TimeOver {};

/// Passes on and counts what was recorded. Throws TimeOver when a point was recorded or progress
/// was made after the end of `budget`.
class CountingRecorder final : public Recorder {
 public:
  explicit CountingRecorder(Recorder& inner, const TimeBudget* budget = nullptr)
      : inner_(inner), budget_(budget) {}
  void add(Point point) override {
    ++points_;
    inner_.add(std::move(point));
    require_time();
  }
  void add_timeline(const Point& setting, Timeline timeline) override {
    inner_.add_timeline(setting, std::move(timeline));
  }
  void add_rows(const std::string& name,
                const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows) override {
    inner_.add_rows(name, header, rows);
  }
  void warn(const Finding& warning) override { inner_.warn(warning); }
  void lose(const std::string& what, double amount) override { inner_.lose(what, amount); }
  void progress(double fraction, const std::string& what) override {
    require_time();
    inner_.progress(fraction, what);
  }
  std::size_t points() const { return points_; }

 private:
  void require_time() const {
    if (budget_ != nullptr && budget_->is_over()) throw TimeOver{};
  }

  Recorder& inner_;
  const TimeBudget* budget_;
  std::size_t points_ = 0;
};

// The seam to the GPU layer: which definitions are linked decides. cuda/ in a CUDA build,
// probes/gpu/absent.cpp otherwise, tests/sim/gpu/open_sim.cpp in the rehearsal program.

/// Paths that the user gave (--cublas-lib, ...); empty: search.
struct VendorPaths {
  std::string cublas_lt;
  std::string nccl;
  std::string nvml;
  std::string cupti;
};

/// A rung of the degradation ladder: one vendor library, found or not, and what is lost without it.
struct VendorLibrary {
  std::string name;     // "cuBLASLt"
  std::string version;  // empty when not found
  std::string path;     // empty when not found
  std::string reason;   // why it is missing, or which search step found it
  std::string lost;     // the probes and figures that are lost without it
};
std::vector<VendorLibrary> vendor_libraries(const VendorPaths& paths);

/// One section per GPU ("gpu 0", ...), and "cuda" with the versions, and "gpu links" with the
/// peer matrix, which the links repeat as values. `own`: the processes of this job on this node,
/// which are no other programs; this process need not be among them. Without a GPU as open_devices.
Outcome<MachineFacts> gpu_facts(const VendorPaths& paths, std::span<const pid_t> own);

/// Every GPU that this process sees. Skipped with the reason when the node shows neither GPU nor
/// driver (driver_signs.h); Failed when it does and none can be used, with the remedy.
Outcome<Devices> open_devices(const VendorPaths& paths);

struct DeviceGroupRequest {
  /// With a world of several ranks: one process per GPU, meeting at the rendezvous. Without: this
  /// process has all GPUs that it sees.
  LaunchEnvironment launch;
  /// Several ranks of the launcher may have one GPU: plumbing only.
  bool shared_gpu = false;
};

/// The ranks of this job on GPUs, over NCCL. To be called once and before any other thread is
/// started: it sets variables that NCCL reads. Every process of the job calls it. Skipped with the
/// reason without GPU, NCCL or CUDA in this build; Failed when a rank never came or broke, named.
/// Throws UserError for a launch that cannot be right, with the remedy.
Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& paths,
                                                      const DeviceGroupRequest& request);
}  // namespace scaleworth::probes
