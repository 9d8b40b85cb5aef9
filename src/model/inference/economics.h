// SPDX-License-Identifier: Apache-2.0
/// What served tokens cost: at full load, at the load there is, and against an API's price.
#pragma once

#include "src/core/units.h"
#include "src/model/inference/operating_point.h"

#include <optional>

namespace scaleworth::inference {

/// An API's price of one million tokens, which its buyer states; `cached_input` of those that it
/// finds in its cache (absent: as `input`).
struct ApiPrice {
  Dollars input;
  Dollars output;
  std::optional<Dollars> cached_input;
};

/// How much of the paid time serves: `duty` is the part of hours in which requests come, `burst`
/// the peak over the mean within these, for the group must be bought for the peak.
struct LoadShape {
  double duty = 1.0;
  double burst = 1.0;
};

/// What every cost at full load is multiplied with: burst / duty. Throws UserError for a duty
/// outside (0, 1] or a burst below 1.
double load_multiplier(const LoadShape& load);

/// Cost of tokens with the group's time divided by what it was spent on: a prompt's pass is the
/// input's, decode steps are the output's. prompt x input + output x output = a request's cost.
struct TokenCost {
  Dollars per_million_input;
  Dollars per_million_output;
  Dollars per_request;
};

/// `rate` is what the whole group costs, fixed parts included. The load's multiplier is in it.
/// Throws UserError for a negative rate or a bad load.
TokenCost token_cost(const OperatingPoint& point,
                     const Request& request,
                     DollarsPerSecond rate,
                     const LoadShape& load = {});

/// What an API asks for one request. Throws UserError for a negative price.
Dollars api_cost(const Request& request, const ApiPrice& price);

/// The utilisation above which an own server is cheaper than an API:
///   u* = rate / (requests per second x API cost of a request)
/// Above 1: dearer than the API even at full load. Throws UserError for an API that costs nothing.
/// Source: rate / (tokens/s x 3600 x API price / 1e6) with input and output priced apart.
double break_even_utilisation(DollarsPerSecond rate, double requests_per_s, Dollars api_request);

}  // namespace scaleworth::inference
