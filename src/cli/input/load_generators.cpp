// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/toml_table.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <tuple>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
namespace {
using model::Latency;
using model::LatencySamples;
using model::ServicePoint;
using nlohmann::json;

constexpr double millisecond = 1e-3;
constexpr double rounding_s = 1e-5;  // a printed percentile may differ by 0.01 ms
constexpr double many_failed = 0.01;
constexpr double as_asked = 0.95;  // of a rate

const json* member_at(const json& object, std::initializer_list<const char*> path) {
  const json* at = &object;
  for (const char* key : path) at = at == nullptr ? nullptr : member_of(*at, key);
  return at;
}

std::optional<double> number_at(const json& object, std::initializer_list<const char*> path) {
  return number_in(member_at(object, path));
}

std::optional<double> positive_at(const json& object, std::initializer_list<const char*> path) {
  const auto number = number_at(object, path);
  return number && *number > 0.0 && std::isfinite(*number) ? number : std::nullopt;
}

/// Those above 0: the time of what failed is 0.
std::vector<double> numbers_in(const json& list) {
  std::vector<double> numbers;
  for (const json& one : list)
    if (one.is_number() && one.get<double>() > 0.0) numbers.push_back(one.get<double>());
  return numbers;
}

/// One run of a load generator on its way to a point of the curve.
class LoadRun {
 public:
  LoadRun(ServiceFile& file, std::string place) : file_(file), place_(std::move(place)) {}

  std::optional<double> asked_concurrency{};
  std::optional<double> asked_rate{};  // requests per second; absent: as fast as answered
  std::optional<double> sent_rate{};   // as the client really began them
  std::optional<double> requests_per_s{};
  std::optional<double> tokens_per_s{};
  double failed = 0.0;
  double cut = 0.0;  // not finished at the end of the run
  double answered = 0.0;
  std::optional<double> prompt_tokens{};  // of a request
  std::vector<Latency> latencies{};

  void add_latency(const std::string& name, std::optional<double> seconds) {
    if (seconds && *seconds > 0.0 && std::isfinite(*seconds)) latencies.push_back({name, *seconds});
  }
  template <class... Values>
  void warn(FindingId what, const Values&... values) {
    file_.warnings.emplace_back(what, place_, values...);
  }

  /// Single latencies of the name's kind ("ttft"; empty: whole answers): percentiles by
  /// `quantile_of(sorted, p)`, as the generator defines them, held against those printed.
  template <class QuantileOf>
  void add_samples(const std::string& kind, std::vector<double> seconds, QuantileOf quantile_of) {
    if (seconds.empty()) return;
    std::ranges::sort(seconds);
    for (const auto& [word, p] :
         {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}}) {
      const std::string name = kind.empty() ? word : kind + "_" + word;
      const double computed = quantile_of(seconds, p);
      Latency* printed = find_in(latencies, name, &Latency::name);
      if (printed == nullptr) {
        latencies.push_back({name, computed});
      } else if (std::abs(printed->seconds - computed) > rounding_s) {
        warn(FindingId::latency_printed_otherwise,
             name,
             computed / millisecond,
             printed->seconds / millisecond);
        printed->seconds = computed;
      }
    }
    file_.samples.push_back({kind, place_, std::move(seconds)});
  }

  void finish() {
    say_failures();
    if (!requests_per_s && !tokens_per_s)
      throw UserError("{}: no rate of requests; give the file as the load generator wrote it",
                      place_);
    say_client();
    const Latency* mean = find_in(latencies, "mean", &Latency::name);
    const auto by_little =
        mean && requests_per_s ? std::optional(mean->seconds * *requests_per_s) : std::nullopt;
    // A limit that a slow rate of requests does not reach says nothing.
    const auto concurrency = asked_rate          ? by_little
                             : asked_concurrency ? asked_concurrency
                                                 : by_little;
    if (!concurrency && !asked_concurrency)
      throw UserError("{}: neither a concurrency nor a mean latency, which would give it", place_);
    file_.points.push_back({concurrency ? *concurrency : *asked_concurrency,
                            requests_per_s,
                            tokens_per_s,
                            std::move(latencies),
                            prompt_tokens});
  }

