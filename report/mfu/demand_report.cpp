// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/mfu/mfu_report.h"
#include "report/run/run_report.h"
#include "src/core/files/fields.h"

#include <cmath>
#include <numeric>
#include <span>

namespace scaleworth::report {
namespace {
constexpr double hours_per_month = hours_per_year / 12.0;

std::string money(const DemandView& view, double amount) {
  return format_money(number(amount), view.options.currency);
}

std::string per_million(const DemandView& view, const std::optional<Dollars>& cost) {
  return cost ? money(view, cost->value()) + " per million output tokens" : "";
}

/// "p99" of all the answer, "ttft_p99".
std::string latency_words(const std::string& name) {
  const bool bare = name.find('_') == std::string::npos && name != "latency";
  return bare && (name.front() == 'p' || name == "mean") ? name + " latency" : name;
}

std::string seconds_text(double seconds) {
  return seconds < 60.0 ? format_quantity(number(seconds), Unit::seconds)
                        : fmt::format("{:.3g} min", seconds / 60.0);
}

/// "6 GPUs (3 replicas of 2)".
std::string gpus_text(const DemandView& view, int replicas) {
  const int each = view.question.gpus_per_replica;
  const std::string gpus = counted(static_cast<std::size_t>(replicas) * each, "GPU");
  return each == 1 ? gpus : fmt::format("{} ({} of {})", gpus, counted(replicas, "replica"), each);
}

std::string way_name(const PaymentWay& way) {
  if (way.payment == Payment::api) return "API";
  std::string text = way.rented > 0 ? "rent by the hour" : "rent all of the time";
  if (!way.name.empty()) text = way.name;
  if (way.payment == Payment::mixed)
    text += ", rent the rest by the hour";
  else if (!way.name.empty() && way.rented > 0)
    text += fmt::format(", rent {} by the hour", way.rented);
  return text + (way.payment >= Payment::mixed_api ? ", the rest to the API" : "");
}

/// What to do, as a command: "Rent 6 GPUs (3 replicas of 2)".
std::string action_of(const DemandView& view, const PaymentWay* way) {
  if (way == nullptr) return "Take " + gpus_text(view, view.answer.replicas);
  const int rented = way->rented * view.question.gpus_per_replica;
  std::string action =
      !way->name.empty() ? fmt::format("Take {} as {}", gpus_text(view, way->replicas), way->name)
      : rented > 0       ? fmt::format("Rent up to {} by the hour", gpus_text(view, way->rented))
                         : "Rent " + gpus_text(view, way->replicas);
  if (!way->name.empty() && rented > 0)
    action += fmt::format(" and rent up to {} more by the hour", rented);
  return way->payment >= Payment::mixed_api ? action + " and leave the rest to the API" : action;
}

std::string rate_text(double requests_per_s) {
  return format_number(number(requests_per_s), Unit::plain, {}) + " requests/s";
}

std::string limits_text(const DemandView& view) {
  return listed(
      view.question.limits,
      [](const LatencyLimit& limit) {
        return fmt::format("{} below {}", latency_words(limit.name), seconds_text(limit.seconds));
      },
      " and ");
}

std::string headline(const DemandView& view) {
  const DemandAnswer& answer = view.answer;
  const PaymentWay* way = answer.ways.empty() ? nullptr : &answer.ways.front();
  if (way && way->payment == Payment::api) {
    const auto* own = find_in(answer.ways, Payment::fixed, &PaymentWay::payment);
    return fmt::format("Take the API: {} would be {} used and cost {}, {:.3g} times its {}.",
                       gpus_text(view, answer.replicas),
                       percent_text(answer.utilisation),
                       per_million(view, own->per_million_tokens),
                       own->cost / way->cost,
                       money(view, view.question.api->value()));
  }
  const bool steady = answer.peak_requests_per_s <= answer.mean_requests_per_s * (1.0 + 1e-9);
  std::string text = fmt::format("{}: {}{}",
                                 action_of(view, way),
                                 steady ? "" : "peaks of ",
                                 rate_text(answer.peak_requests_per_s));
  if (const std::string limits = limits_text(view); !limits.empty()) text += " at " + limits;
  // Of what is always paid, or of what follows the hours.
  if (!way || way->replicas == answer.replicas)
    text += fmt::format(", {} used", percent_text(answer.utilisation));
  else if (way->payment == Payment::following)
    text += fmt::format(", {} used",
                        percent_text(answer.utilisation * answer.replicas / answer.following));
  if (way)
    text += ", " + (way->per_million_tokens ? per_million(view, way->per_million_tokens)
                                            : money(view, per_hour(way->cost)) + " per hour");
  const bool said = view.question.api || !way || !way->per_million_tokens;
  return if_it_fits(text, said ? "" : "; an API below that is cheaper") + ".";
}

std::string capacity_line(const DemandView& view) {
  const Capacity& capacity = *view.answer.capacity;
  const std::string why = capacity.bound        ? latency_words(*capacity.bound) + " sets the limit"
                          : capacity.at_largest ? "the largest load measured: it may carry more"
                                                : "more load answers no more requests";
  return fmt::format("A replica carries {} at concurrency {:.3g}{}: {}.",
                     rate_text(capacity.requests_per_s),
                     capacity.concurrency,
                     capacity.interpolated ? ", interpolated between measured loads" : "",
                     why);
}

std::string use_line(const DemandView& view) {
  const DemandAnswer& answer = view.answer;
  if (answer.replicas < 2) return "";
  const ReplicaUse& last = answer.uses.back();
  if (last.utilisation <= 0.0)
    return fmt::format("The last of the {} replicas is needed only in bursts.", answer.replicas);
  return fmt::format("The last of the {} replicas is needed {} of the time and {} used{}.",
                     answer.replicas,
                     percent_text(last.needed),
                     percent_text(last.utilisation),
                     last.per_million_tokens
                         ? ": its tokens cost " + per_million(view, last.per_million_tokens)
                         : "");
}

std::string duty_line(const DemandView& view) {
  if (!view.answer.full_cost) return "";
  const PaymentWay* own = &view.answer.ways.front();
  if (own->payment == Payment::api)
    own = find_in(view.answer.ways, Payment::fixed, &PaymentWay::payment);
  return fmt::format(
      "A million output tokens with prompts costs {} at full use, {:.3g} times that here: {}.",
      money(view, view.answer.full_cost->value()),
      *own->per_million_tokens / *view.answer.full_cost,
      money(view, own->per_million_tokens->value()));
}

std::string following_line(const DemandView& view) {
  const DemandAnswer& answer = view.answer;
  if (answer.following >= answer.replicas) return "";
  return fmt::format(
      "A fleet that follows the hours runs {:.3g} of {} replicas on average, {} less{}.",
      answer.following,
      answer.replicas,
      percent_text(1.0 - answer.following / answer.replicas),
      view.question.start_up.value() > 0.0
          ? fmt::format(", each up {} before it is needed",
                        seconds_text(view.question.start_up.value()))
          : words_for(view.options.audience,
                      ", without the time to start (--start-up 5m)",
                      ", without the time to start"));
}

std::string api_line(const DemandView& view) {
  const auto* own = find_in(view.answer.ways, Payment::fixed, &PaymentWay::payment);
  if (own == nullptr || !own->break_even_api) return "";
  const double needed = *own->break_even_api;
  if (needed > 1.0)
    return fmt::format(
        "The API is cheaper at any demand: even a full replica costs {:.3g} times what it asks.",
        needed);
  return fmt::format("A rented replica breaks even with the API at {} use; {}.",
                     percent_text(needed),
                     view.answer.least_demand
                         ? fmt::format("one's own pays from {} on average in this shape",
                                       rate_text(*view.answer.least_demand))
                         : "the API is cheaper than any fleet that this shape of demand needs");
}

/// "8,000": two digits.
std::string about(double count) {
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(count)) - 1.0));
  return grouped(fixed(std::round(count / unit) * unit, 0));
}

