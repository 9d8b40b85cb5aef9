// SPDX-License-Identifier: Apache-2.0
/// A timeline as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open.
#pragma once

#include "src/core/span.h"

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>

namespace scaleworth::trace {

using TraceMetadata = std::map<std::string, std::string>;

/// How many events of each kind were written.
struct ChromeTraceCounts {
  std::size_t slices = 0;      // steps and the segments of their spans
  std::size_t sub_slices = 0;  // the ledger's parts of collective waits
  std::size_t arrows = 0;      // from the last arriver's post to a rank that waited for it
};

/// Writes one process row per rank. Slices nest: a step around its segments (overlaps are cut as
/// `segment` says), a collective wait around its parts as the ledger splits it: "wait for rank r"
/// until it arrived, "wait for rank r to make progress" after all had, "transfer".
/// Times are microseconds with three decimals, exact to the nanosecond, relative to the first step;
/// the absolute time of zero is `baseTimeNanoseconds` (on the recording's steady clock).
/// `metadata` goes to "otherData", beside what the ledger lost or abstained from. Text that is not
/// UTF-8 is replaced by U+FFFD. The caller checks `out` afterwards.
/// Format: "Trace Event Format", Google, 2016; flows bind to the enclosing slice.
ChromeTraceCounts write_chrome_trace(std::ostream& out,
                                     const Timeline& timeline,
                                     const TraceMetadata& metadata);

}  // namespace scaleworth::trace
