// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/demand.h"

#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/cost.h"

#include <cmath>
#include <limits>

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

std::optional<double> latency_at(const ServicePoint& point, const std::string& name) {
  if (const Latency* found = find_in(point.latencies, name, &Latency::name)) return found->seconds;
  return std::nullopt;
}

/// Both in all points; tokens only where each has them.
double rate_of(const ServicePoint& point) {
  return *point.requests_per_s;
}

/// The concurrency at which the limit is reached, 0 where the smallest load exceeds it; absent
/// where none does.
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
      return i == 0 ? 0.0
                    : between(curve[i - 1].concurrency,
                              curve[i].concurrency,
                              (limit.seconds - before) / (*latency - before));
    before = *latency;
  }
  return std::nullopt;
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
            "{:g} requests/s need {:g} replicas of {:g}/s: check units", peak, replicas, carries_);
      answer_.hours.push_back({hour, static_cast<int>(replicas)});
      answer_.replicas = std::max(answer_.replicas, static_cast<int>(replicas));
      answer_.peak_requests_per_s = std::max(answer_.peak_requests_per_s, peak);
    }
    answer_.following = mean_running(answer_.hours);
    // Within a line a server would not even start.
    constexpr double shortest = 1.0 / 12.0;
    if (!(question_.start_up.value() > 0.0) && answer_.hours.front().demand.hours < shortest)
      answer_.following = answer_.replicas;
    answer_.mean_requests_per_s =
        mean_over(answer_.hours, [](const HourPlan& one) { return one.demand.requests_per_s; });
    answer_.utilisation = answer_.mean_requests_per_s / (answer_.replicas * carries_);
    for (int k = 1; k <= answer_.replicas; ++k) answer_.uses.push_back(use_of(k));
  }

  void money() {
    if (!question_.price) return;
    rent_ = of_replica(*question_.price);
    const int all = answer_.replicas;
    DollarsPerSecond least = rent_ * running(1);
    add({Payment::fixed, "", all, 0, rent_ * all}, rent_);
    if (follows()) add({Payment::following, "", 0, all, rent_ * answer_.following}, rent_);
    for (const Commitment& one : question_.commitments) {
      const DollarsPerSecond committed = of_replica(one.per_gpu);
      least = std::min(least, committed);
      add({Payment::committed, one.name, all, 0, committed * all}, committed);
      add_mixes(one.name, committed);
    }
    if (const auto api = api_at(answer_.mean_requests_per_s))
      add({Payment::api, "", 0, 0, *api}, rent_);
    add_mixes("", rent_);
    std::ranges::stable_sort(answer_.ways, {}, &PaymentWay::cost);
    price_uses();
    const auto use = break_even_api(least);
    if (use && *use * answer_.peak_requests_per_s <= answer_.mean_requests_per_s)
      answer_.least_demand = *use * carries_;
  }

 private:
  /// Replicas of the first `most` that run on average where the fleet follows the hours.
  double running(int most) const {
    std::vector<HourPlan> first = answer_.hours;
    for (HourPlan& hour : first) hour.replicas = std::min(hour.replicas, most);
    return mean_running(first);
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
    use.running = running(k) - running(k - 1);
    use.utilisation = mean_over(answer_.hours, [&](const HourPlan& hour) {
      return std::clamp(hour.demand.requests_per_s / carries_ - (k - 1), 0.0, 1.0);
    });
    return use;
  }
  /// `price`: of a replica that is always paid.
  void add(PaymentWay way, DollarsPerSecond price) {
    if (way.payment != Payment::api) way.break_even_api = break_even_api(price);
    if (!way.name.empty()) way.break_even_rent = price / rent_;
    if (answer_.tokens_per_request)
      way.per_million_tokens =
          million_tokens(way.cost, answer_.mean_requests_per_s * *answer_.tokens_per_request);
    answer_.ways.push_back(std::move(way));
  }
  bool follows() const { return answer_.following < answer_.replicas; }
  /// The first replicas are always paid, at `price`, the next rented by the hour, and what is
  /// beyond them is the API's: the cheapest split of each mix, where each part then has some.
  void add_mixes(const std::string& name, DollarsPerSecond price) {
    for (const Payment mix : {Payment::mixed, Payment::mixed_api, Payment::mixed_all}) {
      const bool rents = mix != Payment::mixed_api;
      const bool leaves = mix != Payment::mixed;
      if ((rents && !follows()) || (leaves && !api_at(carries_))) continue;
      double left = answer_.mean_requests_per_s;
      PaymentWay best{mix, name, 0, 0, leaves ? *api_at(left) : DollarsPerSecond(HUGE_VAL)};
      const int all = answer_.replicas;
      int kept = 0;          // of the first `end`
      DollarsPerSecond own;  // what these cost
      for (int end = 1; end <= all; ++end) {
        const ReplicaUse& use = answer_.uses[end - 1];
        const DollarsPerSecond by_hour = rent_ * use.running;  // no later one runs longer
        const bool keep = !rents || (!name.empty() && price < by_hour);
        if (keep) kept = end;
        own += keep ? price : by_hour;
        left -= use.utilisation * carries_;
        const DollarsPerSecond cost = own + api_at(left).value_or(DollarsPerSecond());
        if ((end < all && !leaves) || !(cost < best.cost)) continue;
        best.cost = cost;
        best.replicas = kept;
        best.rented = end - kept;
      }
      const bool keeps = best.replicas > 0 || (name.empty() && leaves && best.rented > 0);
      const bool rest = best.replicas + best.rented < all;
      if (keeps && (best.rented > 0) == rents && rest == leaves) add(best, price);
    }
  }
  /// What the tokens of each replica cost by the way that is taken; those that it leaves to the API
  /// as if rented.
  void price_uses() {
    if (!tokens_per_s_) return;
    const PaymentWay& way = answer_.ways.front();
    const DollarsPerSecond kept = rent_ * way.break_even_rent.value_or(1.0);
    answer_.full_cost = million_tokens(kept, *tokens_per_s_);
    for (ReplicaUse& use : answer_.uses) {
      const int k = use.replica;
      const bool by_hour = k > way.replicas && k <= way.replicas + way.rented;
      const DollarsPerSecond paid =
          (k > way.replicas ? rent_ : kept) * (by_hour ? use.running : 1.0);
      if (use.utilisation > 0.0)
        use.per_million_tokens = million_tokens(paid, *tokens_per_s_ * use.utilisation);
    }
  }

  const DemandQuestion& question_;
  DemandAnswer& answer_;
  double carries_;                      // requests per second of a replica
  std::optional<double> tokens_per_s_;  // of a replica
  DollarsPerSecond rent_;               // of a replica
};
}  // namespace

