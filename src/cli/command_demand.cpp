// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/core/files/toml_table.h"

#include <cmath>
#include <memory>

namespace scaleworth::cli {
namespace {
struct DemandOptions {
  std::vector<std::string> inputs;
  std::string requests_per_s;
  std::string tokens_per_request;
  std::string hours;  // a file
  double duty = 1.0;
  std::vector<std::string> limits;
  std::string start_up;
  std::optional<double> price;
  std::optional<double> api;
  std::vector<std::string> regimes;
  DemandQuestion question;
  report::RenderOptions render;
};

/// "20", "1.5k", "15M".
std::optional<double> amount(const char* flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  return stated_amount(flag, text, Dimension::none, "a number above 0, as 20 or 1.5k");
}

/// "2s", "500 ms", "5m".
double duration(const char* flag, const std::string& text) {
  return stated_amount(flag, text, Dimension::time, "a time with its unit, as 500ms, 2s or 5m");
}

/// Of one latency that is not named the rule takes the whole answer's highest percentile, else that
/// of the first token.
std::string default_latency(const std::vector<ServicePoint>& curve) {
  const auto& known = curve.front().latencies;
  if (known.size() == 1) return known.front().name;
  constexpr std::string_view order =
      "p99 e2e_p99 request_p99 p95 e2e_p95 request_p95 ttft_p99 ttft_p95 p90 ttft_p90 p50 ttft_p50 "
      "ttft";
  for (const std::string_view name : split(order, ' '))
    if (find_in(known, name, &Latency::name) != nullptr) return std::string(name);
  return known.empty() ? "mean" : known.front().name;
}

/// "2s", or "ttft_p99=500ms".
LatencyLimit limit_of(const std::string& text, const std::vector<ServicePoint>& curve) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) return {default_latency(curve), duration("--latency-limit", text)};
  return {text.substr(0, at), duration("--latency-limit", text.substr(at + 1))};
}

/// "reserved:0.60" is a part of the price, "owned=1.10" USD for one GPU and hour.
void add_commitments(const DemandOptions& options, DemandQuestion& question) {
  if (!options.regimes.empty() && !question.price)
    throw UserError("--regime needs --price, beside which it stands");
  for (const std::string& text : options.regimes) {
    const std::size_t at = text.find_last_of(":=");
    const auto number =
        parse_number<double>(at == std::string::npos ? "" : std::string_view(text).substr(at + 1));
    if (!number || !(*number > 0.0) || at == 0)
      throw UserError(
          "--regime {}: write NAME:PART of the price, as reserved:0.60, or NAME=USD, as owned=1.10",
          printable(text));
    question.commitments.push_back({text.substr(0, at),
                                    text[at] == '=' ? dollars_per_hour(*number)
                                                    : *question.price * price_part(text, *number)});
  }
}

void add_hours(const DemandOptions& options, DemandQuestion& question) {
  const auto rate = amount("--requests-per-s", options.requests_per_s);
  if (rate && !options.hours.empty())
    throw UserError("--requests-per-s and --demand both say how much is asked for: give one");
  if (!rate && options.hours.empty())
    throw UserError(
        "how much is asked for? Give --requests-per-s, or --demand FILE of hour,requests");
  if (!rate) {
    question.hours = read_demand_hours(options.hours);
    return;
  }
  constexpr double day = 24.0;
  if (!(options.duty > 0.0) || !(options.duty <= 1.0))
    throw UserError("--duty {:g}: the part of the hours with requests, above 0 and at most 1",
                    options.duty);
  question.hours = {{*rate, day * options.duty}};
  if (options.duty < 1.0) question.hours.push_back({0.0, day * (1.0 - options.duty)});
}

void add_demand(const DemandOptions& options, DemandQuestion& question) {
  add_hours(options, question);
  if (question.curve.empty())
    throw UserError("no service curve: give concurrency, rate and latencies of one server");
  const auto curve = in_requests(question.curve, question.tokens_per_request);
  for (const std::string& text : options.limits) question.limits.push_back(limit_of(text, curve));
}

