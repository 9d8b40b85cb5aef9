// SPDX-License-Identifier: Apache-2.0
/// Whether a run is accepted: its figures against a baseline, what physics allows, or rules.
#pragma once

#include "src/model/comparison.h"

namespace scaleworth::model {
enum class CheckStatus : std::uint8_t { pass, warn, fail, cannot_tell };
constexpr auto enum_words(CheckStatus) {
  return std::array{Word{"pass", "pass"},
                    Word{"warn", "warn"},
                    Word{"fail", "fail"},
                    Word{"cannot_tell", "cannot tell"}};
}

/// What carries bytes: so many links, each with a rate in one direction.
enum class Wire : std::uint8_t { nvlink, pcie, network };
constexpr auto enum_words(Wire) {
  return std::array{
      Word{"nvlink", "NVLink"}, Word{"pcie", "PCIe lane"}, Word{"network", "network card"}};
}
struct LinkRate {
  Wire wire = Wire::nvlink;
  double count = 1.0;  // of one GPU; network cards of one node
  BytesPerSecond each;
};

/// What figures of a metric at settings with all of `where` must not leave.
struct Allowed {
  Metric metric = Metric::bus_bandwidth;
  Setting where;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<LinkRate> link{};  // that the bound follows from; absent: a stated rule
};

/// In one direction, of an NVLink or a PCIe lane of a generation, or a network card of so many
/// Gbit/s; 0 where it is not known. PCIe coded: 8b/10b, 128b/130b from generation 3, 236 of 256
/// bytes in 6. Source: PCI Express Base Specification; NVIDIA's descriptions of NVLink.
BytesPerSecond link_rate(Wire wire, double stated);

/// NVLinks and PCIe lanes of the run's first GPU, as the driver reports them.
std::vector<LinkRate> detected_links(const Run& run);

/// What physics allows figures of `run` over these links. At most all bytes that must pass a port
/// (a GPU's, between nodes a node's NICs together) at its full rate, by the algorithm with the
/// fewest: of an all-reduce among k ports min(2 (k - 1) / k, 1 + 1/k) of the message (ring; reduced
/// in the switch), of others what a port lacks or must send. At least 70 % of the rate with the
/// bytes of a ring (of copies: of the rate, not where a GPU has fewer NVLinks than go to a switch):
/// presumed for headers and protocols; published sweeps of healthy machines reach 76 to 96 %. Of
/// collectives large messages only. Memory: two transfers per clock and pin. A link that is not
/// known bounds nothing.
std::vector<Allowed> envelope(const Comparison& itself, const std::vector<LinkRate>& links);

struct CheckedFigure {
  ComparedFigure figure;  // A is the baseline, or the end of a bound that is nearer
  CheckStatus status = CheckStatus::cannot_tell;
  bool beyond_chance = false;  // worse with 95 % over all figures together, by whatever amount
  /// Where it cannot be told: runs of each side that would show a loss of the tolerance with 80 %.
  std::optional<int> runs_needed{};
  std::optional<Allowed> bound{};  // in place of a baseline
};

/// A stated rule that no figure of the run is under.
struct UnmetRule {
  Allowed rule;
  Setting lacking;  // what of its setting no figure of its metric has; empty: these together
};

struct CheckResult {
  std::vector<CheckedFigure> figures;  // the worst first
  std::vector<UnmetRule> unmet;        // in the order of the rules
  std::size_t wrong_results = 0;       // settings of the run whose results a check found wrong
  std::size_t measured_once = 0;       // figures without repeats on either side: not judged
  CheckStatus status = CheckStatus::cannot_tell;
};

/// Judges the key figures of `comparison` by the spread between repeats; tolerance in (0, 1).
///   fail         worse by at least the tolerance, with 95 % over all figures together (Holm 1979)
///   warn         worse, but by less than the tolerance, or only when judged alone
///   pass         a loss of the tolerance is left out by the interval
///   cannot tell  neither: no repeats, or too few for their spread
/// The whole is the worst of fail, warn, pass of the figures with repeats; cannot tell where there
/// are none, or where one of them could not be judged and might hide a failure. Wrong results in
/// the run are a failure, whatever its speed.
CheckResult check(const Comparison& comparison, double tolerance, std::size_t wrong_results = 0);

/// Judges the figures of a run, compared with itself, by bounds, with a tolerance of 0 and the
/// spread between its repeats; a figure measured once with `presumed_run_noise` and the interval of
/// its samples. Where a rule meets no figure the whole cannot be told, unless it fails.
CheckResult check(const Comparison& itself,
                  const std::vector<Allowed>& bounds,
                  std::size_t wrong_results);
}  // namespace scaleworth::model
