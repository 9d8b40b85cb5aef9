// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

#include "report/charts/chart_grammar.h"
#include "report/document.h"
#include "report/render.h"
#include "src/model/transformer/transformer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
/// "300 billion", "1.4 trillion", "609524".
std::string large_count(double count) {
  constexpr double trillion = 1e12;
  constexpr double billion = 1e9;
  constexpr double million = 1e6;
  if (count >= trillion) return fmt::format("{:.4g} trillion", count / trillion);
  if (count >= billion) return fmt::format("{:.4g} billion", count / billion);
  if (count >= million) return fmt::format("{:.4g} million", count / million);
  return fmt::format("{:.6g}", count);
}

/// "1.22 million USD", "4.063 USD", with the label of the currency.
std::string large_money(Dollars money, const std::string& currency) {
  constexpr double million = 1e6;
  const double amount = money.value();
  if (amount >= million) return fmt::format("{:.4g} million {}", amount / million, currency);
  if (amount < 1.0) return fmt::format("{:.4g} {}", amount, currency);
  return fmt::format("{:.{}f} {}", amount, amount < 1000.0 ? 3 : 0, currency);
}

/// "2.5 USD per GPU and hour".
std::string rate_text(const MfuView& view) {
  return fmt::format(
      "{:g} {} per GPU and hour", view.run.price->value() * 3600.0, view.options.currency);
}

std::string subtitle(const MfuView& view) {
  const TransformerModel& model = view.run.model;
  std::string text =
      fmt::format("{}: {} parameters", model.name, large_count(model::parameter_count(model)));
  if (model.experts > 1) {
    text += fmt::format(", {} of them for each token",
                        large_count(model::active_parameter_count(model)));
  }
  text += fmt::format(", {} layers, {} attention, sequence {}; {} x {}, {}",
                      model.layers,
                      attention_kind_name(model::attention_kind(model)),
                      view.use.sequence,
                      view.run.gpus,
                      view.names.gpu,
                      view.names.number_format);
  return text;
}

std::vector<NextCommand> next_commands(const MfuView& view) {
  std::vector<NextCommand> next;
  const std::string mfu = "scaleworth mfu ...";
  if (!view.run.price || !view.run.tokens) {
    next.push_back({mfu + " --price USD_PER_GPU_HOUR --tokens N", "days and cost of a training"});
  }
  if (view.use.against.size() < 2) {
    next.push_back(
        {mfu + " --measured-peak RUN", "against what the products of `scaleworth roofline` reach"});
  }
  if (!view.options.details) next.push_back({mfu + " --details", "FLOPs part by part"});
  next.push_back({"scaleworth attribute FILE...", "where the rest of the step's time goes"});
  return next;
}

Section section_of(std::string id, std::string title, std::vector<Table> tables) {
  return {std::move(id), std::move(title), {}, {}, std::move(tables)};
}

Section sources(const MfuView& view) {
  Section section{"sources", "Sources", {}, {}, {}};
  section.lead.push_back(
      fmt::format("{}: {}; {}.", view.run.model.name, view.run.model.source, view.run.model.date));
  if (!view.names.gpu_source.empty()) {
    section.lead.push_back(fmt::format("{}: {}.", view.names.gpu, view.names.gpu_source));
  }
  return section;
}

constexpr double seconds_per_day = 86400.0;
}  // namespace

Table peaks_table(const MfuView& view) {
  using Use = model::Utilisation;
  Table table =
      make_table<Use>("utilisation",
                      "Each GPU against its peak",
                      view.use.against,
                      {{parameter("peak", "peak"), [](const Use& one) { return one.peak.basis; }},
                       {measure("peak_rate", "rate", Unit::flop_per_second).with_decimals(1),
                        [](const Use& one) { return one.peak.rate; }},
                       {measure("mfu", "MFU", Unit::percent).with_decimals(2), &Use::mfu},
                       {measure("hfu", "HFU", Unit::percent).with_decimals(2), &Use::hfu}});
  table.notes.push_back(
      fmt::format("MFU: model FLOPs by the convention {}, over peak and time. HFU: with what is "
                  "computed again ({}).",
                  model::words_of(view.run.convention).name,
                  model::recomputation_name(view.use.recomputation)));
  return table;
}