/// "[1.02, 1.60]"; an end that so few requests do not bound is open.
std::string interval_text(const LatencyQuantile& one) {
  const auto end = [](const std::optional<double>& seconds, const char* open) {
    return seconds ? seconds_text(*seconds) : open;
  };
  return fmt::format("[{}, {}]", end(one.low, "0"), end(one.high, "unbounded"));
}

Verdict judge_latencies(const DemandView& view) {
  const SampledLatency& first = view.answer.latencies.front();
  const LatencyQuantile& p99 = first.quantiles[2];
  Verdict verdict;
  verdict.answer = p99.high ? Answer::yes : Answer::unknown;
  const std::string what = fmt::format("The p99{} is {} {} of {}",
                                       first.kind.empty() ? "" : " of " + first.kind,
                                       seconds_text(p99.seconds),
                                       interval_text(p99),
                                       counted(first.requests, "request"));
  verdict.headline =
      what + (p99.high ? fmt::format("; within 10 % takes about {}.", about(p99.requests_for_tenth))
                       : fmt::format(", too few to bound it: measure {:g} or more.",
                                     p99.requests_for_tenth));
  verdict.lines = {reading_note("intervals of quantiles")};
  return verdict;
}

/// How well the law predicts the measured loads, each left out in turn.
std::string law_line(const DemandView& view) {
  const auto& errors = view.answer.errors;
  if (errors.empty()) return "";
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return fmt::format(
      "Between measured loads by a saturating law: left out in turn, they are {} off, at most {}.",
      percent_text(sum / static_cast<double>(errors.size())),
      percent_text(*std::ranges::max_element(errors)));
}

