// SPDX-License-Identifier: Apache-2.0
/// How many replicas of a measured server a demand is worth, hour by hour, and how to pay for them.
/// No queueing theory: what a replica carries is read off its measured curve. All functions throw
/// UserError for a figure out of the range given.
#pragma once

#include "src/model/decision/scaling_table.h"

#include <cstddef>
#include <optional>

namespace scaleworth::model {
/// One replica at one load, as it was measured.
struct ServicePoint {
  double concurrency = 0.0;                  // requests at work at once
  std::optional<double> requests_per_s;      // answered; one of the two rates is there
  std::optional<double> tokens_per_s;        // of output
  std::vector<Latency> latencies = {};       // "ttft_p99", s
  std::optional<double> prompt_tokens = {};  // of a request
};

/// Latencies of single requests, independent of each other.
struct LatencySamples {
  std::string kind;            // "ttft", "itl"; empty: of whole answers
  std::string source;          // file
  std::vector<double> sorted;  // s, rising
};

/// A quantile with its distribution-free 95 % interval.
struct LatencyQuantile {
  double part = 0.5;
  double seconds = 0.0;
  std::optional<double> low;  // absent: too few requests to bound it on that side
  std::optional<double> high;
  double requests_for_tenth = 0.0;  // that bring both ends within 10 %
};

/// Of type 7 (Hyndman & Fan 1996). The interval is that of two order statistics, x(r) and x(s): r
/// the largest with P(B < r) <= 2.5 %, s the smallest with P(B >= s) <= 2.5 %, B binomial of n and
/// `part` (David & Nagaraja, Order Statistics, 3rd ed., section 7.1). How many bring it within 10
/// %: (1.96 / 10 %)^2 p (1 - p) / g^2, the asymptotic variance of a quantile, with g the density of
/// log x from the quantiles half of min(p, 1 - p) aside; and as many as bound it at all. `sorted`
/// has at least one latency above 0; `part` in (0, 1).
LatencyQuantile latency_quantile(const std::vector<double>& sorted, double part);

/// "ttft_p99 below 0.5 s".
using LatencyLimit = Latency;

/// Requests that are alike: a part of the time, hours in a profile that repeats.
struct DemandHour {
  double requests_per_s = 0.0;  // mean
  double hours = 1.0;
};

/// A GPU for an hour by another contract than on demand, paid whether used or not.
struct Commitment {
  std::string name;  // "reserved"
  DollarsPerSecond per_gpu;
};

struct DemandQuestion {
  std::vector<ServicePoint> curve;
  std::vector<LatencySamples> samples;
  std::vector<double> loads;  // concurrencies to predict
  /// In the order of time, the first follows the last; empty: only the two above are asked about.
  std::vector<DemandHour> hours;
  double burst = 1.0;                        // peak over mean within each of these, at least 1
  std::optional<double> tokens_per_request;  // of output; absent: as the curve has it
  std::vector<LatencyLimit> limits;          // all must hold
  int gpus_per_replica = 1;
  std::optional<DollarsPerSecond> price;  // of a GPU on demand
  std::vector<Commitment> commitments;    // need `price`
  std::optional<Dollars> api;             // of a million output tokens, beside `price`
  Seconds start_up;                       // a replica is paid so long before it serves
};

/// What a replica carries under the limits.
struct Capacity {
  double requests_per_s = 0.0;
  double concurrency = 0.0;
  bool interpolated = false;              // between two measured loads
  bool at_largest = false;                // no limit binds: the largest load may not be the most
  std::vector<Latency> latencies = {};    // at that load
  std::optional<std::string> bound = {};  // the limit that ends it
};

/// The rate between measured loads: mean latencies L = c / X (Little) follow L^k = a^k + (c / m)^k,
/// which is flat at small loads and saturates at m requests per second; a, m >= 0 by least squares
/// of relative residuals at each k of 0.4, 0.5 ... 3, of which the best is taken. What is left at
/// the measured loads is interpolated in logarithms, so that each of them is met. With two points,
/// and where no k fits, straight lines in logarithms.
class ServiceLaw {
 public:
  /// Rising concurrency, two points or more, all in requests per second.
  explicit ServiceLaw(const std::vector<ServicePoint>& curve);
  /// Requests per second at a concurrency within the measured ones.
  double rate(double concurrency) const;