LatencyQuantile latency_quantile(const std::vector<double>& sorted, double part) {
  const auto n = static_cast<double>(sorted.size());
  LatencyQuantile found{part, *quantile(sorted, part), {}, {}};
  constexpr double tail = 0.025;
  double log_chance = n * std::log1p(-part);  // of B = k
  double below = 0.0;                         // P(B < k)
  for (std::size_t k = 0; k <= sorted.size(); ++k) {
    if (k > 0 && below <= tail) found.low = sorted[k - 1];
    if (!found.high && k > 0 && 1.0 - below <= tail) found.high = sorted[k - 1];
    below += std::exp(log_chance);
    const auto at = static_cast<double>(k);
    log_chance += std::log((n - at) / (at + 1.0)) + std::log(part / (1.0 - part));
  }
  if (found.low) found.low = std::min(*found.low, found.seconds);
  const double aside = 0.5 * std::min(part, 1.0 - part);
  const double spread = std::log(*quantile(sorted, part + aside) / *quantile(sorted, part - aside));
  const double density = 2.0 * aside / spread;  // of log x
  constexpr double narrow = normal_reach / 0.1;
  found.requests_for_tenth =
      std::ceil(std::max(std::log(tail) / std::log(std::max(part, 1.0 - part)),
                         narrow * narrow * part * (1.0 - part) / (density * density)));
  return found;
}

