// SPDX-License-Identifier: Apache-2.0
/// What a count of ranks costs, and which count to choose. All functions throw UserError for a term
/// that is negative or out of the range given here.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <cmath>
#include <optional>

namespace scaleworth::model {
/// Whether an amount can be one.
inline bool positive(double value) {
  return value > 0.0 && std::isfinite(value);
}

/// What a job pays for. Whatever way its ranks are paid, on demand, by a commitment, owned or on
/// spot, is another `per_rank`; the rest stays.
struct Prices {
  DollarsPerSecond per_rank;
  DollarsPerSecond fixed = DollarsPerSecond(0.0);  // of the wall clock, whatever the count
  /// What waiting is worth to whoever waits: like `fixed`, but on no bill.
  DollarsPerSecond value_of_time = DollarsPerSecond(0.0);
  int ranks_of_instance = 1;  // that are paid together, whether the job uses them or not

  /// Those of whole instances; of instances of one rank the count itself, which a law may divide.
  double paid_ranks(double ranks) const;
  /// All that runs with the wall clock: f.
  DollarsPerSecond per_clock() const { return fixed + value_of_time; }
  Prices with_rank_price(DollarsPerSecond price) const {
    Prices other = *this;
    other.per_rank = price;
    return other;
  }
};

/// C(K) = (K p + f) T, for at least one rank; K is that of whole instances.
Dollars job_cost(const Prices& prices, int ranks, Seconds time);

/// C(K) for one million tokens at `tokens_per_second` > 0 of all ranks together.
Dollars cost_per_million_tokens(const Prices& prices, int ranks, double tokens_per_second);

struct CountTime {
  int ranks = 1;
  Estimate<Seconds> time;     // for the work that all counts of a comparison share
  double price_factor = 1.0;  // of the price per rank, where this count has a price of its own
};

Prices prices_at(const Prices& prices, const CountTime& at);

/// The decision between counts that do the same work. Cost is (K p + f) T.
struct CostChoice {
  int cheapest = 1;           // K*: the one count of least cost
  std::vector<int> plateau;   // all counts within 1 % of the least cost; ascending
  int fastest = 1;            // most tokens per second
  bool price_cancels = true;  // no price per wall-clock hour: K* is the same at every price
};

/// K* among `times` > 0: least cost, the smaller count where equal. With f = 0 it does not depend
/// on p, to which C is proportional.
std::optional<CostChoice> choose_count(const Prices& prices, const std::vector<CountTime>& times);

struct BillLines {
  Dollars ranks;
  Dollars fixed;
  Dollars waiting;

  Dollars total() const { return ranks + fixed + waiting; }
};

/// What C(K) consists of.
BillLines bill_lines(const Prices& prices, int ranks, Seconds time);

/// Per rank: network, storage and staff belong into `capital` and `operation_per_year`.
struct OwnedTerms {
  Dollars capital;
  Dollars residual = Dollars(0.0);  // what it sells for at the end of its life
  double lifetime_years = 4.0;
  double discount_rate = 0.0;              // per year
  double power_kw = 0.0;                   // drawn all year: idle power is not zero
  double power_usage_effectiveness = 1.0;  // PUE: of the building over that of the machines
  double usd_per_kwh = 0.0;
  double operation_usd_per_year = 0.0;  // staff, space, maintenance, network
  double utilisation = 1.0;             // hours that do useful work over all hours
};

/// Price of a rank for an hour that does useful work:
///   (CRF (capital - residual) + r residual) / 8760 + power PUE USD/kWh + operation / 8760,
/// over the utilisation, with CRF = r (1 + r)^n / ((1 + r)^n - 1) the yearly payment that returns 1
/// over n > 0 years at rate r (1/n for r = 0). The residual comes at the end, so that its interest
/// is paid meanwhile. The utilisation lies in (0, 1].
DollarsPerSecond owned_price(const OwnedTerms& terms);

/// The utilisation from which owning is cheaper than `rented` per used hour. Above 1: never.
double break_even_utilisation(const OwnedTerms& terms, DollarsPerSecond rented);

/// Part of full power that a rank draws while it waits. MLPerf Training v4.0, Llama-2-70B LoRA on
/// H100 nodes metered at AC: at 64 nodes, 22.5 % efficient, a node drew 4997 W on average, 70 % of
/// the 7160 W at one node. Taken for the waiting alone it is an upper value: if the 22.5 % drew
/// full power, the waiting drew 61 %.
inline constexpr double default_waiting_power = 0.7;

struct PowerTerms {
  std::optional<double> watts_per_rank;  // while it computes
  double waiting_power = default_waiting_power;
  double power_usage_effectiveness = 1.0;  // PUE: of the building over that of the machines
  std::optional<double> grams_per_kwh;     // of the grid, CO2 equivalent
  std::string grid;                        // in words where that comes from; empty: unknown
};

/// The first element whose value, above 0, is the least but for rounding: of equals the smaller
/// count.
template <class Range, class Value>
auto least_of(Range& range, Value value) {
  const double most = std::ranges::min(mapped(range, value)) * (1.0 + 1e-9);
  return std::ranges::find_if(range,
                              [&](const auto& one) { return std::invoke(value, one) <= most; });
}

/// Of one job. Embodied carbon, network and storage are not in it unless the meters saw them.
struct JobEnergy {
  Estimate<double> joules;                // of the machines
  Estimate<double> facility_kwh;          // of the building: times PUE
  std::optional<Estimate<double>> grams;  // CO2 equivalent, where the grid is known
  bool metered = false;
};

/// E = K P T; the interval is that of the time. P is the mean power of a rank that computes a share
/// `busy` of its time, clamped to [0, 1], and waits the rest: W (busy + (1 - busy) w). Absent
/// without a rated power. Power and intensity are above 0, PUE >= 1, the waiting power in [0, 1].
std::optional<JobEnergy> rated_energy(const PowerTerms& terms,
                                      int ranks,
                                      const Estimate<Seconds>& time,
                                      double busy);

JobEnergy metered_energy(const PowerTerms& terms, double joules);

// Jobs that are interrupted.

/// Reclaims and failures as Poisson processes of independent machines; any one stops the whole job.
struct Preemption {
  double per_hour = 0.0;           // reclaims of one instance per hour; 0: none
  Seconds checkpoint{120};         // writing the state, during which no work is done
  Seconds restart{600};            // on new machines until work goes on
  Seconds notice{0};               // warning before a reclaim
  int ranks_per_instance = 1;      // that are reclaimed together
  Seconds reacquisition{0};        // wait for new machines, while none is held or paid
  double failures_per_hour = 0.0;  // of one rank, without notice
};

/// Unexpected interruptions per rank and hour of Llama 3 405B: 419 in 54 days on 16,384 GPUs, one
/// in 50.7 thousand GPU-hours (arXiv 2407.21783, table 5).
inline constexpr double published_failures_per_hour = 419.0 / (54.0 * 24.0 * 16384.0);

/// M = 1 / (reclaims ceil(ranks / ranks per instance) + failures ranks) of a job of `ranks` >= 1;
/// infinite without either.
Seconds mean_time_between_interruptions(const Preemption& terms, double ranks);

struct SpotPlan {
  int segments = 1;       // equal parts of the work; all but the last end with a checkpoint
  Seconds interval;       // work between checkpoints
  Seconds expected;       // wall time
  Seconds billed;         // of it, that machines are held
  double overhead = 0.0;  // expected / work - 1