/// Of loads that were not measured, where no demand is asked about.
Verdict judge_loads(const DemandView& view) {
  const ServicePoint& first = view.answer.predicted.front();
  Verdict verdict;
  verdict.answer = Answer::yes;
  verdict.headline = fmt::format(
      "Predicted: {} at concurrency {:g}", rate_text(*first.requests_per_s), first.concurrency);
  for (const ServicePoint& point : std::span(view.answer.predicted).subspan(1))
    verdict.headline =
        if_it_fits(verdict.headline,
                   fmt::format(", {:.3g} at {:g}", *point.requests_per_s, point.concurrency));
  verdict.headline += ".";
  if (const std::string law = law_line(view); !law.empty()) verdict.lines = {law};
  return verdict;
}

Verdict judge_demand(const DemandView& view) {
  const DemandAnswer& answer = view.answer;
  Verdict verdict;
  if (!answer.capacity) {
    verdict.answer = Answer::no;
    const double least = answer.curve.front().concurrency;
    verdict.headline = fmt::format(
        "No load keeps {}: concurrency {:g} exceeds it; {}.",
        limits_text(view),
        least,
        least > 1.0 ? "relax it, or measure smaller loads" : "relax it, or take a faster server");
    return verdict;
  }
  const bool api = !answer.ways.empty() && answer.ways.front().payment == Payment::api;
  verdict.answer = api ? Answer::no : Answer::yes;
  verdict.headline = headline(view);
  const auto add = [&](std::string line) {
    if (!line.empty()) verdict.lines.push_back(std::move(line));
  };
  add(capacity_line(view));
  if (answer.capacity->interpolated) add(law_line(view));
  add(use_line(view));
  add(duty_line(view));
  add(following_line(view));
  add(api_line(view));
  add(reading_note("queueing"));
  return verdict;
}

constexpr std::size_t few_remarks = 3;  // stand below the first sentence

/// Of what was asked, with the warnings of the input before it.
Verdict judge(const DemandView& view) {
  const bool latencies = view.answer.curve.empty();
  Verdict verdict = latencies                     ? judge_latencies(view)
                    : view.question.hours.empty() ? judge_loads(view)
                                                  : judge_demand(view);
  const auto& warnings = view.names.warnings;
  const auto remarks = said(view.names.remarks);
  if (remarks.size() <= few_remarks)
    verdict.lines.insert(verdict.lines.end(), remarks.begin(), remarks.end());
  if (warnings.empty()) return verdict;
  verdict.answer = Answer::unknown;
  verdict.headline = not_reliable(warnings);
  const auto below = told_below(warnings, view.options.audience);
  verdict.lines.insert(verdict.lines.begin(), below.begin(), below.end());
  return verdict;
}

Column requests_column(const char* id, const char* header) {
  return measure(id, header).with_digits(4);
}

Column cents(const char* id, const char* header) {
  return measure(id, header, Unit::dollars).with_decimals(2).if_present();
}

