// SPDX-License-Identifier: Apache-2.0
/// A job's timeline with its waits, for Perfetto's UI and chrome://tracing.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/byte_source.h"
#include "trace/formats/export/export_writer.h"
#include "trace/recording.h"
#include "trace/span_ledger.h"

#include <cstdint>
#include <optional>

namespace scaleworth::trace {
struct ExportOptions {
  /// Since the first event of the job on the common clock; what overlaps it is written whole.
  std::optional<TimeInterval> window;
  bool slowest_step = false;  // only the slowest step that counts, of all ranks
  std::vector<Rank> ranks;    // of the job, as in reports; empty: all
};

/// Writes Chrome's JSON to a path that ends in .json or .json.gz. Throws UserError for other names,
/// an empty selection, and when `path` cannot be written.
ExportCounts export_timeline(const Job& job,
                             const Attributed& attributed,
                             const std::string& path,
                             const ExportOptions& options = {});

/// The ledger's spans as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open: one
/// process per rank, in which a step encloses its spans, and a collective wait its parts ("wait for
/// rank r" until it arrived, "wait for rank r to make progress" after all had, "transfer"). An
/// arrow leads from the last arriver's post to the end of each wait for it that ends in something
/// else. Times are relative to the first step. `metadata`, the clock of `timeline` and the losses
/// go to "otherData".
std::string chrome_trace(const Timeline& timeline,
                         const Ledger& ledger,
                         const std::map<std::string, std::string>& metadata);
}  // namespace scaleworth::trace
