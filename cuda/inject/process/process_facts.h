// SPDX-License-Identifier: Apache-2.0
/// What a recording says of its process.
#pragma once

#include "trace/format/recording/rows/rows.h"

#include <functional>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// A process's place in its job as a launcher's variables say.
struct RankFacts {
  std::string rank;  // empty where no launcher spoke
  std::string world_size;
  std::string source;  // "RANK"
};

/// From the first of torchrun's, Open MPI's, Slurm's and PMI's variables that is there; a Slurm
/// task counts only inside of a job step. `value` gives a variable's value, or null.
RankFacts rank_facts(const std::function<const char*(const char*)>& value);

/// Host, process, program, rank and tool as facts of the file.
std::vector<trace::recording::Fact> process_facts(const RankFacts& rank, const std::string& run);

/// "rank3.gpu-17.4242", without the rank where there is none: the name of the process's file.
std::string file_stem(const RankFacts& rank);

/// The process's clocks, read between two readings of CLOCK_REALTIME.
trace::recording::ClockRow read_clocks();
std::uint64_t realtime_ns();

}  // namespace scaleworth::gpu