Table conventions_table(const MfuView& view) {
  using Counted = model::ConventionRow;
  const auto text_of = [](const char* model::ConventionWords::*text) {
    return [text](const Counted& row) { return model::words_of(row.convention).*text; };
  };
  Table table = make_table<Counted>(
      "conventions",
      "The same run by each convention",
      view.use.conventions,
      {{parameter("convention", "convention"), text_of(&model::ConventionWords::name)},
       {measure("counts", "FLOPs of a trained token"), text_of(&model::ConventionWords::counts)},
       {measure("attention", "attention"), text_of(&model::ConventionWords::attention)},
       {measure("flop_per_token", "per token", Unit::flop).with_digits(4), &Counted::quoted},
       {measure("ratio", "of chosen").with_decimals(3), &Counted::ratio},
       {measure("convention_mfu", "reads", Unit::percent).with_decimals(2),
        &Counted::utilisation}});
  table.notes.push_back(fmt::format(
      "Chosen: {} (--convention). N: all parameters, of experts those that a token takes; 6nd: the "
      "published number. L layers, h hidden, s sequence, H heads of Q, V vocabulary. narayanan "
      "counts "
      "full recomputation, so that it reads an HFU.",
      model::words_of(view.run.convention).name));
  return table;
}

Table flop_parts_table(const MfuView& view) {
  const model::ForwardFlops& forward = view.use.forward;
  const double model = view.use.model_flops.value();
  Table table{"flops",
              "FLOPs of a trained token, part by part",
              {parameter("part", "part"),
               measure("flop", "per token", Unit::flop).with_digits(4),
               measure("of_model", "of the model FLOPs", Unit::percent).with_decimals(2)}};
  const auto add = [&](const char* part, double flops) {
    table.rows.push_back({{std::string(part), number(flops), number(flops / model)}});
  };
  add("products of the layers, forward", forward.layers);
  add("attention, forward", forward.attention);
  add("head, forward", forward.head);
  add("backward, twice the forward", 2.0 * forward.total());
  add("computed again", view.use.hardware_flops.value() - model);
  return table;
}

Table training_cost_table(const MfuView& view) {
  using model::Campaign;
  constexpr double million = 1e6;
  std::vector<Campaign> campaigns{{million,
                                   Seconds(million / view.run.tokens_per_second),
                                   view.use.gpu_hours_per_million_tokens,
                                   view.use.per_million_tokens}};
  if (view.use.campaign) campaigns.push_back(*view.use.campaign);
  Table table = make_table<Campaign>(
      "training",
      "What training takes at this rate",
      campaigns,
      {{parameter("tokens", "tokens"), [](const Campaign& one) { return large_count(one.tokens); }},
       {measure("days", "days").with_digits(4),
        [](const Campaign& one) { return one.time.value() / seconds_per_day; }},
       {measure("gpu_hours", "GPU-hours").with_digits(6), &Campaign::gpu_hours},
       {measure("cost_usd", "cost", Unit::dollars).with_digits(6).if_present(), &Campaign::cost}});
  if (view.run.price) {
    table.notes.push_back(fmt::format("At {}, without restarts or idle time.", rate_text(view)));
  }
  return table;
}

namespace {
constexpr double tera = 1e12;

std::string of_peak(const model::Utilisation& one) {
  return fmt::format("{:.4g} TFLOP/s ({})", one.peak.rate.value() / tera, one.peak.basis);
}

std::string headline(const MfuView& view) {
  const model::Utilisation& first = view.use.against.front();
  return fmt::format("MFU {:.1f} %: {:.4g} of {} on {} {}{}.",
                     100.0 * first.mfu,
                     view.use.model_rate.value() / tera,
                     of_peak(first),
                     view.run.gpus == 1 ? "one" : fmt::format("each of {}", view.run.gpus),
                     view.names.gpu,
                     first.mfu > 1.0 ? ", which cannot be" : "");
}

std::string throughput_line(const MfuView& view) {
  const model::ConventionWords& words = model::words_of(view.run.convention);
  return fmt::format(
      "{} on each GPU, {} a token by the convention {} ({}).",
      format_quantity(number(view.use.tokens_per_second_per_gpu), Unit::tokens_per_second, 4),
      format_quantity(number(view.use.model_flops), Unit::flop, 4),
      words.name,
      words.convention == model::Convention::six_nd ? std::string("without attention")
                                                    : std::string(words.attention) + " attention");
}

std::string hardware_line(const MfuView& view) {
  if (view.use.recomputation == model::Recomputation::none) {
    return "HFU is the same, for nothing is computed again (else --recompute selective or full).";
  }
  return fmt::format("HFU {:.1f} %: {:.4g} TFLOP/s with {} recomputation.",
                     100.0 * view.use.against.front().hfu,
                     view.use.hardware_rate.value() / tera,
                     model::recomputation_name(view.use.recomputation));
}

void add_other_peaks(const MfuView& view, std::vector<std::string>& lines) {
  for (std::size_t at = 1; at < view.use.against.size(); ++at) {
    const model::Utilisation& one = view.use.against[at];
    lines.push_back(fmt::format("MFU {:.1f} % of {}.", 100.0 * one.mfu, of_peak(one)));
  }
}

std::string conventions_line(const MfuView& view) {
  if (!view.use.conventions_differ) return "All conventions agree within 1 %.";
  const auto [low, high] = std::ranges::minmax(
      view.use.conventions, {}, [](const auto& row) { return row.utilisation; });
  return fmt::format(
      "Other conventions read this run as {:.1f} % ({}) to {:.1f} % ({}{}).",
      100.0 * low.utilisation,
      model::words_of(low.convention).name,
      100.0 * high.utilisation,
      model::words_of(high.convention).name,
      high.convention == model::Convention::narayanan ? ", which counts full recomputation" : "");
}

std::string campaign_line(const MfuView& view) {
  const auto& campaign = view.use.campaign;
  if (!campaign) return "";
  return fmt::format(
      "{} tokens take {:.4g} days and {} GPU-hours{}.",
      large_count(campaign->tokens),
      campaign->time.value() / seconds_per_day,
      large_count(campaign->gpu_hours),
      campaign->cost ? ": " + large_money(*campaign->cost, view.options.currency) : "");
}

std::string million_line(const MfuView& view) {
  if (!view.use.per_million_tokens) return "";
  return fmt::format("A million trained tokens cost {} at {}.",
                     large_money(*view.use.per_million_tokens, view.options.currency),
                     rate_text(view));
}
}  // namespace

