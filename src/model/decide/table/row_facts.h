// SPDX-License-Identifier: Apache-2.0
/// What a scaling table may say of a count beside its time and its parts.
#pragma once

#include "src/core/units.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// How the ranks of a count were laid out; absent where the table does not say it.
struct Layout {
  std::optional<int> tensor;
  std::optional<int> pipeline;
  std::optional<int> context;
  std::optional<int> data;
  std::optional<int> expert;  // inside the data-parallel ranks: no factor of the count

  bool operator==(const Layout&) const = default;
  bool empty() const { return *this == Layout{}; }
};

/// All but the data-parallel replicas, which are what a count adds: another one is another program.
Layout layout_of_replica(const Layout& layout);

/// "TP 8, PP 16, DP 64"; empty where nothing is said.
std::string layout_text(const Layout& layout);

/// Why `layout` cannot be `count` ranks, empty where it can: TP x PP x CP x DP must equal the
/// count; without DP the other factors must divide it. A factor that is absent counts as 1.
std::string layout_trouble(const Layout& layout, int count);

/// A percentile or mean of a latency, by the name that the table gives it.
struct Latency {
  std::string name;  // "p99", "ttft_p99", "tpot_mean"
  double seconds = 0.0;
};

struct RowFacts {
  Layout layout;
  std::optional<double> batch;            // sequences, or whatever it counts, of one step
  std::optional<double> sequence_length;  // tokens
  std::optional<double> microbatches;     // of one step and data-parallel replica
  std::optional<DollarsPerSecond> price;  // of one rank, in place of the price for all rows
  std::optional<double> power_w;          // of one rank, while it runs
  std::vector<Latency> latencies;

  /// Batch times sequence length where both are known, else the batch.
  std::optional<double> step_work() const;
  /// By its name; absent where the table has no such column or an empty cell.
  std::optional<double> latency_s(const std::string& name) const;
};

/// Which fact two repeats of one count tell differently, "the layout"; empty where they agree. Of
/// latencies and power, which are measured, nothing is asked.
std::string disagreement(const RowFacts& one, const RowFacts& other);

/// The facts of the repeats of a count: of each latency the greatest, of power the mean.
/// `repeats` has one or more that agree.
RowFacts merged_facts(const std::vector<const RowFacts*>& repeats);

}  // namespace scaleworth::decide