 private:
  double log_latency(double concurrency) const;
  double shape_ = 1.0;    // k
  double least_ = 0.0;    // a^k
  double inverse_ = 1.0;  // 1 / m^k
  std::vector<double> log_loads_;
  std::vector<double> residuals_;  // of log L
};

/// |predicted / measured - 1| of the rate at each load but the first and the last, each predicted
/// by the law of the others; empty for fewer than four.
std::vector<double> left_out_errors(const std::vector<ServicePoint>& curve);

/// The point at a concurrency within the measured ones: the rate by `ServiceLaw`, the mean
/// latency by Little's law, others by straight lines over the concurrency. Throws UserError outside
/// of them.
ServicePoint service_at(const std::vector<ServicePoint>& curve, double concurrency);

/// Of output, by points that have both rates; absent where one has not.
std::optional<double> mean_tokens(const std::vector<ServicePoint>& curve);

/// The curve in requests per second, by rising concurrency. Of points with both rates tokens count
/// where `tokens_per_request` says what a request is, for a longer one takes proportionally longer.
std::vector<ServicePoint> in_requests(std::vector<ServicePoint> curve,
                                      std::optional<double> tokens_per_request);

/// The most requests per second up to the load at which the first limit is reached, found between
/// measured loads as `service_at` has them; beyond the largest load nothing is assumed. A mean
/// latency that was not measured is concurrency over rate (Little, Operations Research 9, 1961).
/// Absent where the smallest load already exceeds a limit. Throws UserError for a latency that the
/// curve does not have. `curve`: as `in_requests` gives it.
std::optional<Capacity> capacity_of(const std::vector<ServicePoint>& curve,
                                    const std::vector<LatencyLimit>& limits);

struct HourPlan {
  DemandHour demand;
  int replicas = 0;      // that its peak needs
  double running = 0.0;  // mean of a fleet that follows the hours, those that start included
};

/// The k-th replica of the fleet, which serves what those before it cannot.
struct ReplicaUse {
  int replica = 1;
  double needed = 0.0;       // part of the time in which the peak needs it
  double utilisation = 0.0;  // part of what it could carry in all the time
  double running = 0.0;      // part of the time that it is up where the fleet follows the hours
  std::optional<Dollars> per_million_tokens = {};  // as the cheapest way pays for it
};

/// `mixed`: some replicas always paid, the rest rented by the hour. From `mixed_api` on the rest is
/// the API's; `mixed_all`: some rented by the hour, too.
enum class Payment { fixed, following, committed, mixed, api, mixed_api, mixed_all };

struct PaymentWay {
  Payment payment = Payment::fixed;
  std::string name = {};  // of the commitment
  int replicas = 0;       // that are paid for all of the time
  int rented = 0;         // by the hour, beyond them
  DollarsPerSecond cost;  // on average
  std::optional<Dollars> per_million_tokens = {};
  /// Of a replica: the utilisation above which it is cheaper than the API; above 1: never.
  std::optional<double> break_even_api = {};
  /// The part of the time in which a replica must be needed for a commitment to be cheaper.
  std::optional<double> break_even_rent = {};
};

/// Quantiles 0.5, 0.9, 0.99 and 0.999 of samples.
struct SampledLatency {
  std::string kind;
  std::string source;
  std::size_t requests = 0;
  std::vector<LatencyQuantile> quantiles;
};

struct DemandAnswer {
  std::vector<SampledLatency> latencies;
  std::vector<ServicePoint> curve;  // in requests per second
  std::vector<ServicePoint> predicted;
  std::vector<double> errors;  // `left_out_errors`
  std::optional<Capacity> capacity;
  std::optional<double> tokens_per_request;
  double mean_requests_per_s = 0.0;
  double peak_requests_per_s = 0.0;  // burst included
  int replicas = 0;                  // that carry the peak
  double utilisation = 0.0;          // of that fleet, on average
  double following = 0.0;            // replicas that run on average where the fleet follows
  std::vector<HourPlan> hours;
  std::vector<ReplicaUse> uses;
  std::optional<Dollars> full_cost;  // of a million tokens at full use, as that way pays
  std::vector<PaymentWay> ways;      // rising cost
  /// Mean requests per second, in the shape of the demand, from which one replica, committed or
  /// rented in the hours with requests, is cheaper than the API; absent without both prices, and
  /// where its peak is then beyond the replica.
  std::optional<double> least_demand;
};

/// With r(t) the mean rate, b the burst and c the capacity: the fleet is N = ceil(b max r / c), its
/// utilisation mean(r) / (N c), that of the k-th replica mean(min(max(r - (k-1) c, 0), c)) / c; a
/// fleet that follows runs at t the most that any moment from t to t + start-up needs. Replicas
/// that are needed for a larger part of the time than the commitment's part of the price are
/// committed, the others rented; those used more than the break-even with the API,
/// price / (c tokens API price), are kept, the rest is the API's. Each mix is the cheapest of all
/// splits of the fleet: so many committed, the next by the hour, what is beyond them by the API.
DemandAnswer plan_demand(const DemandQuestion& question);
}  // namespace scaleworth::model
