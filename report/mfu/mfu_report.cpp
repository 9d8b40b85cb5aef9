// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

#include "report/charts/charts.h"
#include "report/run/run_report.h"
#include "src/model/transformer/transformer.h"

#include <cmath>
#include <span>

namespace scaleworth::report {
namespace {
/// "$2.50 per GPU and hour".
std::string rate_text(const MfuView& view) {
  return format_money(number(*per_hour(view.question.price)), view.options.currency) +
         " per GPU and hour";
}

std::string subtitle(const MfuView& view) {
  const TransformerModel& model = view.question.model;
  const std::string on =
      fmt::format("{} x {}, {}", view.question.gpus, view.names.gpu, view.names.number_format);
  if (view.question.stated_rate) return on;
  std::string text =
      fmt::format("{}: {} parameters", model.name, large_count(parameter_count(model)));
  if (model.experts > 1) {
    text += fmt::format(", {} of them for each token (without the input embedding)",
                        large_count(active_parameter_count(model)));
  }
  return text + fmt::format(", {} layers{}, {} attention, sequence {}; {}",
                            model.layers,
                            model.mtp_layers > 0
                                ? fmt::format(" and {} of multi-token prediction", model.mtp_layers)
                                : "",
                            attention_kind(model),
                            view.answer.sequence,
                            on);
}

std::vector<NextCommand> next_commands(const MfuView& view) {
  std::vector<NextCommand> next;
  if (view.question.stated_rate)
    return {{"scaleworth mfu --model MODEL ...", "tokens, days and cost of a training"}};
  const std::string mfu = "scaleworth mfu ...";
  if (!view.question.price || !view.question.tokens) {
    next.push_back({mfu + " --price USD_PER_GPU_HOUR --tokens N", "days and cost of a training"});
  }
  if (view.answer.against.size() < 2) {
    next.push_back({mfu + " --measured-peak RUN",
                    words_for(view.options.audience,
                              "against what the products of `scaleworth roofline` reach",
                              "against what measured products reach")});
  }
  if (!view.options.details) next.push_back({mfu + " --details", "FLOPs part by part"});
  next.push_back({"scaleworth attribute FILE...", "where the rest of the step's time goes"});
  return next;
}

constexpr double seconds_per_day = 86400.0;

Table peaks_table(const MfuView& view) {
  using Use = Utilisation;
  Table table = make_table<Use>(
      "utilisation",
      "Each GPU against its peak",
      view.answer.against,
      {{parameter("peak", "peak"), [](const Use& one) { return said(one.peak.basis); }},
       {measure("peak_rate", "rate", Unit::flop_per_second).with_decimals(1),
        [](const Use& one) { return one.peak.rate; }},
       {measure("mfu", "MFU", Unit::percent).with_decimals(2), &Use::mfu},
       {measure("hfu", "HFU", Unit::percent).with_decimals(2), &Use::hfu}},
      {fmt::format("MFU: model FLOPs by the convention {}, over peak and time. "
                   "HFU: with what is computed again ({}).",
                   words_of(view.question.convention).name,
                   word_of(view.answer.recomputation))});
  if (view.question.stated_rate) table.notes.clear();
  table.tiles = {{0, "mfu", "MFU", "", "peak"}, {0, "hfu", "HFU", "with what is computed again"}};
  return table;
}

Table conventions_table(const MfuView& view) {
  using Counted = ConventionRow;
  const auto text_of = [](const char* ConventionWords::*text) {
    return [text](const Counted& row) { return words_of(row.convention).*text; };
  };
  return make_table<Counted>(
      "conventions",
      "The same run by each convention",
      view.answer.conventions,
      {{parameter("convention", "convention"), text_of(&ConventionWords::name)},
       {measure("counts", "FLOPs of a trained token"), text_of(&ConventionWords::counts)},
       {measure("attention", "attention"), text_of(&ConventionWords::attention)},
       {measure("flop_per_token", "per token", Unit::flop).with_digits(4), &Counted::quoted},
       {measure("ratio", "of chosen").with_decimals(3), &Counted::ratio},
       {measure("convention_mfu", "reads", Unit::percent).with_decimals(2), &Counted::utilisation}},
      {fmt::format("Chosen: {}{}.",
                   words_of(view.question.convention).name,
                   words_for(view.options.audience, " (--convention)", ""))});
}

/// The chosen convention's FLOPs of a token, part by part; the parts sum to the hardware FLOPs.
Table flop_parts_table(const MfuView& view) {
  using Part = std::pair<const char*, double>;
  const ForwardFlops& forward = view.answer.forward;
  const double model = view.answer.model_flops.value();
  return make_table<Part>(
      "flops",
      "FLOPs of a trained token, part by part",
      {{"products of the layers, forward", forward.layers},
       {"attention, forward", forward.attention},
       {"head, forward", forward.head},
       {"backward, twice the forward", 2.0 * forward.total()},
       {"computed again", view.answer.hardware_flops.value() - model}},
      {{parameter("part", "part"), &Part::first},
       {measure("flop", "per token", Unit::flop).with_digits(4), &Part::second},
       {measure("of_model", "of the model FLOPs", Unit::percent).with_decimals(2),
        [=](const Part& part) { return part.second / model; }}});
}

Table training_cost_table(const MfuView& view) {
  std::vector<Campaign> campaigns{view.answer.million};
  if (view.answer.campaign) campaigns.push_back(*view.answer.campaign);
  std::vector<std::string> notes;
  if (view.question.price) {
    notes.push_back(fmt::format("At {}, without restarts or idle time.", rate_text(view)));
  }
  const std::vector<ColumnOf<Campaign>> columns{
      {parameter("tokens", "tokens"), [](const Campaign& one) { return large_count(one.tokens); }},
      {measure("time_s", "time", Unit::seconds).in_own_scale(), &Campaign::time},
      {measure("gpu_hours", "GPU-hours").with_digits(6), &Campaign::gpu_hours},
      {measure("cost_usd", "cost", Unit::dollars).if_present(), &Campaign::cost}};
  Table table =
      make_table("training", "What training takes at this rate", campaigns, columns, notes);
  table.tiles = {{0, "cost_usd", "Cost", "trained tokens", "tokens"},
                 {1, "cost_usd", "Cost of the training", "tokens", "tokens"}};
  return table;
}

constexpr double tera = 1e12;

/// Part of a peak that no whole step is believed to exceed, while single products do: 0.46 is
/// published of PaLM (Chowdhery 2022), 0.52 of a trillion parameters (Narayanan 2021). Too small,
/// a true run is warned of; too large, it lets a rate of other GPUs pass.
constexpr double most_of_a_step = 0.85;

std::string of_peak(const Utilisation& one) {
  return fmt::format("{:.4g} TFLOP/s ({})", one.peak.rate.value() / tera, said(one.peak.basis));
}

std::string headline(const MfuView& view) {
  const Utilisation& first = view.answer.against.front();
  const double most = std::max(first.mfu, first.hfu);
  if (most > most_of_a_step)
    return not_reliable(fmt::format("{:.1f} % of {} {}",
                                    100.0 * most,
                                    of_peak(first),
                                    most > 1.0 ? "cannot be" : "is more than whole steps reach"),
                        1,
                        "check the rate, the count of GPUs and the number format");
  const std::string amount =
      fmt::format("MFU {:.1f} %: {:.4g} of {} on {} {}",
                  100.0 * first.mfu,
                  view.answer.model_rate.value() / tera,
                  of_peak(first),
                  view.question.gpus == 1 ? "one" : fmt::format("each of {}", view.question.gpus),
                  view.names.gpu);
  return if_it_fits(amount, "; recorded steps show the rest") + ".";
}

std::string throughput_line(const MfuView& view) {
  const ConventionWords& words = words_of(view.question.convention);
  return fmt::format(
      "{} on each GPU, {} a token by the convention {} ({}).",
      format_quantity(number(view.answer.tokens_per_second_per_gpu), Unit::tokens_per_second, 4),
      format_quantity(number(view.answer.model_flops), Unit::flop, 4),
      words.name,
      words.convention == Convention::six_nd ? std::string("without attention")
                                             : std::string(words.attention) + " attention");
}

std::string hardware_line(const MfuView& view) {
  if (view.answer.recomputation == Recomputation::none) {
    return fmt::format(
        "HFU is the same, for nothing is computed again{}.",
        words_for(view.options.audience, " (else --recompute selective or full)", ""));
  }
  const Utilisation& first = view.answer.against.front();
  const std::string text = fmt::format("HFU {:.1f} %: {:.4g} TFLOP/s with {} recomputation.",
                                       100.0 * first.hfu,
                                       view.answer.hardware_rate.value() / tera,
                                       word_of(view.answer.recomputation));
  if (view.question.stated_as != StatedAs::flops_of_one_gpu ||
      view.question.convention == Convention::narayanan)
    return text;
  return fmt::format(
      "{} The rate is taken as model FLOPs; if it counts what is computed again{}, {:.1f} % is the "
      "HFU and {:.1f} % the MFU.",
      text,
      words_for(view.options.audience,
                ", as in Megatron-LM's papers (--convention narayanan)",
                ", as in Megatron-LM's papers"),
      100.0 * first.mfu,
      100.0 * first.mfu * first.mfu / first.hfu);
}

/// Whether the rate of one GPU was given for that of all.
std::string rate_of_one_line(const MfuView& view) {
  constexpr double hardly_any = 0.02;  // no run that is worth a report is below
  const double mfu = view.answer.against.front().mfu;
  const double of_one = mfu * static_cast<double>(view.question.gpus);
  const bool of_all = view.question.stated_as == StatedAs::tokens && view.question.gpus > 1;
  if (!of_all || mfu >= hardly_any || of_one > 1.0) return "";
  return fmt::format("Is the rate that of one GPU{}? Then the MFU is {:.1f} %.",
                     words_for(view.options.audience, " (--tokens-per-second-per-gpu)", ""),
                     100.0 * of_one);
}

std::string conventions_line(const MfuView& view) {
  if (!view.answer.conventions_differ) return "All conventions agree within 1 %.";
  const auto [low, high] = std::ranges::minmax(
      view.answer.conventions, {}, [](const auto& row) { return row.utilisation; });
  return fmt::format(
      "Other conventions read this run as {:.1f} % ({}) to {:.1f} % ({}{}).",
      100.0 * low.utilisation,
      words_of(low.convention).name,
      100.0 * high.utilisation,
      words_of(high.convention).name,
      high.convention == Convention::narayanan ? ", which counts full recomputation" : "");
}

std::string campaign_line(const MfuView& view) {
  const auto& campaign = view.answer.campaign;
  if (!campaign) return "";
  return fmt::format(
      "{} tokens take {:.4g} days and {} GPU-hours{}.",
      large_count(campaign->tokens),
      campaign->time.value() / seconds_per_day,
      large_count(campaign->gpu_hours),
      campaign->cost ? ": " + format_money(number(*campaign->cost), view.options.currency) : "");
}

std::string million_line(const MfuView& view) {
  if (!view.answer.million.cost) return "";
  return fmt::format("A million trained tokens cost {} at {}.",
                     format_money(number(*view.answer.million.cost), view.options.currency),
                     rate_text(view));
}

Verdict judge_mfu(const MfuView& view) {
  Verdict verdict;
  const Utilisation& first = view.answer.against.front();
  const bool assumed = view.question.stated_as == StatedAs::utilisation;
  verdict.headline = assumed
                         ? fmt::format("At {:.3g} % MFU {}", 100.0 * first.mfu, campaign_line(view))
                         : headline(view);
  verdict.answer = std::max(first.mfu, first.hfu) > most_of_a_step ? Answer::no : Answer::yes;
  if (view.question.stated_rate)
    verdict.lines = {
        view.question.tokens_per_second > 0.0
            ? "By 6 FLOPs for each parameter and trained token, without attention."
            : "As stated: whether the rate counts what is computed again is not known.",
        campaign_line(view),
        million_line(view)};
  else
    verdict.lines = {rate_of_one_line(view), throughput_line(view), hardware_line(view)};
  for (const Utilisation& other : std::span(view.answer.against).subspan(1)) {
    verdict.lines.push_back(fmt::format("MFU {:.1f} % of {}.", 100.0 * other.mfu, of_peak(other)));
  }
  if (!view.question.stated_rate)
    verdict.lines.insert(verdict.lines.end(),
                         {conventions_line(view), campaign_line(view), million_line(view)});
  std::erase(verdict.lines, "");
  return verdict;
}

/// Where the figures of model and GPU come from.
std::vector<std::string> sources(const MfuView& view) {
  const TransformerModel& model = view.question.model;
  std::vector<std::string> lines{fmt::format("{}: {}; {}.", model.name, model.source, model.date)};
  if (!view.names.gpu_source.empty())
    lines.push_back(fmt::format("{}: {}.", view.names.gpu, view.names.gpu_source));
  return lines;
}

Document compose_mfu(const MfuView& view) {
  const bool all = view.options.details && !view.question.stated_rate;
  const bool with_conventions = all || view.answer.conventions_differ;
  const bool in_tokens = view.question.tokens_per_second > 0.0;
  return {
      .title = document_title(view.options.tool_version, "what do the GPUs do for the model?"),
      .subject = view.question.stated_rate ? view.names.gpu : view.names.model,
      .subtitle = subtitle(view),
      .intervals = false,
      .verdict = judge_mfu(view),
      .sections = with_content(
          {section_of("utilisation", "Utilisation", {peaks_table(view)}),
           section_of("conventions",
                      "Conventions",
                      {with_conventions ? conventions_table(view) : Table{}}),
           section_of("flops", "FLOPs", {all ? flop_parts_table(view) : Table{}}),
           section_of("training", "Training", {in_tokens ? training_cost_table(view) : Table{}}),
           {"remarks", "Remarks", {}, said(view.answer.remarks), {}},
           {"sources", "Sources", all ? sources(view) : std::vector<std::string>{}, {}, {}}}),
      .next = next_commands(view)};
}

// Several runs, one per row of a table.

/// Each a column and a member of the JSON.
const std::vector<FieldOf<RunUse>>& run_fields() {
  const auto hfu = [](const RunUse& one) {
    return one.run.stated_rate ? std::nullopt : std::optional(one.first().hfu);
  };
  const auto per_gpu = [](const RunUse& one) {
    const double rate = one.use.tokens_per_second_per_gpu;
    return rate > 0.0 ? std::optional(rate) : std::nullopt;
  };
  static const std::vector<FieldOf<RunUse>> fields{
      {parameter("run", "run"), &RunUse::name},
      {parameter("model", "model"), [](const RunUse& one) { return one.names.model; }},
      {parameter("gpu", "GPU"), [](const RunUse& one) { return one.names.gpu; }},
      {measure("gpus", "GPUs", Unit::count), [](const RunUse& one) { return one.run.gpus; }},
      {measure("tokens_per_s_per_gpu", "tokens, one GPU", Unit::tokens_per_second)
           .with_digits(4)
           .if_present(),
       per_gpu},
      {measure("rate", "one GPU", Unit::flop_per_second).with_decimals(1),
       [](const RunUse& one) { return one.use.model_rate; }},
      {measure("peak", "peak", Unit::flop_per_second).with_decimals(1),
       [](const RunUse& one) { return one.first().peak.rate; }},
      {measure("mfu", "MFU", Unit::percent).with_decimals(1), &RunUse::mfu},
      {measure("hfu", "HFU", Unit::percent).with_decimals(1).if_present(), hfu},
      {measure("per_million_tokens_usd", "per million tokens", Unit::dollars).if_present(),
       [](const RunUse& one) { return one.use.million.cost; }}};
  return fields;
}

std::string cheapest_line(const RunsView& view) {
  const auto cost = [](const RunUse& one) { return one.use.million.cost.value_or(Dollars()); };
  const RunUse& cheapest = *std::ranges::min_element(view.question, {}, cost);
  if (view.question.size() < 2 || !(cost(cheapest).value() > 0.0)) return "";
  return fmt::format(
      "Cheapest per million trained tokens is {}, {}; tokens of other models are other work.",
      cheapest.name,
      format_money(number(cost(cheapest)), view.options.currency));
}

Verdict judge_runs(const RunsView& view) {
  const auto& runs = view.question;
  const RunUse& best = *std::ranges::max_element(runs, {}, &RunUse::mfu);
  const RunUse& least = *std::ranges::min_element(runs, {}, &RunUse::mfu);
  Verdict verdict;
  verdict.answer = best.mfu() > most_of_a_step ? Answer::no : Answer::yes;
  constexpr double same = 1.005;
  std::string text = fmt::format("{} has the largest MFU, {:.1f} %, {} the least, {:.1f} %",
                                 best.name,
                                 100.0 * best.mfu(),
                                 least.name,
                                 100.0 * least.mfu());
  if (runs.size() == 1)
    text = fmt::format("{} has an MFU of {:.1f} %", best.name, 100.0 * best.mfu());
  else if (best.mfu() < same * least.mfu())
    text = fmt::format("All {} runs have the same MFU, {:.1f} %", runs.size(), 100.0 * best.mfu());
  constexpr double far = 1.25;  // conventions and recomputation part two figures of a run by less
  const auto odd = std::ranges::find_if(runs, [](const RunUse& one) {
    return std::abs(std::log(one.stated_mfu.value_or(one.mfu()) / one.mfu())) > std::log(far);
  });
  std::string warning;
  if (verdict.answer == Answer::no)
    warning =
        fmt::format("{}: {:.1f} % is more than whole steps reach", best.name, 100.0 * best.mfu());
  else if (odd != runs.end())
    warning = fmt::format("{}: the table says MFU {:.1f} %, its rate says {:.1f} %",
                          odd->name,
                          100.0 * *odd->stated_mfu,
                          100.0 * odd->mfu());
  if (!warning.empty() && verdict.answer == Answer::yes) verdict.answer = Answer::unknown;
  verdict.headline =
      warning.empty()
          ? if_it_fits(text,
                       fmt::format(": record a step of {} to see what it loses", least.name)) +
                "."
          : not_reliable(warning, 1, "check its rate, GPUs, peak and number format");
  verdict.lines = {cheapest_line(view)};
  std::erase(verdict.lines, "");
  return verdict;
}

Document compose_runs(const RunsView& view) {
  Table table = make_table("runs", "Each run", view.question, columns_of<RunUse>(run_fields()));
  return {.title = document_title(view.options.tool_version, "which run uses its GPUs best?"),
          .subtitle = counted(view.question.size(), "run"),
          .intervals = false,
          .verdict = judge_runs(view),
          .sections = with_content({section_of("runs", "Runs", {std::move(table)}),
                                    {"remarks", "Remarks", {}, said(view.answer), {}}}),
          .next = {{"scaleworth attribute FILE...", "where the rest of a step's time goes"}}};
}

std::vector<Chart> runs_charts(const RunsView& view) {
  Chart chart{"runs-chart", "runs", "Part of the peak that each run turns into model FLOPs"};
  std::vector<Json> rows;
  for (const RunUse& one : view.question)
    rows.push_back({{"bar", one.name}, {"value", 100.0 * one.mfu()}});
  chart.data = plain_bars(std::move(rows), "run", "MFU (%)");
  return {chart};
}

constexpr JsonHead runs_head{1, "scaleworth mfu runs"};

void runs_document(Fields& json, const RunsView& view, const Document& whole) {
  put_answer(json, view.options, whole.verdict);
  put_array(json, "runs", view.question, run_fields());
  json("remarks", said(view.answer));
}

// The memory of a training step.

std::string memory_size(Bytes bytes) {
  return format_quantity(number(bytes), Unit::bytes, 3);
}

std::string memory_headline(const MemoryView& view) {
  const auto& [sequence, parameters, usable, needs, tensor] = view.answer;
  const auto found = std::ranges::find_if(needs, &MemoryNeed::fits);
  const MemoryNeed& least = needs.back();  // all is divided and recomputed
  const MemoryNeed& shown = found == needs.end() ? least : *found;
  const bool states = view.question.parameters.has_value();
  const std::string who =
      fmt::format("{} on {} x {}",
                  states ? fmt::format("A model of {} parameters", large_count(parameters))
                         : view.question.model.name,
                  view.question.gpus,
                  view.names.gpu);
  const std::string way =
      fmt::format("ZeRO {}, {}",
                  shown.zero,
                  states ? std::string("without activations")
                         : std::string("recomputation ") + word_of(shown.recomputation));
  const std::string each = " of " + memory_size(usable) + " each, " + way;
  if (tensor)
    return fmt::format("{} fits by tensor parallelism of {}: {}{}.",
                       who,
                       *tensor,
                       memory_size(least.states + least.activations / *tensor),
                       each);
  if (found != needs.end())
    return if_it_fits(fmt::format("{} fits: {}{}; {} GPUs at least",
                                  who,
                                  memory_size(shown.total()),
                                  each,
                                  *shown.smallest),
                      *least.smallest < *shown.smallest
                          ? fmt::format(", {} with ZeRO {}", *least.smallest, least.zero)
                          : "") +
           ".";
  return least.smallest
             ? fmt::format("{} does not fit: take {} GPUs, with {}.", who, *least.smallest, way)
             : fmt::format("{} fits no count: activations take {} of {}: shorten the sequence.",
                           who,
                           memory_size(least.activations),
                           memory_size(usable));
}

/// "Recomputation full: 24.9 GiB of activations; states 120, 42.3, 29.2, 16.1 GiB ...".
std::string memory_line(const MemoryAnswer& answer, std::size_t first) {
  const std::span stages = std::span(answer.needs).subspan(first, 4);
  const MemoryNeed& each = stages.front();
  return fmt::format("{}ZeRO 0 to 3: {} of states, fewest GPUs {}.",
                     each.activations > Bytes()
                         ? fmt::format("Recomputation {}: {} of activations; ",
                                       word_of(each.recomputation),
                                       memory_size(each.activations))
                         : "",
                     listed(stages, [](const MemoryNeed& one) { return memory_size(one.states); }),
                     listed(stages, [](const MemoryNeed& one) {
                       return one.smallest ? fmt::format("{}", *one.smallest) : "none";
                     }));
}
}  // namespace

std::string large_count(double count, int digits) {
  for (const auto& [unit, name] :
       {std::pair{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}})
    if (count >= unit * (1.0 - 0.5 * std::pow(10.0, -digits)))  // what rounds to 1000 of the next
      return fmt::format("{:.{}g}{}", count / unit, digits, name);
  return grouped(count < 1000.0 ? fmt::format("{:.{}g}", count, digits) : fixed(count, 0));
}

std::string render_memory(const MemoryView& view) {
  const MemoryAnswer& answer = view.answer;
  Verdict verdict;
  verdict.headline = memory_headline(view);
  const bool fits = answer.tensor || std::ranges::any_of(answer.needs, &MemoryNeed::fits);
  verdict.answer = fits ? Answer::yes : Answer::no;
  for (std::size_t first = 0; first < answer.needs.size(); first += 4)
    verdict.lines.push_back(memory_line(answer, first));
  verdict.lines.push_back(fmt::format(
      "Of each GPU: Adam in mixed precision, 16 bytes for each of {} parameters (Rajbhandari "
      "2020), {}; {:.0f} % of the memory is left for buffers.",
      large_count(answer.parameters),
      view.question.parameters
          ? std::string("without activations, which need the shapes of a model")
          : fmt::format("one sequence of {} tokens (Korthikanti 2022; fused attention keeps no "
                        "more than what recomputes it), no tensor or pipeline parallelism{}",
                        answer.sequence,
                        answer.tensor ? " in the sizes above" : ""),
      100.0 * (1.0 - usable_memory)));
  return render_sentences("does its training fit?", verdict, view.options);
}

std::string render_mfu(const MfuView& view) {
  return render_view(view, compose_mfu);
}

std::string render_runs(const RunsView& view) {
  return render_view(view, compose_runs, runs_charts);
}

std::string json_of_view(const RunsView& view, const Document& whole) {
  return json_of(runs_head, [&](Fields& json) { runs_document(json, view, whole); });
}

std::string runs_schema() {
  const std::vector<RunUse> one(1);
  return schema_of(runs_head, [&](Fields& json) { runs_document(json, {one, {}, {}, {}}, {}); });
}
}  // namespace scaleworth::report