/// Why the rows of a curve may not be of one server under one kind of requests.
void add_curve_warnings(const std::vector<ServicePoint>& curve, std::vector<Finding>& warnings) {
  // A choice: warm-up and last requests part the two rates by less; twice as many is another run.
  constexpr double far = 1.5;
  Interval<double> tokens{HUGE_VAL, 0.0};  // of a request
  Interval<double> prompts = tokens;
  const auto take = [](Interval<double>& range, const std::optional<double>& number) {
    if (number) range = {std::min(range.low, *number), std::max(range.high, *number)};
  };
  for (const ServicePoint& point : curve) {
    take(prompts, point.prompt_tokens);
    if (!point.requests_per_s) return;
    const Latency* mean = find_in(point.latencies, "mean", &Latency::name);
    const double little = point.concurrency / *point.requests_per_s;
    if (mean && std::abs(std::log(mean->seconds / little)) > std::log(far))
      return void(warnings.emplace_back(FindingId::against_little,
                                        point.concurrency,
                                        *point.requests_per_s,
                                        little,
                                        mean->seconds));
    if (point.tokens_per_s) take(tokens, *point.tokens_per_s / *point.requests_per_s);
  }
  for (const auto& [range, what] : {std::pair(prompts, "prompt"), {tokens, "request"}})
    if (range.high > far * range.low)
      warnings.emplace_back(FindingId::rows_of_other_requests, what, range.low, range.high);
}

int print_demand(DemandOptions& options) {
  DemandQuestion& question = options.question;
  report::MfuNames names;
  std::string server;
  std::string input_of_server;
  for (const std::string& input : options.inputs) {
    ServiceFile file = read_service_file(input);
    if (!server.empty() && !file.server.empty() && file.server != server)
      throw UserError("{} is of {}, {} of {}: a curve is of one server; give the files of one",
                      input_of_server,
                      server,
                      input,
                      file.server);
    if (server.empty()) {
      server = file.server;
      input_of_server = input;
    }
    if (file.gpus && question.gpus_per_replica == 1) question.gpus_per_replica = *file.gpus;
    const double gpus = question.gpus_per_replica;
    for (ServicePoint& point : file.points) {
      if (file.requests_of_gpu && point.requests_per_s) *point.requests_per_s *= gpus;
      if (file.tokens_of_gpu && point.tokens_per_s) *point.tokens_per_s *= gpus;
    }
    std::ranges::move(file.points, std::back_inserter(question.curve));
    std::ranges::move(file.samples, std::back_inserter(question.samples));
    std::ranges::move(file.warnings, std::back_inserter(names.warnings));
    std::ranges::move(file.remarks, std::back_inserter(names.remarks));
  }
  add_curve_warnings(question.curve, names.warnings);
  question.tokens_per_request = amount("--tokens-per-request", options.tokens_per_request);
  const auto measured = mean_tokens(question.curve);
  const auto& tokens = question.tokens_per_request;
  if (measured && tokens && std::abs(*tokens / *measured - 1.0) > 0.1)
    names.warnings.emplace_back(FindingId::other_tokens_per_request, *measured, *tokens);
  const bool asked = !options.requests_per_s.empty() || !options.hours.empty();
  if (asked || (question.samples.empty() && question.loads.empty())) add_demand(options, question);
  if (!options.limits.empty() && question.limits.empty())
    throw UserError("--latency-limit is held against a curve, at --requests-per-s: give both");
  if (!options.start_up.empty() && question.hours.size() < 2)
    throw UserError("--start-up changes nothing of a steady demand: give --demand or --duty");
  if (!options.start_up.empty())
    question.start_up = Seconds(duration("--start-up", options.start_up));
  if (options.price) question.price = dollars_per_hour(*options.price);
  if (options.api) question.api = Dollars(*options.api);
  add_commitments(options, question);
  options.render.input = options.inputs.front();
  fmt::print("{}", report::render_demand({question, plan_demand(question), names, options.render}));
  return exit_done;
}

void add_flags(CLI::App& command, DemandOptions& options) {
  const Flags flags(command);
  flags.add("curve", options.inputs)->required();
  flags.add("--requests-per-s", options.requests_per_s);
  flags.add("--tokens-per-request", options.tokens_per_request);
  flags.add("--demand", options.hours);
  flags.add("--duty", options.duty)->needs("--requests-per-s");
  flags.add("--burst", options.question.burst);
  flags.list("--latency-limit", options.limits);
  flags.list("--concurrency", options.question.loads);
  flags.add("--gpus-per-replica", options.question.gpus_per_replica)->check(CLI::Range(1, 100000));
  flags.add("--start-up", options.start_up);
  flags.add("--price", options.price)->check(positive_number);
  flags.list("--regime", options.regimes);
  flags.add("--api-price", options.api)->check(positive_number)->needs("--price");
}

}  // namespace

Command add_demand_command(CLI::App& app) {
  auto options = std::make_shared<DemandOptions>();
  CLI::App* command = add_command(app, "demand");
  add_flags(*command, *options);
  add_currency(*command, options->render.currency);
  add_render_flags(*command, options->render);
  take_typed_numbers(*command);
  command->footer(command->get_footer() + app.get_footer());
  return {command, [=](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            return print_demand(*options);
          }};
}
}  // namespace scaleworth::cli