 private:
  void say_failures() {
    const double all = answered + failed + cut;
    if (!(failed + cut > 0.0)) return;
    auto& said = failed > many_failed * all ? file_.warnings : file_.remarks;
    if (failed > 0.0)
      said.emplace_back(FindingId::requests_failed, place_, failed, all);
    else
      said.emplace_back(FindingId::requests_cut, place_, cut, all);
  }
  void say_client() {
    if (!asked_rate) return;
    if (sent_rate && *sent_rate < as_asked * *asked_rate)
      return warn(FindingId::client_slow, *sent_rate, *asked_rate);
    if (!sent_rate && requests_per_s && *requests_per_s < as_asked * *asked_rate)
      file_.remarks.emplace_back(FindingId::answered_less, place_, *requests_per_s, *asked_rate);
  }

  ServiceFile& file_;
  std::string place_;
};

/// numpy's, by linear interpolation.
double linear_quantile(const std::vector<double>& sorted, double p) {
  return *quantile(sorted, p);
}
/// guidellm's: the least value that a part `p` does not exceed.
double step_quantile(const std::vector<double>& sorted, double p) {
  const double rank = std::ceil(p * static_cast<double>(sorted.size()) - 1e-9);
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

/// "ttft_p99" of "p99_ttft_ms", "p50" of "median_e2el_ms"; empty for other members.
std::string summary_name(const std::string& key) {
  const auto known = key.ends_with("_ms") ? table_column(key, "") : std::nullopt;
  if (!known || known->meaning != Meaning::latency) return "";
  const std::string& name = known->latency;
  return name.starts_with("e2e") ? name.substr(name.find('_') + 1) : name;
}

/// vLLM and SGLang: summaries in ms, single latencies in s.
void read_flat(const json& run, ServiceFile& file, const std::string& place) {
  LoadRun load(file, place);
  load.requests_per_s = positive_at(run, {"request_throughput"});
  load.tokens_per_s = positive_at(run, {"output_throughput"});
  load.asked_concurrency = positive_at(run, {"max_concurrency"});
  load.asked_rate = positive_at(run, {"request_rate"});  // "inf" is none
  load.answered = number_at(run, {"completed"}).value_or(0.0);
  // SGLang of early 2025 does not print the quotient.
  if (const auto seconds = positive_at(run, {"duration"}); seconds && load.answered > 0.0)
    load.requests_per_s = load.requests_per_s.value_or(load.answered / *seconds);
  if (const auto prompts = positive_at(run, {"total_input_tokens"}); prompts && load.answered > 0.0)
    load.prompt_tokens = *prompts / load.answered;
  const json* errors = member_of(run, "errors");
  const auto is_failed = [&](std::size_t i) {
    return errors != nullptr && errors->is_array() && i < errors->size() &&
           !text_in(&(*errors)[i]).empty();
  };
  if (const auto failed = number_at(run, {"failed"})) {
    load.failed = *failed;
  } else if (const auto all = number_at(run, {"num_prompts"})) {
    load.failed = std::max(0.0, *all - load.answered);
  } else if (errors != nullptr && errors->is_array()) {
    for (std::size_t i = 0; i < errors->size(); ++i) load.failed += is_failed(i) ? 1.0 : 0.0;
  }
  for (const auto& [key, value] : run.items())
    if (const std::string name = summary_name(key); !name.empty())
      if (const auto ms = number_in(&value)) load.add_latency(name, *ms * millisecond);
  const auto single = [&](const char* key) {
    std::vector<double> all;
    const json* list = member_of(run, key);
    for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
      if (is_failed(i)) continue;
      const json& one = (*list)[i];
      const auto numbers = numbers_in(one.is_array() ? one : json::array({one}));
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    return all;
  };
  load.add_samples("ttft", single("ttfts"), linear_quantile);
  load.add_samples("itl", single("itls"), linear_quantile);
  load.add_samples("", single("latencies"), linear_quantile);
  const json* begun = member_of(run, "start_times");
  const auto starts = numbers_in(begun != nullptr && begun->is_array() ? *begun : json::array());
  if (starts.size() > 1) {
    const auto [first, last] = std::ranges::minmax(starts);
    if (last > first) load.sent_rate = static_cast<double>(starts.size() - 1) / (last - first);
  }
  // Without a mean of whole answers: the first token and those behind it.
  const auto ttft = positive_at(run, {"mean_ttft_ms"});
  auto itl = positive_at(run, {"mean_itl_ms"});
  if (!itl) itl = positive_at(run, {"mean_tpot_ms"});
  if (!find_in(load.latencies, "mean", &Latency::name) && ttft && itl && load.requests_per_s &&
      load.tokens_per_s)
    load.add_latency(
        "mean", (*ttft + *itl * (*load.tokens_per_s / *load.requests_per_s - 1.0)) * millisecond);
  load.finish();
}

std::string latency_of(const char* kind, const std::string& which) {
  return *kind == '\0' ? which : fmt::format("{}_{}", kind, which);
}

void read_guidellm(const json& run, ServiceFile& file, const std::string& place) {
  LoadRun load(file, place);
  const json* metrics = member_of(run, "metrics");
  if (metrics == nullptr) throw UserError("{}: no metrics; give guidellm's whole JSON", place);
  const auto mean = [&](const char* key) {
    return positive_at(*metrics, {key, "successful", "mean"});
  };
  load.requests_per_s = mean("requests_per_second");
  load.tokens_per_s = mean("output_tokens_per_second");
  load.asked_concurrency = mean("request_concurrency");
  load.prompt_tokens = mean("prompt_token_count");
  load.answered = number_at(*metrics, {"request_totals", "successful"}).value_or(0.0);
  load.failed = number_at(*metrics, {"request_totals", "errored"}).value_or(0.0);
  load.cut = number_at(*metrics, {"request_totals", "incomplete"}).value_or(0.0);
  const json* requests = member_at(run, {"requests", "successful"});
  for (const auto& [key, kind, factor] : {std::tuple{"request_latency", "", 1.0},
                                          {"time_to_first_token_ms", "ttft", millisecond},
                                          {"inter_token_latency_ms", "itl", millisecond},
                                          {"time_per_output_token_ms", "tpot", millisecond}}) {
    const json* summary = member_at(*metrics, {key, "successful"});
    if (summary == nullptr) continue;
    if (const auto value = number_at(*summary, {"mean"}))
      load.add_latency(latency_of(kind, "mean"), *value * factor);
    for (const char* which : {"p50", "p90", "p95", "p99"})
      if (const auto value = number_at(*summary, {"percentiles", which}))
        load.add_latency(latency_of(kind, which), *value * factor);
    // Requests may be a sample of them: then their percentiles are others.
    if (requests == nullptr || !requests->is_array() ||
        static_cast<double>(requests->size()) != load.answered)
      continue;
    std::vector<double> single;
    for (const json& one : *requests)
      if (const auto value = positive_at(one, {key})) single.push_back(*value * factor);
    // Those of tokens are weighted by their count.
    if (*kind == '\0' || std::string_view(kind) == "ttft")
      load.add_samples(kind, std::move(single), step_quantile);
  }
  const auto delay = positive_at(run, {"scheduler_metrics", "request_targeted_start_delay_avg"});
  const std::string strategy = text_in(member_at(run, {"config", "strategy", "type_"}));
  const Latency* whole = find_in(load.latencies, "mean", &Latency::name);
  constexpr double late = 0.1;  // of an answer's time
  if (delay && whole && (strategy == "constant" || strategy == "poisson" || strategy == "async") &&
      *delay > late * whole->seconds)
    load.warn(FindingId::client_late, *delay);
  load.finish();
}

void read_aiperf(const json& run, ServiceFile& file, const std::string& place) {
  LoadRun load(file, place);
  const auto average = [&](const char* key) { return positive_at(run, {key, "avg"}); };
  load.requests_per_s = average("request_throughput");
  load.tokens_per_s = average("output_token_throughput");
  load.asked_concurrency = positive_at(run, {"input_config", "loadgen", "concurrency"});
  load.asked_rate = positive_at(run, {"input_config", "loadgen", "request_rate"});
  load.answered = average("request_count").value_or(0.0);
  load.prompt_tokens = average("input_sequence_length");
  load.failed = average("error_request_count").value_or(0.0);
  if (const json* cancelled = member_of(run, "was_cancelled");
      cancelled && cancelled->is_boolean() && cancelled->get<bool>())
    load.warn(FindingId::run_cancelled);
  for (const auto& [key, kind] : {std::pair{"request_latency", ""},
                                  {"time_to_first_token", "ttft"},
                                  {"inter_token_latency", "itl"}}) {
    const json* summary = member_of(run, key);
    if (summary == nullptr) continue;
    const Unit* const unit = header_unit(text_in(member_of(*summary, "unit")));
    const double factor = unit ? unit->factor : millisecond;
    for (const char* which : {"avg", "p50", "p90", "p95", "p99"})
      if (const auto value = number_at(*summary, {which}))
        load.add_latency(latency_of(kind, std::string_view(which) == "avg" ? "mean" : which),
                         *value * factor);
  }
  load.finish();
}
/// What `mfu --inference --format json` makes of a model; batches that do not fit are left out.
void read_modelled(const json& batches, ServiceFile& file, const std::string& place) {
  for (const json& batch : batches) {
    if (!text_in(member_of(batch, "excluded")).empty()) continue;
    const auto load = positive_at(batch, {"batch"});
    ServicePoint point{load.value_or(0.0),
                       positive_at(batch, {"requests_per_s"}),
                       positive_at(batch, {"output_tokens_per_s"})};
    if (!load || !point.requests_per_s)
      throw UserError("{}: a batch without its rate; give the JSON as mfu wrote it", place);
    for (const auto& [key, name] :
         {std::pair{"time_to_first_token_s", "ttft"}, std::pair{"time_per_output_token_s", "tpot"}})
      if (const auto time = positive_at(batch, {key})) point.latencies.push_back({name, *time});
    file.points.push_back(std::move(point));
  }
  file.remarks.emplace_back(FindingId::curve_computed, place);
}
}  // namespace

