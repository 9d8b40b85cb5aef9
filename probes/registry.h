// SPDX-License-Identifier: Apache-2.0
/// The tables of all probes, in the order of running: `list`, help, plan and tests read them.
#pragma once

#include "probes/machine.h"
#include "probes/ranks.h"
#include "probes/schedule.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace scaleworth::probes {
/// What a plan is made from, without measuring anything.
struct PlanInputs {
  Suite suite = Suite::quick;
  int workers = 1;  // of the node
  Bytes available_memory;
  Bytes last_cache;  // as `Machine::last_cache`
  std::size_t isa_count = 1;
  int max_ranks = 1;
  int nodes = 1;  // of those ranks
  /// What the collectives may take, by --time; 0: as the suite and the nodes suggest.
  Seconds collectives_budget{0.0};
};

/// What the user asked of the rank probes beyond the suite.
struct RankOptions {
  std::optional<TrainingWork::Straggler> straggler;
  /// Width and sequences per rank of the training step, as an earlier run chose them; 0: calibrate.
  std::int64_t step_width = 0;
  std::int64_t step_batch = 0;
  std::vector<Collective> collectives{};  // only these; empty: all
  std::vector<Bytes> sizes{};             // of messages, instead of the suite's
};

template <class Planned, class... Arguments>
struct Probe {
  /// Expected duration; a plan must be within 30 % of the truth.
  using Estimate = Seconds(const Planned& setting);
  /// Records points. Throws ProbeFailure, NothingToMeasure or Interrupted; points added before
  /// stay.
  using Measure = void(Arguments... arguments);

  std::string_view name;      // probe_names.h
  std::string_view question;  // what a person learns from it
  Estimate* estimate;
  Measure* measure;
};

using NodeProbe = Probe<PlanInputs, Machine&, const PlanInputs&, Recorder&>;
/// Of a group of ranks; called on every rank, the recorder keeps only what rank 0 adds.
using RankProbe = Probe<PlanInputs, RankGroup&, const PlanInputs&, const RankOptions&, Recorder&>;

std::span<const NodeProbe> node_probes();
std::span<const RankProbe> rank_probes();
/// Those that are asked of ranks on GPUs instead.
std::span<const RankProbe> device_rank_probes();
}  // namespace scaleworth::probes