ServiceLaw::ServiceLaw(const std::vector<ServicePoint>& curve) {
  for (const ServicePoint& point : curve) log_loads_.push_back(std::log(point.concurrency));
  double least_squares = std::numeric_limits<double>::infinity();
  constexpr int last = 30;  // tenths of k
  for (int tenths = curve.size() > 2 ? 4 : last + 1; tenths <= last; ++tenths) {
    ServiceLaw other = *this;
    other.shape_ = 0.1 * tenths;
    // y = a^k + u / m^k with y = L^k, u = c^k, weights 1 / y^2.
    double all = 0.0;
    double sum_u = 0.0;
    double sum_y = 0.0;
    double sum_uu = 0.0;
    double sum_uy = 0.0;
    for (const ServicePoint& point : curve) {
      const double u = std::pow(point.concurrency, other.shape_);
      const double y = std::pow(point.concurrency / rate_of(point), other.shape_);
      const double weight = 1.0 / (y * y);
      all += weight;
      sum_u += weight * u;
      sum_y += weight * y;
      sum_uu += weight * u * u;
      sum_uy += weight * u * y;
    }
    other.inverse_ = (all * sum_uy - sum_u * sum_y) / (all * sum_uu - sum_u * sum_u);
    other.least_ = (sum_y - other.inverse_ * sum_u) / all;
    if (!(other.least_ > 0.0) || !(other.inverse_ >= 0.0)) continue;
    double squares = 0.0;
    for (const ServicePoint& point : curve) {
      const double off =
          std::log(point.concurrency / rate_of(point)) - other.log_latency(point.concurrency);
      squares += off * off;
    }
    if (!(squares < least_squares)) continue;
    least_squares = squares;
    *this = other;
  }
  for (const ServicePoint& point : curve)
    residuals_.push_back(std::log(point.concurrency / rate_of(point)) -
                         log_latency(point.concurrency));
}

double ServiceLaw::log_latency(double concurrency) const {
  return std::log(least_ + inverse_ * std::pow(concurrency, shape_)) / shape_;
}

double ServiceLaw::rate(double concurrency) const {
  const double at = std::log(concurrency);
  const auto next = std::ranges::lower_bound(log_loads_, at);
  const std::size_t high = std::clamp<std::size_t>(
      static_cast<std::size_t>(next - log_loads_.begin()), 1, log_loads_.size() - 1);
  const double part = (at - log_loads_[high - 1]) / (log_loads_[high] - log_loads_[high - 1]);
  const double residual = between(residuals_[high - 1], residuals_[high], part);
  return concurrency / std::exp(log_latency(concurrency) + residual);
}

std::vector<double> left_out_errors(const std::vector<ServicePoint>& curve) {
  std::vector<double> errors;
  for (std::size_t i = 1; i + 1 < curve.size() && curve.size() > 3; ++i) {
    std::vector<ServicePoint> others = curve;
    others.erase(others.begin() + i);
    errors.push_back(
        std::abs(ServiceLaw(others).rate(curve[i].concurrency) / rate_of(curve[i]) - 1.0));
  }
  return errors;
}

ServicePoint service_at(const std::vector<ServicePoint>& curve, double concurrency) {
  if (!(concurrency >= curve.front().concurrency) || !(concurrency <= curve.back().concurrency))
    throw UserError("concurrency {:g} lies outside of those measured, {:g} to {:g}: measure it",
                    concurrency,
                    curve.front().concurrency,
                    curve.back().concurrency);
  const auto next = std::ranges::lower_bound(curve, concurrency, {}, &ServicePoint::concurrency);
  if (next->concurrency == concurrency) return *next;
  ServicePoint point = *(next - 1);
  const double part = (concurrency - point.concurrency) / (next->concurrency - point.concurrency);
  const double measured = rate_of(point);
  point.concurrency = concurrency;
  point.requests_per_s = ServiceLaw(curve).rate(concurrency);
  if (point.tokens_per_s) *point.tokens_per_s *= rate_of(point) / measured;
  for (Latency& latency : point.latencies) {
    // Of the mean what Little's law leaves open, as where loads were not quite kept.
    const auto scale = [&](const ServicePoint& at) {
      return latency.name == little ? at.concurrency / rate_of(at) : 1.0;
    };
    const double before = latency.seconds / scale(*(next - 1));
    const double behind = latency_at(*next, latency.name).value_or(latency.seconds) / scale(*next);
    latency.seconds = between(before, behind, part) * scale(point);
  }
  return point;
}

