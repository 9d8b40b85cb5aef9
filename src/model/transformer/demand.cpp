// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/demand.h"

#include "src/core/error.h"
#include "src/model/cost.h"

#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double priced_tokens = 1e6;  // by an API
constexpr double most_replicas = 1e4;
constexpr std::size_t most_hours = 10000;  // more than a year
constexpr const char* little = "mean";     // the latency that concurrency and rate give
/// A capacity that was computed may miss a peak equal to it by rounding.
constexpr double rounding = 1.0 - 1e-9;

double between(double low, double high, double part) {
  return low + part * (high - low);
}

Dollars million_tokens(DollarsPerSecond cost, double tokens_per_s) {
  return cost_per_million_tokens({cost}, 1, tokens_per_s);
}

bool positive(double value) {
  return value > 0.0 && std::isfinite(value);
}

std::optional<double> latency_at(const ServicePoint& point, const std::string& name) {
  if (const Latency* found = find_in(point.latencies, name, &Latency::name)) return found->seconds;
  return std::nullopt;
}

/// Both in all points; tokens only where each has them.
std::optional<double> mean_tokens(const std::vector<ServicePoint>& curve) {
  double tokens = 0.0;
  double requests = 0.0;
  for (const ServicePoint& point : curve) {
    if (!point.tokens_per_s || !point.requests_per_s) return std::nullopt;
    tokens += *point.tokens_per_s;
    requests += *point.requests_per_s;
  }
  return tokens / requests;
}

double rate_of(const ServicePoint& point) {
  return *point.requests_per_s;
}

/// Where along the curve, in points, the limit is reached; absent where it is not.
std::optional<double> reached_at(const std::vector<ServicePoint>& curve,
                                 const LatencyLimit& limit) {
  require(positive(limit.seconds), "a limit on a latency is a time above zero");
  double before = 0.0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto latency = latency_at(curve[i], limit.name);
    if (!latency)
      throw UserError("the curve has no latency {} at concurrency {:g}; it has {}",
                      limit.name,
                      curve[i].concurrency,
                      listed(curve[i].latencies, &Latency::name));
    if (*latency > limit.seconds)
      return static_cast<double>(i) -
             (i == 0 ? 1.0 : (*latency - limit.seconds) / (*latency - before));
    before = *latency;
  }
  return std::nullopt;
}

/// `place` points along the curve.
ServicePoint point_at(const std::vector<ServicePoint>& curve, double place) {
  const auto low = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(low);
  ServicePoint point = curve[low];
  if (part == 0.0) return point;
  const ServicePoint& next = curve[low + 1];
  point.concurrency = between(point.concurrency, next.concurrency, part);
  point.requests_per_s = between(rate_of(point), rate_of(next), part);
  for (Latency& latency : point.latencies)
    latency.seconds =
        between(latency.seconds, latency_at(next, latency.name).value_or(latency.seconds), part);
  return point;
}

void check(const DemandQuestion& question) {
  require(!question.hours.empty(), "no demand: give its requests per second or a file of hours");
  require(question.hours.size() <= most_hours, "a demand has at most 10000 hours");
  require(question.burst >= 1.0 && std::isfinite(question.burst),
          "a burst is peak over mean: give a number of at least 1");
  require(question.gpus_per_replica >= 1, "a replica has at least one GPU");
  require(!question.price || positive(question.price->value()), "a price is an amount above zero");
  require(!question.api || positive(question.api->value()), "an API's price is above zero");
  require(question.start_up.value() >= 0.0, "a start-up takes a time of 0 or more");
  double all = 0.0;
  for (const DemandHour& hour : question.hours) {
    require(
        hour.requests_per_s >= 0.0 && std::isfinite(hour.requests_per_s) && positive(hour.hours),
        "a demand is a number of requests of 0 or more");
    all += hour.requests_per_s;
  }
  require(all > 0.0, "the demand is zero in all hours: nothing is to be served");
}

/// Hours of a plan together, each by its `weight`.
template <class Weight>
double mean_over(const std::vector<HourPlan>& hours, Weight weight) {
  double sum = 0.0;
  double all = 0.0;
  for (const HourPlan& hour : hours) {
    sum += weight(hour) * hour.demand.hours;
    all += hour.demand.hours;
  }
  return sum / all;
}

/// Replicas times hours that run in hour `at` where each is up `ahead` hours before it is needed.
double running_hours(const std::vector<HourPlan>& hours, std::size_t at, double ahead) {
  const double end = hours[at].demand.hours;
  double level = hours[at].replicas;
  double from = 0.0;
  double sum = 0.0;
  double begins = end;  // of the hour looked at, from the beginning of this one
  for (std::size_t i = 1; i < hours.size() && begins - ahead < end; ++i) {
    const HourPlan& later = hours[(at + i) % hours.size()];
    if (later.replicas > level) {
      const double rises = std::max(from, begins - ahead);
      sum += level * (rises - from);
      level = later.replicas;
      from = rises;
    }
    begins += later.demand.hours;
  }
  return sum + level * (end - from);
}

