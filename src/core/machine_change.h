// SPDX-License-Identifier: Apache-2.0
/// A recorded job on another machine: what its work is, and what each kind of it takes there.
#pragma once

#include "src/core/estimate.h"
#include "src/core/step_ledger.h"

#include <cmath>
#include <string>
#include <vector>

namespace scaleworth {
/// What of a machine sets the pace of a piece of work.
enum class WorkKind : std::uint8_t {
  product,     // matrix products: their ceiling in the number format
  memory,      // kernels that stream: the memory's bandwidth
  other,       // compute between both
  copy,        // between host and GPU, or GPUs
  collective,  // its transfer
  host
};
template <>
inline constexpr std::array word_list<WorkKind>{Word{"product", "matrix products"},
                                                Word{"memory", "memory-bound kernels"},
                                                Word{"other", "other kernels"},
                                                Word{"copy", "copies"},
                                                Word{"collective", "collectives"},
                                                Word{"host", "host"}};

/// Work of a job that one figure of a machine sets the pace of.
struct MachineWork {
  WorkKind kind = WorkKind::host;
  std::optional<NumberFormat> format{};  // of products, by kernels' names
  std::string direction{};               // of copies: "HtoD", "DtoH", "PtoP"
  CollectiveKind collective = CollectiveKind::unknown;
  std::optional<std::int64_t> bytes{};  // of a collective, the larger of input and output
  int ranks = 0;  // of a collective: its members; of others: that share a host's processors
  auto operator<=>(const MachineWork&) const = default;
};

/// Where the pace of work comes from.
enum class PaceBasis : std::uint8_t {
  measured,    // figures of both machines
  largest,     // of a collective without a recorded size: those of the largest messages
  curve,       // of a collective: the time on the new machine alone, the old one is not known
  between,     // between two ceilings
  datasheets,  // the vendor's figures of both
  not_on,      // the new machine has no figure: presumed unchanged, as is the next
  not_from     // the recorded machine has none that the new one has
};
template <>
inline constexpr std::array word_list<PaceBasis>{
    Word{"measured", "measured on both"},
    Word{"largest", "size not recorded: the largest messages"},
    Word{"curve", "the new machine's curve alone"},
    Word{"between", "between two ceilings"},
    Word{"datasheets", "data sheets of both"},
    Word{"not_on", "no figure of the new machine: presumed"},
    Word{"not_from", "no figure of the recorded machine: presumed"}};
constexpr bool has_figures(PaceBasis basis) {
  return basis < PaceBasis::not_on;
}

struct WorkPace {
  MachineWork work;
  double recorded = 0.0;  // s, of the mean step and rank; of collectives the transfer
  double calls = 0.0;     // pieces of it, of the mean step and rank
  double ratio = 1.0;     // time on the new machine over that recorded
  double error = 0.0;     // standard deviation of its logarithm
  PaceBasis basis = PaceBasis::not_on;

  /// The ratio with its 95 % interval.
  Estimate<double> interval() const {
    const double reach = std::exp(normal_reach * error);
    return {ratio, Interval<double>{ratio / reach, ratio * reach}, 0};
  }
};

/// What holds up the collectives of one kind, size and number of ranks.
enum class FabricVerdict : std::uint8_t {
  as_measured,
  transfer_bound,
  skew_bound,
  mixed,
  cannot_tell
};
template <>
inline constexpr std::array word_list<FabricVerdict>{Word{"as_measured", "as measured"},
                                                     Word{"transfer_bound", "transfer-bound"},
                                                     Word{"skew_bound", "skew-bound"},
                                                     Word{"mixed", "mixed"},
                                                     Word{"cannot_tell", "cannot tell"}};

/// They against a fitted curve, in the steps that count.
struct FabricRow {
  MachineWork work;
  std::int64_t calls = 0;
  double wait = 0.0;                 // s, mean of a call and rank
  std::optional<double> transfer{};  // s, from when the last rank came; mean of the calls
  std::optional<double> expected{};  // s, of the curve
  FabricVerdict verdict = FabricVerdict::cannot_tell;

  /// s of a call and rank, beyond the curve.
  double excess() const {
    return transfer && expected ? std::max(0.0, *transfer - *expected) : 0.0;
  }
};

/// The step on the new machine.
struct MachinePrediction {
  double replay_error = 0.0;  // of the unchanged replay against the recording, as a fraction
  std::vector<WorkPace> paces;
  Estimate<double> ratio;  // step on the new machine over that recorded
};
}  // namespace scaleworth
