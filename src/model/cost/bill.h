// SPDX-License-Identifier: Apache-2.0
/// The lines of a job's bill: what is paid per rank, per hour of wall clock and once, and what
/// waiting is worth.
#pragma once

#include "src/core/units.h"
#include "src/model/cost/cost.h"

namespace scaleworth::model {

struct BillTerms {
  DollarsPerSecond per_rank;
  DollarsPerSecond fixed = DollarsPerSecond(0.0);
  DollarsPerSecond storage = DollarsPerSecond(0.0);
  /// What an hour of waiting is worth to whoever waits. It acts exactly like `fixed` on every count
  /// and every choice, but nobody sends a bill for it.
  DollarsPerSecond value_of_time = DollarsPerSecond(0.0);
  Dollars egress = Dollars(0.0);  // once per run
};

/// All that runs with the clock in one rate.
Prices prices_of(const BillTerms& terms);

struct BillLines {
  Dollars ranks;
  Dollars fixed;
  Dollars storage;
  Dollars egress;
  Dollars waiting;

  Dollars total() const { return ranks + fixed + storage + egress + waiting; }
};

/// The lines add up to `job_cost`. Throws UserError as it does.
BillLines bill_lines(const BillTerms& terms, int ranks, Seconds time);

/// Storage while a job runs, from a price per month of 730 h (8760 h / 12). Throws UserError for a
/// negative amount or price.
DollarsPerSecond storage_rate(double gigabytes, double usd_per_gigabyte_month);

/// Data that leaves once per run. Throws UserError for a negative amount or price.
Dollars egress_cost(double gigabytes, double usd_per_gigabyte);

}  // namespace scaleworth::model