  /// Useful part of the wall time.
  double goodput() const { return 1.0 / (1.0 + overhead); }
};

/// The number of segments that takes least expected time. An interruption loses what was done since
/// the last checkpoint; a reclaim with a notice of at least the checkpoint's time d only those d
/// seconds, in which the state is written. With p the part of the interruptions that has such a
/// notice and u = min(d, w) (u = w for p = 0), a segment of w seconds holds the machines for
///   M e^(R/M) (e^(u/M) - 1 + e^(u/M) ln(1 - p + p e^((w-u)/M)) / p),
/// restarts, which may be interrupted themselves, included: M e^(R/M) (e^(w/M) - 1) for p = 0
/// (Daly, FGCS 22, 2006), about w e^((R+d)/M) for p = 1. Each interruption adds the wait for
/// machines to the wall time, but to nothing that is held. Absent beyond a thousand times the work:
/// such a job does not finish.
std::optional<SpotPlan> plan_spot(const Preemption& terms, double ranks, Seconds work);

/// The same of a job so long that its length does not matter.
std::optional<SpotPlan> plan_long_job(const Preemption& terms, double ranks);

/// Expected seconds of a job that takes `time` at `count` when nothing interrupts it; infinite
/// where it does not finish. Empty: nothing interrupts.
using WallTime = std::function<double(double count, double time)>;

/// Ranks are paid while they are held, the wall clock for all of the time.
Dollars planned_cost(const Prices& prices, int ranks, const SpotPlan& plan);

struct SpotCount {
  int ranks = 1;
  std::optional<SpotPlan> plan;   // absent: does not finish
  std::optional<Dollars> cost;    // expected, at the spot price
  std::optional<double> in_time;  // chance of meeting the deadline, where there is one
};

struct Deadline {
  Seconds latest;
  double probability = 0.95;  // in (0, 1)
};

/// Every count, and K* by expected cost among those that finish.
struct SpotChoice {
  std::vector<SpotCount> counts;
  std::optional<int> cheapest;
  std::optional<int> fastest;
  std::optional<int> cheapest_in_time;  // by expected cost, of those that are sure enough
  std::optional<int> most_likely;       // with a deadline: the count that meets it most likely
};

/// `prices.per_rank` is the spot price; the fixed rate runs for the expected time. The chance of
/// meeting the deadline is that of the work at the upper end of its interval.
SpotChoice choose_spot_count(const Prices& prices,
                             const Preemption& preemption,
                             const std::vector<CountTime>& times,
                             const std::optional<Deadline>& deadline = std::nullopt);

/// P(T <= deadline) for `work` at `ranks` by `plan`, under the processes of `plan_spot`: segments
/// are independent. With l = 1/M, t = l + s, A the wait for machines, w, u and p as there, and
///   r = e^(-sA-tR) / (1 - e^(-sA) l (1 - e^(-tR)) / t)  of a restart,  a = r l / t,
///   b = 1 - a + a p e^(-tu),  y(x) = b + a (1 - p) e^(-tx),
/// the delay Z beyond w of one segment has
///   E[e^(-sZ)] = e^(-lw + a p e^(-tu) t (w-u) / b) (y(u) / y(w))^((1-a)/b) / y(u).
/// The chance of no interruption at all is exact; the rest is inverted numerically by Abate and
/// Whitt (ORSA J. Computing 7, 1995, algorithm EULER), to about 1e-3; near whole numbers of
/// restarts with a notice, where the probability jumps, to half the jump.
double probability_in_time(
    const Preemption& terms, int ranks, const SpotPlan& plan, Seconds work, Seconds deadline);
/// The same by the plan of `plan_spot`; 0 where the job does not finish.
double chance_in_time(const Preemption& terms, int ranks, Seconds work, Seconds deadline);
}  // namespace scaleworth::model
