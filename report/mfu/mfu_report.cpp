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
std::string render_mfu(const model::TrainingRun& run,
                       const model::TrainingUse& use,
                       Format format,
                       const MfuReportOptions& options) {
  MfuReportOptions complete = options;
  complete.details = true;
  const MfuView whole{run, use, complete};
  const MfuView asked{run, use, options};
  return render_document(
      {[&] { return compose_mfu(asked); },
       [&] { return compose_mfu(whole); },
       [&] { return mfu_json(whole); },
       [&] { return mfu_charts(whole); },
       {"peak", "convention", "part", "tokens"}},
      {format, options.colour, options.width, options.details, options.currency, {}, {}, {}, {}});
}

namespace {
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
                      view.options.gpu,
                      view.options.number_format);
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
  if (!view.options.gpu_source.empty()) {
    section.lead.push_back(fmt::format("{}: {}.", view.options.gpu, view.options.gpu_source));
  }
  return section;
}
}  // namespace

std::string large_count(double count) {
  constexpr double trillion = 1e12;
  constexpr double billion = 1e9;
  constexpr double million = 1e6;
  if (count >= trillion) return fmt::format("{:.4g} trillion", count / trillion);
  if (count >= billion) return fmt::format("{:.4g} billion", count / billion);
  if (count >= million) return fmt::format("{:.4g} million", count / million);
  return fmt::format("{:.6g}", count);
}

std::string large_money(Dollars money) {
  constexpr double million = 1e6;
  if (money.value() >= million) return fmt::format("{:.4g} million USD", money.value() / million);
  if (money.value() < 1.0) return fmt::format("{:.4g} USD", money.value());
  return fmt::format("{:.{}f} USD", money.value(), money.value() < 1000.0 ? 3 : 0);
}

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

namespace {
constexpr double seconds_per_day = 86400.0;

Column measure(const std::string& id, const std::string& header, Unit unit, int decimals) {
  Column column{id, header, Role::measure, unit};
  column.decimals = decimals;
  return column;
}

Column significant(const std::string& id, const std::string& header, Unit unit, int digits) {
  Column column{id, header, Role::measure, unit};
  column.digits = digits;
  return column;
}
}  // namespace

Table peaks_table(const MfuView& view) {
  Table table{"utilisation",
              "Each GPU against its peak",
              {parameter("peak", "peak"),
               measure("peak_rate", "rate", Unit::flop_per_second, 1),
               measure("mfu", "MFU", Unit::percent, 2),
               measure("hfu", "HFU", Unit::percent, 2)}};
  for (const model::Utilisation& one : view.use.against) {
    table.rows.push_back(
        {{one.peak.basis, number(one.peak.rate), number(one.mfu), number(one.hfu)}});
  }
  table.notes.push_back(
      fmt::format("MFU: model FLOPs by the convention {}, over peak and time. HFU: with what is "
                  "computed again ({}).",
                  model::words_of(view.run.convention).name,
                  model::recomputation_name(view.use.recomputation)));
  return table;
}

Table conventions_table(const MfuView& view) {
  Table table{"conventions",
              "The same run by each convention",
              {parameter("convention", "convention"),
               {"counts", "FLOPs of a trained token"},
               {"attention", "attention"},
               significant("flop_per_token", "per token", Unit::flop, 4),
               measure("ratio", "of chosen", Unit::plain, 3),
               measure("convention_mfu", "reads", Unit::percent, 2)}};
  for (const model::ConventionRow& row : view.use.conventions) {
    const model::ConventionWords& words = model::words_of(row.convention);
    table.rows.push_back({{std::string(words.name),
                           std::string(words.counts),
                           std::string(words.attention),
                           number(row.quoted),
                           number(row.ratio),
                           number(row.utilisation)}});
  }
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
               significant("flop", "per token", Unit::flop, 4),
               measure("of_model", "of the model FLOPs", Unit::percent, 2)}};
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
  Table table{"training",
              "What training takes at this rate",
              {parameter("tokens", "tokens"),
               significant("days", "days", Unit::plain, 4),
               significant("gpu_hours", "GPU-hours", Unit::plain, 6),
               significant("cost_usd", "cost", Unit::dollars, 6)}};
  const auto add = [&](double tokens, Seconds time, double gpu_hours, std::optional<Dollars> cost) {
    table.rows.push_back({{large_count(tokens),
                           number(time.value() / seconds_per_day),
                           number(gpu_hours),
                           cell_or_absent(cost)}});
  };
  const double million = 1e6;
  add(million,
      Seconds(million / view.run.tokens_per_second),
      view.use.gpu_hours_per_million_tokens,
      view.use.per_million_tokens);
  if (const auto& all = view.use.campaign) add(all->tokens, all->time, all->gpu_hours, all->cost);
  if (view.run.price) {
    table.notes.push_back(
        fmt::format("At {:g} USD per GPU and hour, without restarts or idle time.",
                    view.run.price->value() * 3600.0));
  } else {
    table.columns.pop_back();
    for (Row& row : table.rows) row.cells.pop_back();
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
                     view.options.gpu,
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
  return fmt::format("{} tokens take {:.4g} days and {} GPU-hours{}.",
                     large_count(campaign->tokens),
                     campaign->time.value() / seconds_per_day,
                     large_count(campaign->gpu_hours),
                     campaign->cost ? ": " + large_money(*campaign->cost) : "");
}

std::string million_line(const MfuView& view) {
  if (!view.use.per_million_tokens) return "";
  return fmt::format("A million trained tokens cost {} at {:g} USD per GPU and hour.",
                     large_money(*view.use.per_million_tokens),
                     view.run.price->value() * 3600.0);
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
}  // namespace scaleworth::report
