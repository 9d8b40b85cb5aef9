// SPDX-License-Identifier: Apache-2.0
/// One job on several machines: which does more, which is cheaper, and what each is worth.
#pragma once

#include "src/model/decision/scaling_table.h"

namespace scaleworth::model {
/// A scaling table of one machine, by its name.
struct NamedTable {
  std::string name;
  ScalingTable table;
  std::optional<DollarsPerSecond> price;  // of one rank, for all rows
  std::string input{};                    // as a command names it
  int ranks_of_instance = 1;              // that are paid together
};

/// One machine at one count.
struct Offer {
  std::string name;
  int count = 1;
  Estimate<double> rate;  // work per second of all ranks; where no work is known runs or steps
  std::optional<DollarsPerSecond> price;  // of one rank that works, with those paid and idle
  std::string input{};                    // of its table
  int repeats = 1;                        // that the rate is the median of

  /// Of one unit of work: count x price / rate, in USD; absent without a price.
  std::optional<Estimate<double>> cost() const;
};

/// B over A.
struct OfferRatio {
  Offer a;
  Offer b;
  /// Its interval where rows of either table are repeats: ln g +- t s sqrt(v_a + v_b), s^2 the
  /// `repeat_noise` of both, t of its degrees of freedom (Student), v `median_variance`. Else by
  /// `ratio`, widened in quadrature by 1.96 sqrt(2) `presumed_run_noise`.
  Estimate<double> speed;
  std::optional<Estimate<double>> cost;  // of the same work
  /// The price of one rank of B at which both cost the same: p_A K_A / K_B x speed.
  std::optional<Estimate<double>> break_even;  // USD per second
  bool repeated = false;

  bool differs() const { return speed.interval->low > 1.0 || speed.interval->high < 1.0; }
};

struct OfferComparison {
  std::vector<Offer> offers;  // in the order given, counts ascending
  /// Each other machine over the first: at the largest count that both have, else at the counts
  /// that are nearest to each other, larger ones first.
  std::vector<OfferRatio> ratios;
  std::size_t fastest = 0;
  std::optional<std::size_t> cheapest;  // per work; where all have a price
  bool repeated = false;                // all ratios are
  TimeBasis basis = TimeBasis::run;
  bool work = false;                // rates are of `work_noun`, else of runs or steps
  std::string work_noun{};          // "tokens"; empty: units of work
  std::string noun{};               // what is counted, "GPUs"; empty: ranks
  std::vector<Finding> warnings{};  // why the figures may not hold
  std::vector<Finding> remarks{};
};

/// Work that no table counts is that of a step by its batch, or of a run by its epochs or steps,
/// where the tables say that these differ. What differs else in how the job ran is a warning, and a
/// quality that is worse by more than `same_quality` of what is faster or cheaper.
/// Throws UserError for fewer than two tables, and where the same work cannot be told: tables of
/// speed-ups, of a load, of work in different units, of times of work that grows, of a run and of a
/// step, and of jobs that differ.
OfferComparison compare_offers(std::vector<NamedTable> tables);
}  // namespace scaleworth::model
