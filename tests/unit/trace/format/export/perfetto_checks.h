// SPDX-License-Identifier: Apache-2.0
/// What must hold for every file that is exported in Perfetto's format.
#pragma once

#include "tests/catch.h"
#include "tests/unit/trace/format/export/perfetto_decoder.h"
#include "trace/formats/export/export.h"

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace scaleworth::trace {

inline constexpr std::uint64_t slice_begin = 1;
inline constexpr std::uint64_t slice_end = 2;
inline constexpr std::uint64_t counter_value = 4;

struct Totals {
  std::int64_t slices = 0;
  std::int64_t counters = 0;
  std::multiset<std::uint64_t> flows_out;
  std::multiset<std::uint64_t> flows_in;
};

/// Requires that the slices of each track nest and end.
inline Totals check(const PerfettoFile& file) {
  Totals totals;
  for (const auto& [track, events] : file.events) {
    std::uint64_t last = 0;
    std::int64_t open = 0;
    for (const DecodedEvent& event : events) {
      REQUIRE(event.time >= last);
      last = event.time;
      if (event.type == slice_begin) ++open;
      if (event.type == slice_end) --open;
      REQUIRE(open >= 0);
      totals.slices += event.type == slice_begin;
      totals.counters += event.type == counter_value;
      totals.flows_out.insert(event.flows_out.begin(), event.flows_out.end());
      totals.flows_in.insert(event.flows_in.begin(), event.flows_in.end());
    }
    CHECK(open == 0);
    CHECK(file.process_names.contains(file.parents.at(track)));
  }
  CHECK(totals.flows_out == totals.flows_in);
  CHECK(std::set(totals.flows_in.begin(), totals.flows_in.end()).size() == totals.flows_in.size());
  return totals;
}

inline const std::vector<DecodedEvent>& track_of(const PerfettoFile& file,
                                                 std::string_view process,
                                                 std::string_view name) {
  for (const auto& [track, events] : file.events)
    if (file.track_names.at(track) == name &&
        file.process_names.at(file.parents.at(track)) == process)
      return events;
  throw std::runtime_error("no track " + std::string(name));
}

/// Exports to `path` in Perfetto's format and requires that the file holds what it is told to.
inline ExportCounts check_perfetto(const Job& job, const Attributed& all, const std::string& path) {
  const ExportCounts counts = export_timeline(job, all, path);
  const Totals totals = check(PerfettoFile(path));
  CHECK(totals.slices == counts.slices);
  CHECK(totals.counters == counts.counters);
  CHECK(static_cast<std::int64_t>(totals.flows_in.size()) == counts.arrows);
  return counts;
}

}  // namespace scaleworth::trace
