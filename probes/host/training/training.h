// SPDX-License-Identifier: Apache-2.0
/// The reference step on CPU ranks: one rank, all ranks of a group, and the spans that they record.
#pragma once

#include "probes/host/blas.h"
#include "probes/host/ranks/mpi_module.h"
#include "probes/host/training/model.h"
#include "probes/ranks.h"
#include "src/core/span.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::probes::host {
using TrainingClock = std::chrono::steady_clock;

/// A span as ranks exchange it: plain memory, the name as a number of the recorder's table.
struct RecordedSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t step = 0;
  std::int32_t sequence = -1;
  std::int32_t name = 0;
  Activity activity = Activity::compute;
};

class SpanRecorder {
 public:
  /// Before recording: a number for `name`. Ranks that name the same things in the same order have
  /// the same table.
  std::int32_t intern(std::string name) {
    names_.push_back(std::move(name));
    return static_cast<std::int32_t>(names_.size()) - 1;
  }
  /// Makes room for `spans`; what goes beyond is dropped and counted.
  void reserve(std::size_t spans) { spans_.reserve(spans); }
  /// Spans belong to `step` from now on; those of a negative one (warm-up) are not kept.
  void begin_step(std::int32_t step) { step_ = step; }

  void add(Activity activity,
           std::int32_t name,
           std::int32_t sequence,
           TrainingClock::time_point start,
           TrainingClock::time_point end) noexcept {
    if (step_ < 0) return;
    if (spans_.size() == spans_.capacity()) {
      ++dropped_;
      return;
    }
    spans_.push_back({to_ns(start), to_ns(end), step_, sequence, name, activity});
  }

  const std::vector<RecordedSpan>& spans() const { return spans_; }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t dropped() const { return dropped_; }

 private:
  static std::int64_t to_ns(TrainingClock::time_point time) {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
  }

  std::vector<RecordedSpan> spans_;
  std::vector<std::string> names_;
  std::int32_t step_ = -1;
  std::size_t dropped_ = 0;
};

/// Appends a rank's spans, shifted by `offset`, to `timeline`.
void append_spans(const std::vector<RecordedSpan>& spans,
                  const std::vector<std::string>& names,
                  Rank rank,
                  std::chrono::nanoseconds offset,
                  Timeline& timeline);

/// The training of one rank without MPI: `work.ranks` must be 1.
/// Throws UserError for impossible work, ProbeFailure when the memory cannot be had or the loss is
/// no longer finite, Interrupted between steps.
TrainingMeasured train_alone(const Blas& blas, const TrainingWork& work);

/// Called by each of the `work.ranks` ranks of `group`, one core each; all other ranks of the job
/// should sleep. Steps are measured after a common barrier. The result is complete on rank 0;
/// elsewhere the timeline is empty.
/// What train_alone throws, all ranks throw alike. A rank whose MPI reports an error throws
/// ProbeFailure alone; the others do when its all-reduce has not come after a minute.
TrainingMeasured train_on_ranks(const MpiModule& mpi,
                                MpiGroup group,
                                const Blas& blas,
                                const TrainingWork& work);

// The offset between two ranks' clocks, bounded by messages that cannot arrive before they left.

/// What to add to a rank's clock to read rank 0's, known to +- `error`.
struct ClockOffset {
  std::chrono::nanoseconds offset{};
  std::chrono::nanoseconds error{};
};

using ClockReading = std::function<std::chrono::nanoseconds()>;

/// Each rank's offset to rank 0, from 200 round trips one rank after another. With theta = clock of
/// rank r minus clock of rank 0: a message that left rank 0 at s and reached r at a bounds
/// theta <= a - s; one that left r at s and reached 0 at a bounds theta >= s - a. The offset is
/// minus the middle of the tightest bounds, the error half their distance. Assumes that the clocks
/// do not drift apart meanwhile. Collective over the group. Zero on rank 0.
/// Throws ProbeFailure when the bounds contradict each other (a clock was set).
ClockOffset measure_clock_offset(const MpiModule& mpi, MpiGroup group, const ClockReading& now);

/// How this group's clocks were made one.
struct CommonClock {
  ClockOffset own;
  std::string method;
};

/// One host has one monotonic clock: no offset, no error. On several, offsets are measured.
CommonClock measure_common_clock(const MpiModule& mpi, MpiGroup group);
/// Before and after a measurement: the mean offset; the error covers both and the drift between.
CommonClock combine(const CommonClock& before, const CommonClock& after);

/// All ranks' spans on rank 0, an empty timeline elsewhere. Ranks must have interned the same
/// names.
Timeline gather_timeline(const MpiModule& mpi,
                         MpiGroup group,
                         const SpanRecorder& recorder,
                         const CommonClock& clock);

/// `warnings` gains a line on rank 0 if ranks hold different `fingerprint`s or dropped spans.
void compare_ranks(const MpiModule& mpi,
                   MpiGroup group,
                   std::uint64_t fingerprint,
                   std::size_t dropped,
                   std::vector<Finding>& warnings);
}  // namespace scaleworth::probes::host
