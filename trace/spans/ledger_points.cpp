// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/ledger_points.h"

#include "src/core/run/fields.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using std::chrono::nanoseconds;

struct Part {
  const char* series;
  nanoseconds LedgerEntry::*time;
};

constexpr std::array parts{Part{fields::step_ns, &LedgerEntry::step_time},
                           Part{fields::compute_ns, &LedgerEntry::compute},
                           Part{fields::optimizer_ns, &LedgerEntry::optimizer},
                           Part{fields::host_ns, &LedgerEntry::host},
                           Part{fields::progress_ns, &LedgerEntry::progress},
                           Part{fields::exposed_wait_ns, &LedgerEntry::exposed_wait},
                           Part{fields::exposed_transfer_ns, &LedgerEntry::exposed_transfer},
                           Part{fields::unattributed_ns, &LedgerEntry::unattributed}};

void append(Point& point, const LedgerEntry& entry) {
  const auto add = [&](const std::string& series, nanoseconds time) {
    point.samples[series].push_back(static_cast<double>(time.count()));
  };
  for (const Part& part : parts) add(part.series, entry.*part.time);
  for (std::size_t rank = 0; rank < entry.waited_for.size(); ++rank) {
    add(fields::waited_for_ns_prefix + std::to_string(rank), entry.waited_for[rank]);
  }
}

}  // namespace

std::vector<Point> ledger_points(const Point& setting, const Ledger& ledger) {
  std::vector<Point> points(static_cast<std::size_t>(std::max(0, ledger.ranks)));
  const auto counters = loss_counters(ledger);
  for (int rank = 0; rank < ledger.ranks; ++rank) {
    Point& point = points[static_cast<std::size_t>(rank)];
    point.parameters = setting.parameters;
    point.parameters[fields::rank] = std::int64_t{rank};
    point.stop_reason = setting.stop_reason;
    for (const auto& [name, value] : counters) {
      point.warnings.push_back(fmt::format("ledger: {} = {:.0f}", name, value));
    }
  }
  for (const LedgerEntry& entry : ledger.entries) {
    append(points[static_cast<std::size_t>(entry.rank.index)], entry);
  }
  return points;
}

}  // namespace scaleworth::trace
