// SPDX-License-Identifier: Apache-2.0
/// One rank of a job as tracks: steps with their ledger, streams, threads of the host, counters.
#pragma once

#include "trace/analysis/rank_numbers.h"
#include "trace/attribute.h"
#include "trace/format/export/arrows.h"
#include "trace/format/export/export_writer.h"
#include "trace/format/export/selection.h"

namespace scaleworth::trace {

/// What all ranks are written from.
struct ExportSource {
  const Job& job;
  const Attributed& attributed;
  const Selection& selection;
  const Arrows& arrows;
  const RankNumbers& numbers;
};

/// Writes the process of the rank at place `rank` of the job, with everything in it.
void export_rank(const ExportSource& source, std::size_t rank, ExportWriter& writer);

/// Part of export_rank: how busy the GPU is, and how many bytes are in flight.
void export_counters(const ExportSource& source, std::size_t rank, ExportWriter& writer);

}  // namespace scaleworth::trace
