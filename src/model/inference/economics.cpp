// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/economics.h"

#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::inference {
namespace {

constexpr double million = 1e6;

}  // namespace

double load_multiplier(const LoadShape& load) {
  if (!(load.duty > 0.0) || !(load.duty <= 1.0)) {
    throw UserError(fmt::format("a duty of {:g}: give a number above 0 and at most 1", load.duty));
  }
  if (!(load.burst >= 1.0)) {
    throw UserError(
        fmt::format("a burst of {:g}: it is peak over mean and at least 1", load.burst));
  }
  return load.burst / load.duty;
}

TokenCost token_cost(const OperatingPoint& point,
                     const Request& request,
                     DollarsPerSecond rate,
                     const LoadShape& load) {
  if (!(rate.value() >= 0.0)) throw UserError("a price is negative; give USD per hour");
  const DollarsPerSecond paid = rate * load_multiplier(load);
  const Dollars input = paid * point.prefill_per_request;
  const Dollars output = paid * point.decode_per_request;
  return {input * (million / request.prompt), output * (million / request.output), input + output};
}

Dollars api_cost(const Request& request, const ApiPrice& price) {
  const Dollars cached = price.cached_input.value_or(price.input);
  if (price.input.value() < 0.0 || price.output.value() < 0.0 || cached.value() < 0.0) {
    throw UserError("a price is negative; give USD per million tokens");
  }
  const double found = request.prompt * request.cached;
  return (price.input * (request.prompt - found) + cached * found + price.output * request.output) /
         million;
}

double break_even_utilisation(DollarsPerSecond rate, double requests_per_s, Dollars api_request) {
  if (!(rate.value() >= 0.0)) throw UserError("a price is negative; give USD per hour");
  if (!(requests_per_s > 0.0)) throw UserError("a server that answers nothing has no break-even");
  if (!(api_request.value() > 0.0)) {
    throw UserError("an API that costs nothing has no break-even; give its price above zero");
  }
  return rate.value() / (requests_per_s * api_request.value());
}

}  // namespace scaleworth::inference
