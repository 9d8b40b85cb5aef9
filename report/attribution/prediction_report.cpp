// SPDX-License-Identifier: Apache-2.0
/// A recorded job on another machine, as a document: what a step takes there, why, what it costs.
#include "report/attribution/attribution_report.h"
#include "report/names.h"
#include "report/render.h"
#include "src/core/files/fields.h"

namespace scaleworth::report {
namespace {
using model::ComparedTime;

struct PredictionView {
  const PredictedJob& job;
  const RenderOptions& options;
  model::RecordingComparison comparison{};
  Estimate<double> step{};  // s, on the new machine

  /// Of the recorded machine.
  Estimate<double> speed() const {
    return transform_decreasing(job.prediction.ratio, [](double ratio) { return 1.0 / ratio; });
  }
  bool differs() const {
    return job.prediction.ratio.low() > 1.0 || job.prediction.ratio.high() < 1.0;
  }
  /// What amounts are of.
  double steps() const { return job.tokens ? 1e6 / *job.tokens : 1e3; }
  const char* unit() const { return job.tokens ? "million tokens" : "thousand steps"; }
  Number cost(const Number& step_time, DollarsPerSecond price) const {
    const double factor = steps() * price.value() * job_ranks(job.recorded);
    return transform(step_time, [&](double time) { return time * factor; });
  }
  std::string hourly(DollarsPerSecond price) const {
    return format_money(number(price.value() * 3600.0), options.currency) + " per GPU-hour";
  }
  std::string next_input() const { return options.input.empty() ? "FILE..." : options.input; }
};

std::string step_text(const Number& time) {
  return format_quantity(time, Unit::seconds);
}

/// "bf16 matrix products", "all_reduce of 64 MiB over 8 ranks".
std::string work_text(const MachineWork& work) {
  if (work.kind == WorkKind::product && work.format)
    return fmt::format("{} {}", word_of(*work.format), word_of(work.kind));
  if (work.kind == WorkKind::copy) return fmt::format("{} {}", work.direction, word_of(work.kind));
  if (work.kind != WorkKind::collective) return word_of(work.kind);
  const std::string size =
      work.bytes ? format_quantity(number(static_cast<double>(*work.bytes)), Unit::bytes)
                 : "unknown size";
  return fmt::format("{} of {} over {}", word_of(work.collective), size, ranks_phrase(work.ranks));
}

/// "at equal price take it", by prices where they are given.
std::string action(const PredictionView& view) {
  const PredictedJob& job = view.job;
  const bool faster = job.prediction.ratio.value < 1.0;
  if (job.price_from && job.price_on) {
    const double more = job.prediction.ratio.value * (*job.price_on / *job.price_from) - 1.0;
    return fmt::format("{:.0f} % {} per step: {}",
                       100.0 * std::abs(more),
                       more < 0.0 ? "cheaper" : "dearer",
                       more < 0.0 ? "take it" : "keep the first");
  }
  if (!view.differs()) return "decide by price";
  return faster ? "at equal price take it" : "at equal price keep the first";
}

/// "compute gives 61 % of the gain": of the part that changes most in the step's direction.
std::string share_clause(const PredictionView& view) {
  const double whole = view.comparison.step.change.value;
  const ComparedTime* most = nullptr;
  for (const ComparedTime& one : view.comparison.parts)
    if (one.change.value * whole > 0.0 &&
        (!most || std::abs(one.change.value) > std::abs(most->change.value)))
      most = &one;
  if (most == nullptr || !view.differs()) return "";
  return fmt::format("; {} makes {:.0f} % of that",
                     most->setting.text(Parameter::part),
                     std::min(100.0, 100.0 * most->change.value / whole));
}

Verdict verdict(const PredictionView& view) {
  const PredictedJob& job = view.job;
  Verdict verdict;
  const auto headline = [&](const std::string& share) {
    return fmt::format("On {} a step takes {} instead of {}: {}{}; {}.",
                       job.name,
                       step_text(view.step),
                       step_text(number(view.comparison.step.a.value)),
                       view.differs() ? fmt::format("{:.2f} times as fast", view.speed().value)
                                      : "no difference beyond the band",
                       share,
                       action(view));
  };
  verdict.headline = headline(share_clause(view));
  if (word_count(verdict.headline) > most_first_words) verdict.headline = headline("");
  std::vector<std::string>& lines = verdict.lines;
  if (job.price_from)
    lines.push_back(
        fmt::format("Break-even: {} is worth up to {} against {} for the machine of the recording.",
                    job.name,
                    view.hourly(*job.price_from * view.speed().value),
                    view.hourly(*job.price_from)));
  std::vector<std::string> presumed;
  for (const WorkPace& one : job.prediction.paces)
    if (one.basis == PaceBasis::presumed) presumed.push_back(work_text(one.work));
  if (!presumed.empty())
    lines.push_back(fmt::format("Without a figure, taken as unchanged: {}.", listed(presumed)));
  if (job.by_sheets)
    lines.push_back("By data sheets: kernels are taken to reach the same share of the peak.");
  lines.push_back(fmt::format(
      "The band (95 %) combines the figures' intervals, how far kernels follow them, the replay "
      "({:+.1f} % of the recording) and the noise between recordings.",
      100.0 * job.prediction.replay_error));
  const AttributionView recorded{job.recorded, view.options, job_means(job.recorded.ledger)};
  for (const Limit& limit : recording_limits(recorded)) lines.push_back(limit.sentence);
  return verdict;
}

Table parts_table(const PredictionView& view) {
  std::vector<ComparedTime> times = view.comparison.parts;
  times.push_back(view.comparison.step);
  times.back().b = view.step;
  const double step = view.comparison.step.a.value;
  const auto name = [](const ComparedTime& one) {
    return one.metric == Metric::step_time ? "step" : one.setting.text(Parameter::part);
  };
  return make_table<ComparedTime>(
      "parts",
      "Where the step goes",
      times,
      {{parameter("part", "part"), name},
       {measure("recorded_s", "recorded", Unit::seconds),
        [](const ComparedTime& one) { return number(one.a.value); }},
       {measure("predicted_s", "predicted", Unit::seconds),
        [](const ComparedTime& one) {
          return one.metric == Metric::step_time ? one.b : number(one.b.value);
        }},
       {measure("share", "of the recorded step", Unit::percent),
        [step](const ComparedTime& one) { return number(one.change.value / step); }}},
      {},
      [step](const ComparedTime& one) { return std::max(one.a.value, one.b.value) < 0.01 * step; });
}

Table paces_table(const PredictionView& view) {
  const double step = view.comparison.step.a.value;
  Table table = make_table<WorkPace>(
      "paces",
      "How the work changes",
      view.job.prediction.paces,
      {{parameter("work", "work"), [](const WorkPace& one) { return work_text(one.work); }},
       {measure("recorded_s", "recorded", Unit::seconds).in_own_scale(), &WorkPace::recorded},
       {measure("time_ratio", "takes times"),
        [](const WorkPace& one) {
          const double reach = std::exp(1.96 * one.error);
          return Number{one.ratio, Interval<double>{one.ratio / reach, one.ratio * reach}, 0};
        }},
       {measure("basis", "by"), &WorkPace::basis}},
      {"Times per step and rank, of collectives their transfers; of the host what nothing hides."},
      [step](const WorkPace& one) { return one.recorded < 0.01 * step; });
  return limit_rows(std::move(table), "kinds of work");
}

Table stragglers_table(const PredictionView& view) {
  std::vector<Straggler> remain = view.job.predicted.stragglers.stragglers;
  std::erase_if(remain, [](const Straggler& one) { return !one.significant; });
  return make_table<Straggler>("stragglers",
                               "Who is still late",
                               remain,
                               {{parameter("who", "who"), &Straggler::unit},
                                {times("saved_s", "on time saves"), &Straggler::saved},
                                {measure("cause", "cause"), &Straggler::cause}});
}

struct MachineCost {
  const char* machine;
  DollarsPerSecond price;
  Number amount;
};

Table cost_table(const PredictionView& view) {
  std::vector<MachineCost> costs;
  const PredictedJob& job = view.job;
  const auto add = [&](const char* machine, const auto& price, const Number& time) {
    if (price) costs.push_back({machine, *price, view.cost(time, *price)});
  };
  add("recorded", job.price_from, number(view.comparison.step.a.value));
  add("predicted", job.price_on, view.step);
  Column amount = measure("cost_usd", std::string("per ") + view.unit());
  amount.currency = view.options.currency;
  return make_table<MachineCost>(
      "cost",
      "What it costs",
      costs,
      {{parameter("machine", "machine"), &MachineCost::machine},
       {measure("price_usd_per_hour", "per GPU-hour").with_decimals(2),
        [](const MachineCost& one) { return number(one.price.value() * 3600.0); }},
       {amount, &MachineCost::amount}});
}

Document compose(const PredictionView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "this job on another machine?");
  document.subject = view.job.name;
  document.subtitle = fmt::format("recorded: {}; on: {}", view.next_input(), view.job.name);
  document.verdict = verdict(view);
  document.sections =
      with_content({section_of("parts", "The step", {parts_table(view)}),
                    section_of("cost", "Cost", {cost_table(view)}),
                    section_of("stragglers", "Stragglers", {stragglers_table(view)}),
                    section_of("paces", "The work", {paces_table(view)})});
  document.next = {{"scaleworth attribute " + view.next_input(), "all about the recording"}};
  return document;
}

constexpr JsonHead prediction_head{
    "prediction.schema.json",
    "scaleworth predict --format json",
    "A recorded job on another machine. Times are seconds. What does not exist "
    "is null.",
    1,
    "scaleworth prediction"};

void put_pace(Fields& json, const WorkPace& one) {
  json.named("work_pace");
  FIELDS(json, one.work.kind);
  json("format", one.work.format, "Of products, by the kernels' names.");
  json("direction", one.work.direction, or_null);
  json("collective", one.work.collective, "unknown where it is none.");
  json("bytes", one.work.bytes, "Of a collective, the larger of input and output.");
  json("ranks", one.work.ranks, "That take part, or share a host's processors; 0: on a GPU.");
  json("recorded_s", one.recorded, "Of the mean step and rank, of collectives the transfer.");
  json("time_ratio", one.ratio, "Time on the new machine over that recorded.");
  json("error", one.error, "Standard deviation of its logarithm.");
  FIELDS(json, one.basis);
}

void put_part(Fields& json, const ComparedTime& one) {
  json.named("predicted_part");
  json("part", one.setting.text(Parameter::part));
  json("recorded_s", one.a.value);
  json("predicted_s", one.b.value);
}

void put_remaining(Fields& json, const Straggler& one) {
  json.named("straggler");
  FIELDS(json, one.rank, one.level, one.unit, one.cause, one.saved, one.significant);
}

void put_prediction(Fields& json, const PredictionView& view, const std::string& headline) {
  put_versions(json, view.options);
  json("headline", headline, "The prediction, with its numbers.");
  json("recorded_step_s", view.comparison.step.a);
  json("predicted_step_s", view.step, "The interval is the band (95 %).");
  json("speed_ratio", view.speed(), "Recorded over predicted.");
  json("replay_error", view.job.prediction.replay_error, "Of the replay without a change.");
  json("by_datasheets", view.job.by_sheets);
  const auto cost = [&](const Number& time, const auto& price) {
    return price ? std::optional(view.cost(time, *price)) : std::nullopt;
  };
  json("cost_of", std::string(view.unit()));
  json("recorded_cost", cost(number(view.comparison.step.a.value), view.job.price_from));
  json("predicted_cost", cost(view.step, view.job.price_on));
  json("break_even_per_hour",
       view.job.price_from
           ? std::optional(view.job.price_from->value() * 3600.0 * view.speed().value)
           : std::nullopt,
       "Of a GPU of the new machine, at the price of the recorded one's.");
  json.array("parts", view.comparison.parts, put_part, "The largest change first.");
  json.array("paces", view.job.prediction.paces, put_pace);
  json.array("stragglers", view.job.predicted.stragglers.stragglers, put_remaining);
}
}  // namespace

std::string render_prediction(const PredictedJob& job, const RenderOptions& options) {
  PredictionView view{job, options};
  view.comparison = model::compare_recordings(job.recorded, job.predicted, {job.name, job.name});
  view.step = transform(job.prediction.ratio,
                        [&](double ratio) { return ratio * view.comparison.step.a.value; });
  const Document document = compose(view);
  return render_document({[&](const RenderOptions&) { return document; },
                          [&](const RenderOptions&) {
                            return json_of(prediction_head, [&](Fields& json) {
                              put_prediction(json, view, document.verdict.headline);
                            });
                          },
                          [] { return std::vector<Chart>(); }},
                         options);
}

std::string prediction_schema() {
  const Attribution job;
  const MachinePrediction prediction;
  const PredictedJob nothing{"", job, job, prediction};
  const RenderOptions options;
  const PredictionView view{nothing, options};
  return schema_of(prediction_head, [&](Fields& json) { put_prediction(json, view, ""); });
}
}  // namespace scaleworth::report
