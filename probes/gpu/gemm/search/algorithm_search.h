// SPDX-License-Identifier: Apache-2.0
/// The fastest correct algorithm of a library for one matrix product.
#pragma once

#include "probes/gpu/gemm/search/gemm_point.h"
#include "probes/recorder.h"

#include <cstddef>
#include <optional>

namespace scaleworth::probes {

struct SearchEffort {
  int wanted = 64;              // proposals within 32 MiB of workspace
  bool large_workspace = true;  // ask once more within 256 MiB
  Seconds wake_up{0.1};   // of the first candidate: a GPU that idled must get its clocks back up
  Seconds coarse{0.003};  // of one candidate in the coarse pass
  Seconds coarse_limit{3.0};  // of all candidates together; the rest is left out, and said
  std::size_t kept = 4;       // candidates of the fine pass, besides the library's own choice
  double kept_within = 0.05;  // of the best
  std::size_t rounds = 7;     // of the fine pass, candidates in turn
  Seconds fine_sample{0.020};
  bool recorded = true;  // a point per candidate and pass
};

struct AlgorithmChoice {
  GemmCandidate best;
  double best_s = 0.0;  // median of the fine pass
  /// The same for the library's own choice, heuristic rank 0; absent when that is broken or wrong.
  std::optional<double> default_s;
  /// What searching gains over the library's own choice: default_s / best_s - 1.
  std::optional<double> tuning_headroom() const;
};

/// Coarse pass over everything the library proposes; then the best few, verified, in turn (arms
/// measured one after another drift apart by more than they differ). A candidate that breaks,
/// computes a wrong result or passes the greatest possible rate is dropped with a warning. Throws
/// NothingToMeasure when the library supports no such product; ProbeFailure when no candidate
/// remains, or three in a row break (then it is not the candidates).
AlgorithmChoice search_algorithm(GemmSession& session,
                                 const GemmSubject& subject,
                                 const SearchEffort& effort,
                                 Recorder& recorder);

}  // namespace scaleworth::probes
