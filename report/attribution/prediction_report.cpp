// SPDX-License-Identifier: Apache-2.0
/// A recorded job on another machine, as a document: what a step takes there, why, what it costs.
#include "report/attribution/attribution_report.h"
#include "report/render.h"
#include "report/words.h"
#include "src/core/files/fields.h"

namespace scaleworth::report {
namespace {
using model::ComparedTime;

struct PredictionView {
  const PredictedJob& job;
  const RenderOptions& options;
  model::RecordingComparison comparison{};
  Estimate<double> step{};  // s, on the new machine

  double recorded() const { return comparison.step.a.value; }
  double ratio() const { return job.prediction.ratio.value; }
  bool differs() const {
    return job.prediction.ratio.low() > 1.0 || job.prediction.ratio.high() < 1.0;
  }
  std::string work() const { return job.tokens ? "million tokens" : "thousand steps"; }
  /// Of so much work by all ranks; absent without a price.
  std::optional<Number> cost(const Number& time, std::optional<DollarsPerSecond> price) const {
    if (!price) return std::nullopt;
    const double steps = job.tokens ? 1e6 / *job.tokens : 1e3;
    const double factor = steps * price->value() * job_ranks(job.recorded);
    return transform(time, [&](double one) { return one * factor; });
  }
  std::string money(const Number& amount) const { return format_money(amount, options.currency); }
  std::string input() const { return options.input.empty() ? "FILE..." : options.input; }
};

/// "17 % cheaper per step: take it", at equal price where there are not two.
std::string action(const PredictionView& view) {
  const PredictedJob& job = view.job;
  const bool priced = job.price_from && job.price_on;
  const double prices = priced ? *job.price_on / *job.price_from : 1.0;
  const double cost = view.ratio() * prices;
  if (priced && job.prediction.ratio.low() * prices <= 1.0 &&
      job.prediction.ratio.high() * prices >= 1.0)
    return "no difference in cost beyond the band: take either";
  if (priced)
    return fmt::format("{:.0f} % {} per step: {}",
                       100.0 * std::abs(cost - 1.0),
                       cost < 1.0 ? "cheaper" : "more expensive",
                       cost < 1.0 ? "take it" : "keep the first");
  if (!view.differs()) return "decide by price";
  return cost < 1.0 ? "at equal price take it" : "at equal price keep the first";
}

/// "; compute makes 61 % of that": of the part that changes most in the step's direction.
std::string share_clause(const PredictionView& view) {
  const double whole = view.comparison.step.change.value;
  const auto share = [&](const ComparedTime& one) { return one.change.value / whole; };
  const auto& parts = view.comparison.parts;
  if (parts.empty() || !view.differs()) return "";
  const ComparedTime& most = *std::ranges::max_element(parts, {}, share);
  return fmt::format("; {} makes {:.0f} % of that",
                     most.setting.text(Parameter::part),
                     std::min(100.0, 100.0 * share(most)));
}

Verdict judge_prediction(const PredictionView& view) {
  const PredictedJob& job = view.job;
  const std::string speed = view.differs() ? fmt::format("{:.2f} times as fast", 1.0 / view.ratio())
                                           : "no difference beyond the band";
  const auto headline = [&](const std::string& share) {
    return fmt::format("On {} a step takes {} instead of {}: {}{}; {}.",
                       job.name,
                       duration_text(view.step),
                       duration_text(view.recorded()),
                       speed,
                       share,
                       action(view));
  };
  Verdict verdict;
  verdict.headline = headline(share_clause(view));
  if (word_count(verdict.headline) > most_first_words) verdict.headline = headline("");
  std::vector<std::string>& lines = verdict.lines;
  if (const auto before = view.cost(number(view.recorded()), job.price_from)) {
    const auto after = view.cost(view.step, job.price_on);
    const double hourly = job.price_from->value() * 3600.0 / view.ratio();
    lines.push_back(fmt::format("Per {}: {}{}; worth up to {} per GPU-hour.",
                                view.work(),
                                after ? view.money(*after) + " instead of " : "",
                                view.money(*before),
                                view.money(number(hourly))));
  }
  const std::string unchanged = listed(job.prediction.paces, [](const WorkPace& one) {
    return has_figures(one.basis) ? std::string() : work_text(one.work);
  });
  if (!unchanged.empty())
    lines.push_back(fmt::format("Without a figure, taken as unchanged: {}.", unchanged));
  if (job.by_sheets)
    lines.push_back("By data sheets: kernels are taken to reach the same share of the peak.");
  lines.push_back(fmt::format(
      "The band (95 %) combines the figures' intervals, how far kernels follow them, the replay "
      "({:+.1f} % of the recording) and the noise between recordings.",
      100.0 * job.prediction.replay_error));
  const auto limits =
      recording_limits({job.recorded, view.options, job_means(job.recorded.ledger)});
  for (const Finding& limit : limits) lines.push_back(sentence(limit));
  if (!limits.empty() && limits.front().id == FindingId::files_end_early) {
    lines.insert(lines.begin(), verdict.headline);
    verdict.headline = not_reliable(words_of(limits.front()).brief, 1, "copy the recording again");
  }
  return verdict;
}

Table predicted_parts(const PredictionView& view) {
  std::vector<ComparedTime> times = view.comparison.parts;
  times.push_back(view.comparison.step);
  times.back().b = view.step;
  const double step = view.recorded();
  const auto is_step = [](const ComparedTime& one) { return one.metric == Metric::step_time; };
  return make_table<ComparedTime>(
      "parts",
      "Where the step goes",
      times,
      {{parameter("part", "part"),
        [=](const ComparedTime& one) {
          return is_step(one) ? "step" : one.setting.text(Parameter::part);
        }},
       {measure("recorded_s", "recorded", Unit::seconds),
        [](const ComparedTime& one) { return number(one.a.value); }},
       {measure("predicted_s", "predicted", Unit::seconds),
        [=](const ComparedTime& one) { return is_step(one) ? one.b : number(one.b.value); }},
       {measure("share", "of the recorded step", Unit::percent),
        [step](const ComparedTime& one) { return number(one.change.value / step); }}},
      {},
      [step](const ComparedTime& one) { return std::max(one.a.value, one.b.value) < 0.01 * step; });
}

Table paces_table(const PredictionView& view) {
  const double step = view.recorded();
  Table table = make_table<WorkPace>(
      "paces",
      "How the work changes",
      view.job.prediction.paces,
      {{parameter("work", "work"), [](const WorkPace& one) { return work_text(one.work); }},
       {times("recorded_s", "recorded"), &WorkPace::recorded},
       {measure("time_ratio", "takes times"), &WorkPace::interval},
       {measure("basis", "by"), &WorkPace::basis}},
      {},
      [step](const WorkPace& one) { return one.recorded < 0.01 * step; });
  return limit_rows(std::move(table), "kinds of work");
}

Table remaining_table(const PredictionView& view) {
  std::vector<Straggler> remain = view.job.predicted.stragglers.stragglers;
  std::erase_if(remain, [](const Straggler& one) { return !one.significant; });
  return make_table<Straggler>("stragglers",
                               "Who is still late",
                               remain,
                               {{parameter("who", "who"), &Straggler::unit},
                                {times("saved_s", "on time saves"), &Straggler::saved},
                                {measure("cause", "cause"), &Straggler::cause}});
}

Document compose(const PredictionView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "this job on another machine?");
  document.subject = view.job.name;
  document.subtitle = fmt::format("recorded: {}; on: {}", view.input(), view.job.name);
  document.verdict = judge_prediction(view);
  document.sections = with_content({section_of("parts", "The step", {predicted_parts(view)}),
                                    section_of("stragglers", "Stragglers", {remaining_table(view)}),
                                    section_of("paces", "The work", {paces_table(view)})});
  document.next = {{"scaleworth attribute " + view.input(), "all about the recording"}};
  return document;
}

constexpr JsonHead prediction_head{1, "scaleworth prediction"};

void put_pace(Fields& json, const WorkPace& one) {
  json.named("work_pace");
  json.members("kind", one.work.kind, "format", one.work.format);
  json.members("direction", or_null(one.work.direction), "collective", one.work.collective);
  json.members("bytes", one.work.bytes, "ranks", one.work.ranks, "recorded_s", one.recorded);
  json("time_ratio", one.interval());
  json.members("basis", one.basis);
}

void put_prediction(Fields& json, const PredictionView& view, const std::string& headline) {
  put_versions(json, view.options);
  json.members("headline", headline, "recorded_step_s", view.comparison.step.a);
  json.members("predicted_step_s", view.step, "replay_error", view.job.prediction.replay_error);
  json.members("by_datasheets", view.job.by_sheets, "cost_of", view.work());
  json("recorded_cost", view.cost(number(view.recorded()), view.job.price_from));
  json("predicted_cost", view.cost(view.step, view.job.price_on));
  json.array("parts", view.comparison.parts, [](Fields& of, const ComparedTime& one) {
    of.named("predicted_part");
    of.members("part", one.setting.text(Parameter::part), "recorded_s", one.a.value);
    of("predicted_s", one.b.value);
  });
  json.array("paces", view.job.prediction.paces, put_pace);
  json.array(
      "stragglers", view.job.predicted.stragglers.stragglers, [](Fields& of, const Straggler& one) {
        of.named("straggler");
        of.members("rank", one.rank, "level", one.level, "unit", one.unit, "cause", one.cause);
        of.members("saved_ns", one.saved, "significant", one.significant);
      });
}
}  // namespace