bool read_load_generator(const json& run, ServiceFile& file, const std::string& place) {
  if (!run.is_object()) return false;
  if (const json* benchmarks = member_of(run, "benchmarks"); benchmarks && benchmarks->is_array()) {
    constexpr double newest = 2.0;
    if (const auto version = number_at(run, {"metadata", "version"}); version && *version > newest)
      throw UserError("{}: guidellm's report version {:g}; versions up to {:g} are read",
                      place,
                      *version,
                      newest);
    std::size_t number = 0;
    for (const json& one : *benchmarks)
      read_guidellm(one, file, fmt::format("{}: benchmark {}", place, ++number));
    return number > 0;
  }
  if (const json* batches = member_of(run, "batches"); batches && batches->is_array()) {
    read_modelled(*batches, file, place);
    return !file.points.empty();
  }
  const json* rate = member_of(run, "request_throughput");
  if (rate == nullptr && member_of(run, "mean_e2e_latency_ms") == nullptr) return false;
  std::string server;
  for (const char* key : {"backend", "endpoint_type", "model_id"})
    if (const std::string said = text_in(member_of(run, key)); !said.empty())
      server += (server.empty() ? "" : " ") + said;
  if (!file.server.empty() && !server.empty() && server != file.server)
    throw UserError("{}: is of {}, lines above of {}: a curve is of one server",
                    place,
                    toml_file::printable(server),
                    toml_file::printable(file.server));
  if (!server.empty()) file.server = server;
  (rate != nullptr && rate->is_object() ? read_aiperf : read_flat)(run, file, place);
  return true;
}
}  // namespace scaleworth::cli