const std::vector<FieldOf<PaymentWay>>& way_fields() {
  static const std::vector<FieldOf<PaymentWay>> fields{
      {parameter("way", "way to pay"), way_name},
      {measure("always_paid_replicas", "replicas always paid", Unit::count), &PaymentWay::replicas},
      {cents("usd_per_hour", "per hour"), [](const PaymentWay& way) { return per_hour(way.cost); }},
      {cents("usd_per_month", "per month"),
       [](const PaymentWay& way) { return per_hour(way.cost) * hours_per_month; }},
      {cents("per_million_tokens_usd", "per million tokens"), &PaymentWay::per_million_tokens},
      {measure("break_even_with_api", "break-even with API", Unit::percent).if_present(),
       &PaymentWay::break_even_api},
      {measure("break_even_with_rent", "with rent", Unit::percent).if_present(),
       &PaymentWay::break_even_rent}};
  return fields;
}

Table ways_table(const DemandView& view) {
  Table table = make_table("ways",
                           "Ways to pay, cheapest first",
                           view.answer.ways,
                           columns_of<PaymentWay>(way_fields()),
                           {reading_note("ways to pay")});
  if (table.rows.empty()) return table;
  table.rows.front().chosen = true;
  table.tiles = {{0, "per_million_tokens_usd", "Million tokens", "the cheapest way"},
                 {0, "usd_per_month", "Month", "the cheapest way"}};
  return table;
}

Table hours_table(const DemandView& view) {
  const auto& hours = view.answer.hours;
  const double burst = view.question.burst;
  const double carries = view.answer.capacity->requests_per_s;
  double begins = 0.0;
  const std::vector<ColumnOf<HourPlan>> columns{
      {parameter("hour", "from hour"),
       [&](const HourPlan& hour) {
         const double begin = begins;
         begins += hour.demand.hours;
         return number(begin);
       }},
      {requests_column("requests_per_s", "requests/s"),
       [](const HourPlan& hour) { return hour.demand.requests_per_s; }},
      {requests_column("peak_requests_per_s", "peak").if_present(),
       [&](const HourPlan& hour) {
         return burst > 1.0 ? std::optional(hour.demand.requests_per_s * burst) : std::nullopt;
       }},
      {measure("replicas", "replicas", Unit::count), &HourPlan::replicas},
      {measure("gpus", "GPUs", Unit::count),
       [&](const HourPlan& hour) { return hour.replicas * view.question.gpus_per_replica; }},
      {measure("running_replicas", "running when it follows").with_digits(3), &HourPlan::running},
      {measure("fixed_use", "use of the fixed fleet", Unit::percent), [&](const HourPlan& hour) {
         return hour.demand.requests_per_s / (view.answer.replicas * carries);
       }}};
  Table table = make_table("hours", "Hour by hour", hours, columns);
  constexpr std::size_t a_day = 24;
  for (std::size_t i = a_day; i < table.rows.size(); ++i) table.rows[i].detail = true;
  return table;
}

const std::vector<FieldOf<ReplicaUse>>& use_fields() {
  static const std::vector<FieldOf<ReplicaUse>> fields{
      {parameter("replica", "replica", Unit::count), &ReplicaUse::replica},
      {measure("needed", "needed", Unit::percent), &ReplicaUse::needed},
      {measure("used", "used", Unit::percent), &ReplicaUse::utilisation, "utilisation"},
      {cents("per_million_tokens_usd", "per million tokens"), &ReplicaUse::per_million_tokens}};
  return fields;
}

Table replicas_table(const DemandView& view) {
  const int last = view.answer.replicas;
  constexpr int shown = 8;
  return make_table(
      "replicas",
      "Each replica serves what those before it cannot",
      view.answer.uses,
      columns_of<ReplicaUse>(use_fields()),
      {},
      [=](const ReplicaUse& use) { return use.replica > shown && use.replica < last; });
}