Verdict judge_mfu(const MfuView& view) {
  Verdict verdict;
  verdict.headline = headline(view);
  const model::Utilisation& first = view.use.against.front();
  verdict.answer = std::max(first.mfu, first.hfu) > 1.0 ? Answer::no : Answer::yes;
  verdict.lines = {throughput_line(view), hardware_line(view)};
  add_other_peaks(view, verdict.lines);
  verdict.lines.push_back(conventions_line(view));
  verdict.lines.push_back(campaign_line(view));
  verdict.lines.push_back(million_line(view));
  std::erase(verdict.lines, "");
  return verdict;
}

namespace {
Document compose_mfu(const MfuView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "what do the GPUs do for the model?");
  document.subtitle = subtitle(view);
  document.intervals = false;
  document.verdict = judge_mfu(view);
  document.next = next_commands(view);
  document.sections.push_back(section_of("utilisation", "Utilisation", {peaks_table(view)}));
  if (view.use.conventions_differ || view.options.details) {
    document.sections.push_back(
        section_of("conventions", "Conventions", {conventions_table(view)}));
  }
  if (view.options.details) {
    document.sections.push_back(section_of("flops", "FLOPs", {flop_parts_table(view)}));
  }
  document.sections.push_back(section_of("training", "Training", {training_cost_table(view)}));
  if (!view.use.remarks.empty()) {
    document.sections.push_back({"remarks", "Remarks", {}, view.use.remarks, {}});
  }
  if (view.options.details) document.sections.push_back(sources(view));
  return document;
}

std::vector<Chart> mfu_charts(const MfuView& view) {
  constexpr int height = 260;
  Chart chart{"conventions-chart",
              "conventions",
              "The same run, read by each convention",
              "A bar is the utilisation that the convention prints, against the first peak.",
              nullptr,
              ""};
  std::vector<Json> rows;
  for (const model::ConventionRow& row : view.use.conventions) {
    rows.push_back({{"convention", model::words_of(row.convention).name},
                    {"percent", 100.0 * row.utilisation}});
  }
  chart.spec = chart_spec(height);
  chart.spec["data"] = inline_data(std::move(rows));
  chart.spec["mark"] = {{"type", "bar"}, {"color", css("series-1")}};
  chart.spec["encoding"] = {
      {"y",
       {{"field", "convention"}, {"type", "nominal"}, {"sort", nullptr}, {"title", "convention"}}},
      {"x", linear_channel("percent", "utilisation (%)")},
      {"tooltip",
       {tooltip("convention", "convention"), tooltip("percent", "utilisation (%)", ".2f")}}};
  return {chart};
}
}  // namespace

std::string render_mfu(const model::TrainingRun& run,
                       const model::TrainingUse& use,
                       const MfuNames& names,
                       const RenderOptions& options) {
  RenderOptions complete = options;
  complete.details = true;
  const MfuView whole{run, use, names, complete};
  const MfuView asked{run, use, names, options};
  return render_document({[&] { return compose_mfu(asked); },
                          [&] { return compose_mfu(whole); },
                          [&] { return mfu_json(whole); },
                          [&] { return mfu_charts(whole); },
                          {"peak", "convention", "part", "tokens"}},
                         options);
}
}  // namespace scaleworth::report