std::optional<double> mean_tokens(const std::vector<ServicePoint>& curve) {
  if (curve.empty()) return std::nullopt;
  double tokens = 0.0;
  double requests = 0.0;
  for (const ServicePoint& point : curve) {
    if (!point.tokens_per_s || !point.requests_per_s) return std::nullopt;
    tokens += *point.tokens_per_s;
    requests += *point.requests_per_s;
  }
  return tokens / requests;
}

std::vector<ServicePoint> in_requests(std::vector<ServicePoint> curve,
                                      std::optional<double> tokens_per_request) {
  constexpr std::size_t most_points = 1000;
  constexpr double largest = 1e12;
  require(!curve.empty() && curve.size() <= most_points, "a curve has 1 to 1000 measured loads");
  const auto plausible = [](double value) { return value >= 1.0 / largest && value <= largest; };
  require(!tokens_per_request || plausible(*tokens_per_request),
          "a request has between 1e-12 and 1e12 tokens");
  for (ServicePoint& point : curve) {
    if (point.tokens_per_s && tokens_per_request)
      point.requests_per_s = *point.tokens_per_s / *tokens_per_request;
    require(point.requests_per_s.has_value(),
            "the curve is in tokens per second: say by --tokens-per-request what a request has");
    require(plausible(rate_of(point)) && plausible(point.concurrency),
            "a throughput and a concurrency of the curve lie between 1e-12 and 1e12");
    const bool measured =
        std::ranges::any_of(point.latencies, [](const Latency& one) { return one.name == little; });
    if (!measured) point.latencies.push_back({little, point.concurrency / rate_of(point)});
  }
  std::ranges::stable_sort(curve, {}, &ServicePoint::concurrency);
  for (std::size_t i = 1; i < curve.size(); ++i)
    if (curve[i].concurrency == curve[i - 1].concurrency)
      throw UserError("concurrency {:g} stands twice: give one point of each, of one server",
                      curve[i].concurrency);
  return curve;
}

std::optional<Capacity> capacity_of(const std::vector<ServicePoint>& curve,
                                    const std::vector<LatencyLimit>& limits) {
  double end = curve.back().concurrency;
  Capacity capacity;
  for (const LatencyLimit& limit : limits) {
    const auto reached = reached_at(curve, limit);
    if (!reached || *reached >= end) continue;
    end = *reached;
    capacity.bound = limit.name;
  }
  if (end < curve.front().concurrency) return std::nullopt;
  ServicePoint best = service_at(curve, end);
  for (const ServicePoint& point : curve)
    if (point.concurrency < end && rate_of(point) > rate_of(best)) best = point;
  if (best.concurrency < end) capacity.bound.reset();
  capacity.requests_per_s = rate_of(best);
  capacity.concurrency = best.concurrency;
  capacity.latencies = best.latencies;
  capacity.interpolated = find_in(curve, best.concurrency, &ServicePoint::concurrency) == nullptr;
  capacity.at_largest = best.concurrency == curve.back().concurrency;
  return capacity;
}

DemandAnswer plan_demand(const DemandQuestion& question) {
  DemandAnswer answer;
  for (const auto& [kind, source, sorted] : question.samples) {
    answer.latencies.push_back({kind, source, sorted.size(), {}});
    for (const double part : {0.5, 0.9, 0.99, 0.999})
      answer.latencies.back().quantiles.push_back(latency_quantile(sorted, part));
  }
  const bool no_demand = question.hours.empty();
  if (no_demand && question.loads.empty() && !question.samples.empty()) return answer;
  if (!no_demand || question.loads.empty()) check(question);
  answer.curve = in_requests(question.curve, question.tokens_per_request);
  answer.tokens_per_request =
      question.tokens_per_request ? question.tokens_per_request : mean_tokens(question.curve);
  answer.errors = left_out_errors(answer.curve);
  for (const double load : question.loads)
    answer.predicted.push_back(service_at(answer.curve, load));
  if (no_demand) return answer;
  answer.capacity = capacity_of(answer.curve, question.limits);
  if (!answer.capacity) return answer;
  Planner planner(question, answer);
  planner.fleet();
  planner.money();
  return answer;
}
}  // namespace scaleworth::model
