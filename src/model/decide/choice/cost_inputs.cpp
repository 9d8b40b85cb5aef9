// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/cost_inputs.h"

#include "src/model/scaling/contention/law.h"

#include <algorithm>
#include <limits>

namespace scaleworth::decide {
namespace {

double hourly(DollarsPerSecond price) {
  return price.value() * 3600.0;
}

double cost_of(const model::Prices& prices, const model::CountTime& at, Seconds time) {
  return model::job_cost(model::prices_at(prices, at), at.ranks, time).value();
}

/// Row of least cost; the first where equal.
template <class Cost>
std::size_t cheapest_row(std::size_t rows, Cost cost) {
  std::size_t best = 0;
  for (std::size_t row = 1; row < rows; ++row) {
    if (cost(row) < cost(best)) best = row;
  }
  return best;
}

CostInput price_input(const CostBasis& basis) {
  return {"price per rank",
          "USD/h",
          hourly(basis.prices.per_rank),
          1.0,
          std::numeric_limits<double>::infinity(),
          [&basis](double x, std::size_t row) {
            model::Prices prices = basis.prices;
            prices.per_rank = dollars_per_hour(x);
            return cost_of(prices, basis.times[row], basis.times[row].time.value);
          }};
}

CostInput fixed_input(const CostBasis& basis) {
  return {"price per hour",
          "USD/h",
          hourly(basis.prices.fixed),
          hourly(basis.prices.per_rank),
          std::numeric_limits<double>::infinity(),
          [&basis](double x, std::size_t row) {
            model::Prices prices = basis.prices;
            prices.fixed = dollars_per_hour(x);
            return cost_of(prices, basis.times[row], basis.times[row].time.value);
          }};
}

CostInput time_input(const CostBasis& basis) {
  const double hours = basis.times.front().time.value.value() / 3600.0;
  return {"time of all counts",
          "h at the first",
          hours,
          1.0,
          std::numeric_limits<double>::infinity(),
          [&basis, hours](double x, std::size_t row) {
            return cost_of(
                basis.prices, basis.times[row], basis.times[row].time.value * (x / hours));
          }};
}

double coefficient_cost(const CostBasis& basis,
                        double serial,
                        double communication,
                        std::size_t row) {
  const model::CountTime& at = basis.times[row];
  const double relative = model::relative_time(serial, communication, at.ranks);
  return cost_of(basis.prices, at, basis.coefficients->single * relative);
}

CostInput serial_input(const CostBasis& basis) {
  return {"serial fraction s",
          "",
          basis.coefficients->serial,
          0.01,
          1.0,
          [&basis](double x, std::size_t row) {
            return coefficient_cost(basis, x, basis.coefficients->communication, row);
          }};
}

CostInput communication_input(const CostBasis& basis) {
  return {"communication c",
          "",
          basis.coefficients->communication,
          0.001,
          std::numeric_limits<double>::infinity(),
          [&basis](double x, std::size_t row) {
            return coefficient_cost(basis, basis.coefficients->serial, x, row);
          }};
}

double spot_cost(const CostBasis& basis, const SpotTerms& terms, std::size_t row) {
  const model::CountTime& at = basis.times[row];
  const auto plan = model::plan_spot(terms.preemption, at.ranks, at.time.value);
  if (!plan) return std::numeric_limits<double>::infinity();
  const model::Prices prices{terms.price_per_rank, basis.prices.fixed, basis.prices.per_job};
  return model::job_cost(prices, at.ranks, plan->expected).value();
}

/// One input of spot, which `put` writes into a copy of the terms.
template <class Put>
CostInput spot_input(const char* name,
                     const char* unit,
                     double value,
                     const CostBasis& basis,
                     const SpotTerms& terms,
                     Put put) {
  return {name,
          unit,
          value,
          1.0,
          std::numeric_limits<double>::infinity(),
          [&basis, terms, put](double x, std::size_t row) {
            SpotTerms moved = terms;
            put(moved, x);
            return spot_cost(basis, moved, row);
          }};
}

}  // namespace

std::vector<Sensitivity> cost_sensitivities(const CostBasis& basis) {
  const std::size_t rows = basis.times.size();
  if (rows == 0) return {};
  std::vector<CostInput> inputs{price_input(basis), fixed_input(basis), time_input(basis)};
  if (basis.coefficients) {
    inputs.push_back(serial_input(basis));
    inputs.push_back(communication_input(basis));
  }
  const std::size_t cheapest = cheapest_row(rows, [&](std::size_t row) {
    return cost_of(basis.prices, basis.times[row], basis.times[row].time.value);
  });
  std::vector<Sensitivity> result;
  for (const CostInput& input : inputs) result.push_back(sensitivity(input, rows, cheapest));
  return result;
}

std::vector<Sensitivity> spot_sensitivities(const CostBasis& basis, const SpotTerms& terms) {
  const std::size_t rows = basis.times.size();
  if (rows == 0 || rows > most_spot_counts) return {};
  const auto cost = [&](std::size_t row) { return spot_cost(basis, terms, row); };
  const std::size_t cheapest = cheapest_row(rows, cost);
  if (cost(cheapest) == std::numeric_limits<double>::infinity()) return {};
  const model::Preemption& at = terms.preemption;
  const std::vector<CostInput> inputs{
      spot_input("spot price",
                 "USD/h",
                 hourly(terms.price_per_rank),
                 basis,
                 terms,
                 [](SpotTerms& to, double x) { to.price_per_rank = dollars_per_hour(x); }),
      spot_input("reclaims per rank",
                 "1/h",
                 at.per_hour,
                 basis,
                 terms,
                 [](SpotTerms& to, double x) { to.preemption.per_hour = x; }),
      spot_input("checkpoint",
                 "s",
                 at.checkpoint.value(),
                 basis,
                 terms,
                 [](SpotTerms& to, double x) { to.preemption.checkpoint = Seconds(x); }),
      spot_input("restart", "s", at.restart.value(), basis, terms, [](SpotTerms& to, double x) {
        to.preemption.restart = Seconds(x);
      })};
  std::vector<Sensitivity> result;
  for (const CostInput& input : inputs) result.push_back(sensitivity(input, rows, cheapest));
  return result;
}

}  // namespace scaleworth::decide
