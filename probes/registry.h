// SPDX-License-Identifier: Apache-2.0
/// The tables of all probes, in the order of running: `list`, help, plan and tests read them.
#pragma once

#include "probes/machine.h"
#include "probes/ranks.h"
#include "probes/schedule.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace scaleworth::probes {
/// What a plan is made from, without measuring anything.
struct Setting {
  Suite suite = Suite::quick;
  int workers = 1;  // of the node
  Bytes available_memory;
  Bytes last_cache;
  std::size_t isa_count = 1;
  int max_ranks = 1;
};

/// A probe of one node.
struct NodeProbe {
  std::string_view name;      // fields.h
  std::string_view question;  // what a person learns from it
  /// Expected duration; a plan must be within 30 % of the truth.
  Seconds (*estimate)(const Setting& setting);
  /// Asks the machine and records points. Throws ProbeFailure or Interrupted; points added before
  /// stay.
  void (*measure)(Machine& machine, const Setting& setting, Recorder& recorder);
};

/// What the user asked of the rank probes beyond the suite.
struct RankOptions {
  std::optional<TrainingWork::Straggler> straggler;
};

/// A probe of a group of ranks; called on every rank, `recorder` keeps only what rank 0 adds.
struct RankProbe {
  std::string_view name;
  std::string_view question;
  Seconds (*estimate)(const Setting& setting);
  void (*measure)(RankGroup& group,
                  const Setting& setting,
                  const RankOptions& options,
                  Recorder& recorder);
};

std::span<const NodeProbe> node_probes();
std::span<const RankProbe> rank_probes();
/// Those that are asked of ranks on GPUs instead.
std::span<const RankProbe> device_rank_probes();
}  // namespace scaleworth::probes