/// The replicas of the plan that are needed for more than `part` of the time.
int needed_beyond(const std::vector<ReplicaUse>& uses,
                  double ReplicaUse::*of,
                  const std::optional<double>& part) {
  return static_cast<int>(
      std::ranges::count_if(uses, [&](const ReplicaUse& use) { return use.*of > *part; }));
}

class Planner {
 public:
  Planner(const DemandQuestion& question, DemandAnswer& answer)
      : question_(question), answer_(answer), carries_(answer.capacity->requests_per_s) {
    if (answer.tokens_per_request) tokens_per_s_ = carries_ * *answer.tokens_per_request;
  }

  void fleet() {
    for (const DemandHour& hour : question_.hours) {
      const double peak = hour.requests_per_s * question_.burst;
      const double replicas = std::ceil(peak / carries_ * rounding);
      if (replicas > most_replicas)
        throw UserError(
            "the peak of {:g} requests/s needs {:g} replicas of {:g}/s: check the units",
            peak,
            replicas,
            carries_);
      answer_.hours.push_back({hour, static_cast<int>(replicas)});
      answer_.replicas = std::max(answer_.replicas, static_cast<int>(replicas));
      answer_.peak_requests_per_s = std::max(answer_.peak_requests_per_s, peak);
    }
    answer_.following = mean_running(answer_.hours);
    answer_.mean_requests_per_s =
        mean_over(answer_.hours, [](const HourPlan& one) { return one.demand.requests_per_s; });
    answer_.utilisation = answer_.mean_requests_per_s / (answer_.replicas * carries_);
    for (int k = 1; k <= answer_.replicas; ++k) answer_.uses.push_back(use_of(k));
  }

  void money() {
    if (!question_.price) return add_api();
    const DollarsPerSecond rent = of_replica(*question_.price);
    if (tokens_per_s_) answer_.full_cost = million_tokens(rent, *tokens_per_s_);
    const auto break_even = break_even_api(rent);
    DollarsPerSecond least = rent * serving_part();
    add({Payment::fixed, "", answer_.replicas, rent * answer_.replicas, {}, break_even, {}});
    if (answer_.following < answer_.replicas)
      add({Payment::following, "", 0, rent * answer_.following, {}, break_even, {}});
    for (const Commitment& one : question_.commitments) {
      const DollarsPerSecond committed = of_replica(one.per_gpu);
      const double part = committed / rent;
      least = std::min(least, committed);
      add({Payment::committed,
           one.name,
           answer_.replicas,
           committed * answer_.replicas,
           {},
           break_even_api(committed),
           part});
      const int kept = needed_beyond(answer_.uses, &ReplicaUse::needed, part);
      if (kept == 0 || kept == answer_.replicas) continue;
      const double rented = mean_over(
          answer_.hours, [&](const HourPlan& hour) { return std::max(0.0, hour.running - kept); });
      add({Payment::mixed,
           one.name,
           kept,
           committed * kept + rent * rented,
           {},
           break_even_api(committed),
           part});
    }
    add_api();
    add_mixed_api(rent, break_even);
    std::ranges::stable_sort(answer_.ways, {}, &PaymentWay::cost);
    const auto use = break_even_api(least);
    if (use && *use * answer_.peak_requests_per_s <= answer_.mean_requests_per_s)
      answer_.least_demand = *use * carries_;
  }