Table latencies_table(const DemandView& view) {
  using Row = Nested<SampledLatency, LatencyQuantile>;
  return make_table<Row>(
      "latencies",
      "Single latencies",
      nested(view.answer.latencies, &SampledLatency::quantiles),
      {{parameter("source", "of"), &SampledLatency::source},
       {parameter("kind", "latency"),
        [](const SampledLatency& of) { return of.kind.empty() ? "whole answer" : of.kind; }},
       {parameter("quantile", "quantile"),
        [](const LatencyQuantile& one) { return fmt::format("p{:g}", 100.0 * one.part); }},
       {measure("requests", "count", Unit::count), &SampledLatency::requests},
       {measure("latency_s", "time", Unit::seconds), &LatencyQuantile::seconds},
       {measure("low_s", "from", Unit::seconds), &LatencyQuantile::low},
       {measure("high_s", "to", Unit::seconds), &LatencyQuantile::high},
       {measure("requests_for_tenth", "needed for 10 %", Unit::count),
        &LatencyQuantile::requests_for_tenth}});
}

Table curve_table(const char* id, const char* title, const std::vector<ServicePoint>& curve) {
  if (curve.empty()) return {};
  std::vector<ColumnOf<ServicePoint>> columns{
      {parameter("concurrency", "concurrency"), &ServicePoint::concurrency},
      {requests_column("requests_per_s", "requests/s"), &ServicePoint::requests_per_s},
      {measure("tokens_per_s", "output", Unit::tokens_per_second).with_digits(4).if_present(),
       &ServicePoint::tokens_per_s}};
  for (const Latency& latency : curve.front().latencies) {
    Column column = measure(latency.name + "_s", latency_words(latency.name), Unit::seconds);
    const bool detail = latency.name.ends_with("p90") || latency.name.ends_with("p95");
    columns.emplace_back(detail ? column.as_detail() : column,
                         [name = latency.name](const ServicePoint& point) {
                           const auto* found = find_in(point.latencies, name, &Latency::name);
                           return found ? as_cell(found->seconds) : Cell{};
                         });
  }
  return make_table(id, title, curve, columns);
}

Document compose_demand(const DemandView& view) {
  const auto& answer = view.answer;
  std::vector<NextCommand> next;
  const std::string command =
      view.options.command.empty() ? "scaleworth demand ..." : view.options.command;
  if (view.question.hours.empty())
    next.push_back({command + " --requests-per-s N", "how many GPUs that many requests are worth"});
  else if (!view.question.price)
    next.push_back({command + " --price USD_PER_GPU_HOUR", "what a million tokens cost"});
  else if (!view.question.api)
    next.push_back({command + " --api-price USD_PER_MILLION", "from which demand on it pays"});
  next.push_back({command + " --format html > report.html", "charts, in one file"});
  std::vector<Section> sections;
  if (answer.capacity)
    sections = {
        section_of("ways", "Ways to pay", {ways_table(view)}),
        section_of("hours",
                   "Demand",
                   {answer.hours.size() > 1 ? hours_table(view) : Table{}, replicas_table(view)})};
  sections.push_back(
      section_of("curve",
                 "Service curve",
                 {curve_table("predicted", "One replica, predicted", answer.predicted),
                  curve_table("curve", "One replica, as measured", answer.curve)}));
  sections.push_back(section_of("latencies", "Latencies", {latencies_table(view)}));
  if (view.names.remarks.size() > few_remarks)
    sections.push_back({"remarks", "Remarks", {}, said(view.names.remarks), {}});
  return {.title = document_title(view.options.tool_version, "how many GPUs for this demand?"),
          .subject = view.options.input,
          .subtitle = answer.curve.empty()
                          ? fmt::format("{}: single latencies", view.options.input)
                          : fmt::format("{}: {}, {} per replica",
                                        view.options.input,
                                        counted(answer.curve.size(), "measured load"),
                                        counted(view.question.gpus_per_replica, "GPU")),
          .intervals = false,
          .verdict = judge(view),
          .sections = with_content(std::move(sections)),
          .next = std::move(next)};
}

