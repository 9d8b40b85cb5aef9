// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/bill.h"

#include "src/core/error.h"

namespace scaleworth::model {
namespace {

constexpr double hours_per_month = 8760.0 / 12.0;

void check(double gigabytes, double price, const char* what) {
  if (!(gigabytes >= 0.0) || !(price >= 0.0)) throw UserError(what);
}

}  // namespace

Prices prices_of(const BillTerms& terms) {
  return {terms.per_rank, terms.fixed + terms.storage + terms.value_of_time, terms.egress};
}

BillLines bill_lines(const BillTerms& terms, int ranks, Seconds time) {
  job_cost(prices_of(terms), ranks, time);
  return {terms.per_rank * static_cast<double>(ranks) * time,
          terms.fixed * time,
          terms.storage * time,
          terms.egress,
          terms.value_of_time * time};
}

DollarsPerSecond storage_rate(double gigabytes, double usd_per_gigabyte_month) {
  check(gigabytes,
        usd_per_gigabyte_month,
        "storage takes 0 GB or more at 0 or more per GB and month; correct --storage-gb or "
        "--storage-usd-per-gb-month");
  return dollars_per_hour(gigabytes * usd_per_gigabyte_month / hours_per_month);
}

Dollars egress_cost(double gigabytes, double usd_per_gigabyte) {
  check(
      gigabytes,
      usd_per_gigabyte,
      "egress takes 0 GB or more at 0 or more per GB; correct --egress-gb or --egress-usd-per-gb");
  return Dollars(gigabytes * usd_per_gigabyte);
}

}  // namespace scaleworth::model
