// SPDX-License-Identifier: Apache-2.0
/// What a GPU's compute, memory and transfers are measured at, and the probes that measure them.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/registry.h"
#include "src/core/units.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace scaleworth::probes {
/// What a GPU is asked: all of a suite's settings, or few that show an outlier.
enum class Part { full, glance };

/// One GPU as plans see it.
struct PlannedDevice {
  DeviceDescription description;
  Suite suite = Suite::quick;
  Part part = Part::full;
  Bytes available;  // memory that may still be allocated
};

/// Equal for GPUs of the same name, multiprocessors and memory.
std::string kind_of(const DeviceDescription& description);

/// The first of each kind in full and a glance at the others. For estimates: nine tenths of each
/// GPU's memory are taken for available.
std::vector<PlannedDevice> planned_devices(const DeviceSetting& setting);
/// The same with what is really available now. A GPU that is lost reports none: the next of its
/// kind is the one that is measured in full.
std::vector<PlannedDevice> planned_devices(const Devices& devices, const DeviceSetting& setting);

/// Says which GPUs are measured in full, and that the others get a `glance` ("fp32 only") or
/// nothing (empty `glance`); says nothing where each is measured in full.
void warn_of_glance(const std::vector<PlannedDevice>& planned,
                    const std::string& glance,
                    Recorder& recorder);

/// Expected time of a setting by the rules of batching.h: calibration, warm-up, and little more
/// than the least number of samples. A sample lasts 20 ms, or one `operation` that is longer, or as
/// many as a queue holds of one that is very short.
Seconds device_setting_time(const Pace& pace, Seconds operation = Seconds(1e-3));

/// "48 KiB", "1.5 GiB".
std::string size_name(Bytes size);

/// What `device` says is available, or `presumed` where it is lost.
Bytes available_or(const Device& device, Bytes presumed);

/// Every format with an FMA of the CUDA cores. Nothing for a glance.
std::vector<NumberFormat> device_compute_plan(const PlannedDevice& planned);

/// Nothing for a glance.
std::vector<LaunchKind> device_launch_plan(const PlannedDevice& planned);

/// In random order: one node per line of 128 bytes over sets from 4 KiB to the larger of 4 times
/// the L2 cache and 256 MiB, or a quarter of the available memory; standard suite: and one node per
/// 2 MiB from 64 MiB to half of the available memory, in which the reach of the TLBs shows. Nothing
/// for a glance.
std::vector<ChaseWork> chase_plan(const PlannedDevice& planned);

/// Whether the arrays of a sweep lie in the L2 cache or beyond it: the best kernel differs.
enum class Region { cache, memory };

/// Working sets, all arrays together, ascending: from the larger of 1 MiB and a
/// 32nd of the L2 cache to the larger of 1 GiB and 4 times the L2 cache, or half of the available
/// memory where that is less. Multiples of 12 KiB: whole pages for one, two and three arrays.
std::vector<Bytes> device_sets(const PlannedDevice& planned);
/// Says that the sets end early because of memory; absent when they do not.
std::optional<Finding> device_memory_shortage(const PlannedDevice& planned);
/// A set that fits the L2 cache whole is in the region of the cache.
Region region_of(const PlannedDevice& planned, Bytes working_set);

/// Every kernel by every variant of the suite at one size per region, a quarter of the L2 cache
/// and the largest of the sweep; streaming variants in memory only. In random order; nothing for a
/// glance.
std::vector<StreamWork> pilot_plan(const PlannedDevice& planned);

/// The fastest variants seen. Before anything was seen: 512 threads, 4 accesses at once.
class VariantChoice {
 public:
  void saw(const StreamWork& work, Region region, BytesPerSecond rate);
  StreamVariant best(MemoryKernel kernel, Region region, bool streaming) const;

 private:
  struct Fastest {
    StreamVariant variant;
    BytesPerSecond rate;
  };
  std::map<std::tuple<MemoryKernel, Region, bool>, Fastest> fastest_;  // bool: streaming
};

/// Every kernel over every set, in random order, by the region's best variant with default caching,
/// and in memory by the best streaming one (quick suite: at the largest set only); then read by
/// single multiprocessors around the size of their L1 and of 32 KiB of shared memory. A glance is
/// the read of the largest set.
std::vector<StreamWork> sweep_plan(const PlannedDevice& planned, const VariantChoice& choice);

/// Read of nine tenths of what is available, in which slow or remapped regions show; standard suite
/// only.
std::optional<StreamWork> whole_memory_work(const PlannedDevice& planned,
                                            const VariantChoice& choice);

/// What the memory's bus moves by its clock and width, two transfers a clock; 1 TB/s where the
/// driver does not report it. For estimates only.
BytesPerSecond presumed_memory_rate(const DeviceDescription& description);

// The probes of the registry. Each `measure_` records one point per setting of a plan (names in
// run.h), each `estimate_` adds up the same plan. A GPU that breaks does not end the
// measuring of the others.

DeviceProbe::Measure measure_device_compute, measure_device_memory, measure_device_latency,
    measure_device_transfer, measure_device_launch;
DeviceProbe::Estimate estimate_device_compute, estimate_device_memory, estimate_device_latency,
    estimate_device_transfer, estimate_device_launch;

/// A setting that breaks becomes a warning with the GPU's ordinal; a GPU that breaks twice in a row
/// is asked nothing more in this walk, so that the time-outs of a lost one do not add up. Wrong
/// results do not count for that: each is a point without samples that says so.
class DeviceWalk {
 public:
  DeviceWalk(Recorder& recorder, std::size_t settings) : recorder_(recorder), settings_(settings) {}

  /// Calls `measure`, which records what it measured of `device`; `what` names the setting in the
  /// progress and in warnings, `setting` is its point without samples. Interrupted passes.
  void ask(const Device& device,
           const std::string& what,
           Point setting,
           const std::function<void()>& measure);
  /// Gives back the memory that `device` keeps; a failure is a warning.
  void release(Device& device);
  /// Throws ProbeFailure, or NothingToMeasure when nothing broke, with the first reason, if no
  /// setting was measured.
  void finish() const;

 private:
  void note(int gpu, const std::string& what, const Finding& reason);

  Recorder& recorder_;
  std::size_t settings_;
  std::size_t asked_ = 0;
  std::size_t measured_ = 0;
  std::map<int, int> failures_in_a_row_;  // by ordinal
  std::string first_failure_;
  std::optional<Finding> first_absence_;
};

/// Host to GPU and back, in random order: pinned by copy engine and by kernel, pageable by copy
/// engine, from 4 KiB to 1 GiB (64 MiB in the quick suite) or a quarter of the available memory;
/// both directions at once at the larger sizes; from and to every NUMA node at one large size where
/// there are several. A copy inside the GPU by both engines. A glance is one large pinned copy each
/// way, in which a slow link shows.
std::vector<TransferWork> own_transfer_plan(const PlannedDevice& planned, int host_numa_nodes);

/// From planned[index] to every other GPU by copy engine at one large size; quick suite: of a GPU
/// that is not measured in full to the next one only, so that each has data in and out. Standard
/// suite, of one that is: also both ways at once (with those after it), and by its kernels, writing
/// and reading.
std::vector<TransferWork> peer_transfer_plan(const std::vector<PlannedDevice>& planned,
                                             std::size_t index);

/// The same large pinned transfer for every GPU at the same time, into the GPUs and out of them;
/// standard suite with several GPUs, else nothing. One row per direction, one work per GPU.
std::vector<std::vector<TransferWork>> together_plan(const std::vector<PlannedDevice>& planned);
}  // namespace scaleworth::probes