std::vector<Chart> demand_charts(const DemandView& view) {
  const DemandAnswer& answer = view.answer;
  std::vector<Chart> charts;
  if (answer.capacity && answer.hours.size() > 1) {
    Chart hours{"replicas-by-hour",
                "hours",
                "Replicas by the hour",
                reading_note("chart replicas-by-hour")};
    std::vector<Json> rows;
    double begins = 0.0;
    for (const HourPlan& hour : answer.hours) {
      rows.push_back({{"series", "follows the hours"}, {"x", begins}, {"value", hour.running}});
      rows.push_back({{"series", "fixed fleet"}, {"x", begins}, {"value", answer.replicas}});
      begins += hour.demand.hours;
    }
    hours.data = line_data(std::move(rows), "hour", "replicas");
    charts.push_back(std::move(hours));
  }
  if (answer.curve.empty()) return charts;
  Chart curve{"service-curve",
              "curve",
              "Requests per second of one replica against the concurrency",
              "Where the line bends, more load mostly makes each request slower."};
  std::vector<Json> rows;
  for (const ServicePoint& point : answer.curve)
    rows.push_back(
        {{"series", "measured"}, {"x", point.concurrency}, {"value", *point.requests_per_s}});
  curve.data = line_data(std::move(rows), "concurrency", "requests/s");
  charts.push_back(std::move(curve));
  return charts;
}

constexpr JsonHead demand_head{1, "scaleworth demand"};

void latency(Fields& json, const Latency& one) {
  json.members("name", one.name, "seconds", one.seconds);
}

void latency_quantile(Fields& json, const LatencyQuantile& one) {
  json.members("quantile", one.part, "seconds", one.seconds, "low", one.low, "high", one.high);
  json("requests_for_tenth", one.requests_for_tenth);
}

void sampled_latency(Fields& json, const SampledLatency& one) {
  json("kind", one.kind);
  json.members("source", one.source, "requests", one.requests);
  json.array("quantiles", one.quantiles, latency_quantile);
}

void service_point(Fields& json, const ServicePoint& one) {
  json.members("concurrency", one.concurrency, "requests_per_s", one.requests_per_s);
  json("output_tokens_per_s", one.tokens_per_s);
  json.array("latencies", one.latencies, latency);
}

void capacity(Fields& json, const Capacity& one) {
  json.members("requests_per_s", one.requests_per_s, "concurrency", one.concurrency);
  json.members("interpolated", one.interpolated, "at_largest_load", one.at_largest);
  json("bound_by", one.bound);
  json.array("latencies", one.latencies, latency);
}

void hour_plan(Fields& json, const HourPlan& one) {
  json.members("hours", one.demand.hours, "requests_per_s", one.demand.requests_per_s);
  json.members("replicas", one.replicas, "running_replicas", one.running);
}

void demand_document(Fields& json, const DemandView& view, const Document& whole) {
  const DemandAnswer& answer = view.answer;
  put_answer(json, view.options, whole.verdict);
  json("gpus_per_replica", view.question.gpus_per_replica);
  json.members("tokens_per_request", answer.tokens_per_request, "burst", view.question.burst);
  json("start_up_s", view.question.start_up);
  json("price_usd_per_gpu_hour", per_hour(view.question.price));
  json("api_usd_per_million_tokens", view.question.api);
  json.array("limits", view.question.limits, latency);
  json.object("capacity", answer.capacity, capacity);
  json("mean_requests_per_s", answer.mean_requests_per_s);
  json.members("peak_requests_per_s", answer.peak_requests_per_s, "replicas", answer.replicas);
  json("gpus", answer.replicas * view.question.gpus_per_replica);
  json.members("utilisation", answer.utilisation, "following_replicas", answer.following);
  json("full_use_per_million_tokens_usd", answer.full_cost);
  json("least_demand_requests_per_s", answer.least_demand);
  put_array(json, "ways", answer.ways, way_fields());
  json.array("hours", answer.hours, hour_plan);
  put_array(json, "replica_uses", answer.uses, use_fields());
  json.array("predicted", answer.predicted, service_point);
  json("left_out_errors", answer.errors);
  json.array("curve", answer.curve, service_point);
  json.array("latencies", answer.latencies, sampled_latency);
  json.members("doubts", said(view.names.warnings), "remarks", said(view.names.remarks));
}
}  // namespace

std::string render_demand(const DemandView& view) {
  return render_view(view, compose_demand, demand_charts);
}

std::string json_of_view(const DemandView& view, const Document& whole) {
  return json_of(demand_head, [&](Fields& json) { demand_document(json, view, whole); });
}

std::string demand_schema() {
  return schema_of(demand_head, [](Fields& json) { demand_document(json, {{}, {}, {}, {}}, {}); });
}
}  // namespace scaleworth::report