std::string work_text(const MachineWork& work) {
  const char* kind = word_of(work.kind);
  if (work.kind == WorkKind::product && work.format)
    return fmt::format("{} {}", word_of(*work.format), kind);
  if (work.kind == WorkKind::copy) return fmt::format("{} {}", work.direction, kind);
  if (work.kind != WorkKind::collective) return kind;
  const std::string size =
      work.bytes ? format_quantity(static_cast<double>(*work.bytes), Unit::bytes) : "unknown size";
  return fmt::format(
      "{} of {} over {}", word_of(work.collective), size, counted(work.ranks, "rank"));
}

void refuse_missing_figures(const PredictedJob& job, const std::string& from) {
  constexpr double least_share = 0.01;
  const MeanLedger mean = job_means(job.recorded.ledger)->mean;
  const double step = mean.step.mean;
  // Fewer only widen the band; hidden ones do not even that. Presumed.
  const bool copies = mean.part(Part::exposed_copy).mean >= 0.05 * step;
  const WorkPace* most = nullptr;
  for (const WorkPace& one : job.prediction.paces)
    if (!has_figures(one.basis) && one.work.kind != WorkKind::host &&
        (copies || one.work.kind != WorkKind::copy) && one.recorded >= least_share * step &&
        (!most || one.recorded > most->recorded))
      most = &one;
  if (most == nullptr) return;
  const bool collective = most->work.kind == WorkKind::collective;
  throw UserError(
      "{} has no figure for {}{}, {:.0f} % of the recorded step: give a run of `scaleworth {}` on "
      "such a machine",
      most->basis == PaceBasis::not_on ? job.name : from,
      work_text(most->work),
      collective || most->work.ranks > 0 ? "" : " on a GPU",
      100.0 * most->recorded / step,
      collective ? fmt::format("comm --ranks {}", most->work.ranks) : "roofline");
}

std::string render_prediction(const PredictedJob& job, const RenderOptions& options) {
  PredictionView view{job, options};
  view.comparison = model::compare_recordings(job.recorded, job.predicted, {job.name, job.name});
  view.step = transform(job.prediction.ratio, [&](double one) { return one * view.recorded(); });
  const Document document = compose(view);
  const auto json = [&](const RenderOptions&) {
    return json_of(prediction_head, [&](Fields& members) {
      put_prediction(members, view, document.verdict.headline);
    });
  };
  return render_document({[&](const RenderOptions&) { return document; }, json}, options);
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