 private:
  /// The part of the time that one replica runs which follows the hours with requests.
  double serving_part() const {
    std::vector<HourPlan> one = answer_.hours;
    for (HourPlan& hour : one) hour.replicas = std::min(hour.replicas, 1);
    return mean_running(one);
  }
  /// Fills in what runs in each hour of a fleet that follows them.
  double mean_running(std::vector<HourPlan>& hours) const {
    const double ahead = question_.start_up.value() / seconds_per_hour;
    for (std::size_t i = 0; i < hours.size(); ++i)
      hours[i].running = running_hours(hours, i, ahead) / hours[i].demand.hours;
    return mean_over(hours, [](const HourPlan& hour) { return hour.running; });
  }
  DollarsPerSecond of_replica(DollarsPerSecond gpu) const {
    require(gpu.value() > 0.0, "a price is an amount above zero");
    return gpu * question_.gpus_per_replica;
  }
  std::optional<DollarsPerSecond> api_at(double requests_per_s) const {
    if (!question_.api || !answer_.tokens_per_request) return std::nullopt;
    return DollarsPerSecond(requests_per_s * *answer_.tokens_per_request * question_.api->value() /
                            priced_tokens);
  }
  std::optional<double> break_even_api(DollarsPerSecond replica) const {
    const auto api = api_at(carries_);
    return api ? std::optional(replica / *api) : std::nullopt;
  }
  ReplicaUse use_of(int k) const {
    ReplicaUse use{k};
    use.needed = mean_over(answer_.hours,
                           [&](const HourPlan& hour) { return hour.replicas >= k ? 1.0 : 0.0; });
    use.utilisation = mean_over(answer_.hours, [&](const HourPlan& hour) {
      return std::clamp(hour.demand.requests_per_s / carries_ - (k - 1), 0.0, 1.0);
    });
    if (question_.price && tokens_per_s_ && use.utilisation > 0.0)
      use.per_million_tokens =
          million_tokens(of_replica(*question_.price), *tokens_per_s_ * use.utilisation);
    return use;
  }
  void add(PaymentWay way) {
    if (answer_.tokens_per_request)
      way.per_million_tokens =
          million_tokens(way.cost, answer_.mean_requests_per_s * *answer_.tokens_per_request);
    answer_.ways.push_back(std::move(way));
  }
  void add_api() {
    if (const auto all = api_at(answer_.mean_requests_per_s)) add({Payment::api, "", 0, *all});
  }
  void add_mixed_api(DollarsPerSecond rent, const std::optional<double>& break_even) {
    if (!break_even) return;
    const int kept = needed_beyond(answer_.uses, &ReplicaUse::utilisation, break_even);
    if (kept == 0 || kept == answer_.replicas) return;
    double rest = 0.0;
    for (const ReplicaUse& use : answer_.uses)
      if (use.replica > kept) rest += use.utilisation * carries_;
    add({Payment::mixed_api, "", kept, rent * kept + *api_at(rest), {}, break_even, {}});
  }

  const DemandQuestion& question_;
  DemandAnswer& answer_;
  double carries_;                      // requests per second of a replica
  std::optional<double> tokens_per_s_;  // of a replica
};
}  // namespace

std::vector<ServicePoint> in_requests(std::vector<ServicePoint> curve,
                                      std::optional<double> tokens_per_request) {
  require(!curve.empty(), "the curve has no points");
  require(!tokens_per_request || positive(*tokens_per_request),
          "a request has a number of tokens above zero");
  for (ServicePoint& point : curve) {
    if (point.tokens_per_s && tokens_per_request)
      point.requests_per_s = *point.tokens_per_s / *tokens_per_request;
    require(point.requests_per_s.has_value(),
            "the curve is in tokens per second: say by --tokens-per-request what a request has");
    require(positive(rate_of(point)), "a throughput of the curve is not above zero");
    require(positive(point.concurrency), "a concurrency of the curve is not above zero");
    const bool measured =
        std::ranges::any_of(point.latencies, [](const Latency& one) { return one.name == little; });
    if (!measured) point.latencies.push_back({little, point.concurrency / rate_of(point)});
  }
  std::ranges::stable_sort(curve, {}, &ServicePoint::concurrency);
  for (std::size_t i = 1; i < curve.size(); ++i)
    if (curve[i].concurrency == curve[i - 1].concurrency)
      throw UserError(
          "concurrency {:g} stands twice in the curve: give one point of each, of one "
          "server and one kind of requests",
          curve[i].concurrency);
  return curve;
}

std::optional<Capacity> capacity_of(const std::vector<ServicePoint>& curve,
                                    const std::vector<LatencyLimit>& limits) {
  const double last = static_cast<double>(curve.size() - 1);
  double end = last;
  Capacity capacity;
  for (const LatencyLimit& limit : limits) {
    const auto reached = reached_at(curve, limit);
    if (!reached || *reached >= end) continue;
    end = *reached;
    capacity.bound = limit.name;
  }
  if (end < 0.0) return std::nullopt;
  double best = end;
  for (double i = 0.0; i <= end; ++i)
    if (rate_of(point_at(curve, i)) > rate_of(point_at(curve, best))) best = i;
  const ServicePoint at = point_at(curve, best);
  capacity.requests_per_s = rate_of(at);
  capacity.concurrency = at.concurrency;
  capacity.latencies = at.latencies;
  capacity.interpolated = best != std::floor(best);
  capacity.at_largest = best == last && curve.size() > 0;
  if (best < end) capacity.bound.reset();
  return capacity;
}

DemandAnswer plan_demand(const DemandQuestion& question) {
  check(question);
  DemandAnswer answer;
  answer.curve = in_requests(question.curve, question.tokens_per_request);
  answer.tokens_per_request =
      question.tokens_per_request ? question.tokens_per_request : mean_tokens(question.curve);
  answer.capacity = capacity_of(answer.curve, question.limits);
  if (!answer.capacity) return answer;
  Planner planner(question, answer);
  planner.fleet();
  planner.money();
  return answer;
}
}  // namespace scaleworth::model
