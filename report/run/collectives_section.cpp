// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/core/files/fields.h"
#include "src/model/collectives.h"

#include <array>
#include <cmath>
#include <span>

namespace scaleworth::report {
namespace {
using namespace model;

/// Absent where the pair does not describe its range.
Cell alpha_of(const CommunicationSegment& segment) {
  return segment.holds ? Cell{number(segment.alpha)} : Cell{};
}

/// 1/beta; absent where the pair does not describe its range or beta is not positive, without
/// interval where its interval reaches zero.
Cell inverse_beta(const CommunicationSegment& segment) {
  Number beta = number(segment.beta);
  if (!segment.holds || beta.value <= 0.0) return {};
  if (beta.interval && beta.interval->low <= 0.0) beta.interval.reset();
  return transform_decreasing(beta, [](double b) { return 1.0 / b; });
}

/// A bandwidth is an amount over the time: it carries the time's interval.
Number bandwidth(BytesPerSecond rate, const Estimate<Seconds>& time) {
  const Bytes amount = rate * time.value;
  return transform_decreasing(time, [amount](Seconds t) { return (amount / t).value(); });
}

Number algorithm_bandwidth(const CollectivePoint& point) {
  return bandwidth(point.algorithm_bandwidth, point.time);
}

Number bus_bandwidth(const CollectivePoint& point) {
  return bandwidth(point.bus_bandwidth, point.time);
}

using Collectives = std::vector<CollectiveResult>;

/// Absent without segments.
std::optional<CommunicationFit> chosen_fit(const CollectiveResult& result) {
  const bool any = result.chosen < result.fits.size();
  if (!any || result.fits[result.chosen].segments.empty()) return std::nullopt;
  return result.fits[result.chosen];
}

std::optional<CommunicationFit> chosen_fit(const AlgorithmResult& result) {
  return result.shared_gpu ? std::nullopt : result.fit;
}

/// Of the chosen fit, or of what it may have; absent without one.
template <class Result, class... Of>
auto of_fit(Of... of) {
  return path([](const Result& result) { return chosen_fit(result); }, of...);
}

/// Start-up time, the rate that large messages approach, and from where on half of it is reached.
template <class Row, class Result>
std::vector<ColumnOf<Row>> line_columns() {
  return {{measure("alpha", "alpha", Unit::seconds).if_present(),
           of_fit<Result>(&CommunicationFit::start, &CommunicationSegment::alpha)},
          {measure("alpha_largest_bytes", "up to", Unit::bytes).if_present(),
           of_fit<Result>(&CommunicationFit::start, &CommunicationSegment::largest)},
          {measure("inverse_beta", "1/beta of large", Unit::bytes_per_second).if_present(),
           of_fit<Result>(&CommunicationFit::largest_rate)},
          {measure("half_rate_bytes", "half of it from", Unit::bytes).if_present(),
           of_fit<Result>(half_rate_message)}};
}

Number large_busbw(const CollectiveResult& result) {
  return number(large_bus_bandwidth(result.points));
}

std::string outliers_of(const CollectiveResult& result) {
  const auto fit = chosen_fit(result);
  if (!fit || fit->outliers.empty()) return "none";
  return listed(fit->outliers, [](Bytes size) { return format_quantity(size, Unit::bytes); });
}

Table fits(const Collectives& collectives) {
  std::vector<ColumnOf<CollectiveResult>> columns{
      {parameter("collective", "collective"), &CollectiveResult::collective},
      {parameter("mode", "mode"), &CollectiveResult::mode},
      {parameter("ranks", "ranks", Unit::count), &CollectiveResult::ranks},
      {parameter("nodes", "nodes", Unit::count).if_present(), &CollectiveResult::nodes},
      {measure("form", "form"), of_fit<CollectiveResult>(&CommunicationFit::form)}};
  std::ranges::move(line_columns<CollectiveResult, CollectiveResult>(),
                    std::back_inserter(columns));
  columns.insert(columns.end(),
                 {{measure("busbw_large", "busbw of large", Unit::bytes_per_second), large_busbw},
                  {measure("held_out_error", "held-out error", Unit::percent),
                   of_fit<CollectiveResult>(&CommunicationFit::held_out_error)},
                  {measure("worst_held_out_error", "worst", Unit::percent),
                   of_fit<CollectiveResult>(&CommunicationFit::worst_held_out_error)},
                  {measure("strays", "stray sizes"), outliers_of}});
  return make_table("collective_fits",
                    "Cost of a collective by message size",
                    collectives,
                    columns,
                    {},
                    below_largest(collectives, &CollectiveResult::ranks));
}

/// The two modes of one collective at one rank count.
struct Pair {
  const CollectiveResult* any = nullptr;  // the first of them
  const CollectiveResult* isolated = nullptr;
  const CollectiveResult* back_to_back = nullptr;
};

std::vector<Pair> pairs(const Collectives& collectives) {
  std::vector<Pair> result;
  for (const auto& one : collectives) {
    if (one.points.empty()) continue;
    auto found = std::find_if(result.begin(), result.end(), [&](const Pair& pair) {
      return pair.any->collective == one.collective && pair.any->ranks == one.ranks;
    });
    if (found == result.end()) found = result.insert(result.end(), {&one});
    (one.mode == CollectiveMode::isolated ? found->isolated : found->back_to_back) = &one;
  }
  return result;
}

/// The size that all share; absent where they do not.
template <class T, class Size>
std::optional<std::string> common_size(const std::vector<T>& all, Size size) {
  const auto differ = [&](const T& a, const T& b) { return size(a) != size(b); };
  if (all.empty() || std::ranges::adjacent_find(all, differ) != all.end()) return std::nullopt;
  return format_quantity(size(all.front()), Unit::bytes);
}

Table ends(const Collectives& collectives) {
  const auto of = [](const CollectiveResult* Pair::*mode, auto cell) {
    return [=](const Pair& pair) { return pair.*mode ? Cell{cell(*(pair.*mode))} : Cell{}; };
  };
  const auto time = [](const CollectiveResult& one) { return number(one.points.front().time); };
  const auto busbw = [](const CollectiveResult& one) { return bus_bandwidth(one.points.back()); };
  const auto all = pairs(collectives);
  const auto smallest = [](const Pair& pair) { return pair.any->points.front().message; };
  const auto largest_size = [](const Pair& pair) { return pair.any->points.back().message; };
  const auto from = common_size(all, smallest);
  const auto to = common_size(all, largest_size);
  const int most = largest(collectives, &CollectiveResult::ranks);
  Column from_column = parameter("smallest_bytes", "smallest", Unit::bytes);
  Column to_column = parameter("largest_bytes", "largest", Unit::bytes);
  // Sizes that all collectives share are stated once, below the table.
  from_column.detail = to_column.detail = from && to;
  Table table = make_table(
      "collective_ends",
      "Isolated against back to back",
      all,
      {{parameter("collective", "collective").in_summary("Among " + counted(most, "rank")),
        [](const Pair& pair) { return word_of(pair.any->collective); }},
       {parameter("ranks", "ranks", Unit::count), [](const Pair& pair) { return pair.any->ranks; }},
       {from_column, smallest},
       {measure("latency_isolated", "time isolated", Unit::seconds)
            .in_summary(from.value_or("smallest size") + " isolated"),
        of(&Pair::isolated, time)},
       {measure("latency_back_to_back", "back to back", Unit::seconds),
        of(&Pair::back_to_back, time)},
       {to_column, largest_size},
       {measure("busbw_isolated", "busbw isolated", Unit::bytes_per_second),
        of(&Pair::isolated, busbw)},
       {measure("busbw_back_to_back", "back to back", Unit::bytes_per_second)
            .in_summary("back-to-back busbw, " + to.value_or("largest size")),
        of(&Pair::back_to_back, busbw)},
       {measure("alpha", "alpha", Unit::seconds).only_in_summary(),
        of(&Pair::isolated,
           of_fit<CollectiveResult>(&CommunicationFit::start, &CommunicationSegment::alpha))},
       {measure("busbw_large", "busbw of large", Unit::bytes_per_second).only_in_summary(),
        of(&Pair::isolated, large_busbw)},
       {measure("held_out_error", "fit error", Unit::percent).only_in_summary(),
        of(&Pair::isolated, of_fit<CollectiveResult>(&CommunicationFit::held_out_error))}},
      {},
      [most](const Pair& pair) { return pair.any->ranks < most; });
  if (from && to) {
    table.notes.push_back(fmt::format("Time of {}, bus bandwidth (busbw) of {}.", *from, *to));
  }
  return table;
}

using Results = std::vector<AlgorithmResult>;

constexpr const char* shared_note =
    "Ranks that share a GPU: plumbing only, no figure is one of an interconnect.";

/// Isolated calls, or what other programs time back to back where there are none.
CollectiveMode plain_mode(const Results& results) {
  const bool isolated =
      std::ranges::count(results, CollectiveMode::isolated, &AlgorithmResult::mode) > 0;
  return isolated || results.empty() ? CollectiveMode::isolated : results.front().mode;
}

bool is_whole(const AlgorithmResult& result) {
  return result.selection.symbol<RankSelection>(Parameter::selection) == RankSelection::all;
}

Cell way_name(const Way& way) {
  return way.algorithm.empty() ? Cell{} : Cell{way.algorithm + "/" + way.protocol};
}

std::string call_name(const AlgorithmResult& result) {
  return std::string(word_of(result.mode)) + (result.in_place ? ", in place" : "");
}

/// A table of rows of a result: the columns that name it, then `columns`.
template <class... Levels>
Table nccl_table(std::string id,
                 std::string title,
                 const std::vector<Nested<AlgorithmResult, Levels...>>& rows,
                 const std::vector<ColumnOf<Nested<AlgorithmResult, Levels...>>>& columns,
                 bool part_is_detail = false) {
  const auto what = [](const AlgorithmResult& result) {
    return (result.shared_gpu ? "sharing a GPU: " : "") + selection_text(result.selection);
  };
  std::vector<ColumnOf<Nested<AlgorithmResult, Levels...>>> all{
      {parameter("what", "ranks that take part").in_summary("NCCL"), what},
      {parameter("collective", "collective").in_summary("collective"),
       &AlgorithmResult::collective},
      {parameter("ranks", "ranks", Unit::count).in_summary("GPUs"), &AlgorithmResult::ranks}};
  all.insert(all.end(), columns.begin(), columns.end());
  return make_table(std::move(id), std::move(title), rows, all, {}, [=](const auto& row) {
    return part_is_detail && !is_whole(*std::get<0>(row.levels));
  });
}

/// Bandwidths mean nothing between ranks that share a GPU.
Cell bus_cell(const AlgorithmResult& result, const ChosenPoint& chosen) {
  return result.shared_gpu ? Cell{} : Cell{bus_bandwidth(chosen.point)};
}

Cell wire_cell(const AlgorithmResult& result, const ChosenPoint& chosen) {
  if (result.shared_gpu || !chosen.wire_bandwidth) return {};
  return bandwidth(*chosen.wire_bandwidth, chosen.point.time);
}

Table choices(const Results& results) {
  const CollectiveMode mode = plain_mode(results);
  std::vector<Nested<AlgorithmResult, ChosenPoint>> rows;  // the largest size of each
  std::vector<Bytes> largest;                              // among all ranks
  for (const AlgorithmResult& result : results) {
    // The others are compared with such calls out of place.
    if (result.mode != mode || result.in_place || result.chosen.empty()) continue;
    rows.push_back({{&result, &result.chosen.back()}});
    if (is_whole(result)) largest.push_back(result.chosen.back().point.message);
  }
  const auto latency = [](const AlgorithmResult& result) {
    return result.chosen.front().point.time;
  };
  using Row = Nested<AlgorithmResult, ChosenPoint>;
  std::vector<ColumnOf<Row>> columns = line_columns<Row, AlgorithmResult>();
  columns.insert(
      columns.begin(),
      {measure("latency", "time of smallest", Unit::seconds).in_summary("time of smallest"),
       latency});
  const std::vector<ColumnOf<Row>> of_largest{
      {measure("largest_bytes", "largest", Unit::bytes),
       path(&ChosenPoint::point, &CollectivePoint::message)},
      {measure("busbw", "busbw of largest", Unit::bytes_per_second)
           .in_summary("busbw, " + common_size(largest, std::identity{}).value_or("largest size"))
           .if_present(),
       bus_cell},
      {measure("wire_bandwidth", "through a port", Unit::bytes_per_second).if_present(), wire_cell},
      {measure("ran", "ran").in_summary("ran").if_present(), way_name}};
  columns.insert(columns.end(), of_largest.begin(), of_largest.end());
  Table table = nccl_table(
      "nccl_choice", fmt::format("NCCL's own choice, {} calls", word_of(mode)), rows, columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].in_summary = is_whole(*std::get<0>(rows[i].levels));
  }
  if (std::ranges::any_of(results, &AlgorithmResult::shared_gpu))
    table.notes.push_back(shared_note);
  return table;
}

/// The one segment of a forced way that was fitted.
const CommunicationSegment* segment_of(const AlgorithmLine& line) {
  return line.fit.segments.empty() ? nullptr : &line.fit.segments.front();
}

const CommunicationSegment* segment_of(const AlgorithmResult& result,
                                       const AlgorithmRegime& regime) {
  const auto is_line = [&](const Way& way) { return way == regime; };
  const AlgorithmLine* line = find_in(result.lines, true, is_line);
  return line ? segment_of(*line) : nullptr;
}

Table regimes(const Results& results) {
  std::vector<Nested<AlgorithmResult, AlgorithmRegime, CommunicationSegment>> rows;
  for (const auto& row : nested(results, &AlgorithmResult::regimes)) {
    const auto* segment = segment_of(*std::get<0>(row.levels), *std::get<1>(row.levels));
    if (segment) rows.push_back({std::tuple_cat(row.levels, std::tuple(segment))});
  }
  return nccl_table("nccl_regimes",
                    "The fastest way by size: minimum over the measured lines",
                    rows,
                    {{parameter("smallest_bytes", "from", Unit::bytes), &AlgorithmRegime::smallest},
                     {parameter("largest_bytes", "to", Unit::bytes), &AlgorithmRegime::largest},
                     {parameter("form", "way"), way_name},
                     {measure("alpha", "alpha", Unit::seconds), alpha_of},
                     {measure("inverse_beta", "1/beta", Unit::bytes_per_second), inverse_beta}},
                    true);
}

Table lines(const Results& results) {
  auto rows = nested(results, &AlgorithmResult::lines);
  std::erase_if(rows,
                [](const auto& row) { return segment_of(*std::get<1>(row.levels)) == nullptr; });
  const auto fit = [](auto member) { return path(&AlgorithmLine::fit, member); };
  return all_detail(
      nccl_table("nccl_lines",
                 "Every forced way",
                 rows,
                 {{parameter("form", "way"), way_name},
                  {measure("alpha", "alpha", Unit::seconds),
                   [](const AlgorithmLine& line) { return alpha_of(*segment_of(line)); }},
                  {measure("inverse_beta", "1/beta", Unit::bytes_per_second),
                   [](const AlgorithmLine& line) { return inverse_beta(*segment_of(line)); }},
                  {measure("held_out_error", "held-out error", Unit::percent),
                   fit(&CommunicationFit::held_out_error)},
                  {measure("median_residual", "residual", Unit::percent),
                   fit(&CommunicationFit::median_residual)}}));
}

Table points(const Results& results) {
  return all_detail(
      nccl_table("nccl_points",
                 "Every size of NCCL's own choice",
                 nested(results, &AlgorithmResult::chosen),
                 {{parameter("mode", "call"), call_name},
                  {parameter("message_bytes", "message", Unit::bytes),
                   path(&ChosenPoint::point, &CollectivePoint::message)},
                  {measure("time", "time", Unit::seconds).in_own_scale(),
                   path(&ChosenPoint::point, &CollectivePoint::time)},
                  {measure("algbw", "algbw", Unit::bytes_per_second),
                   path(&ChosenPoint::point, algorithm_bandwidth)},
                  {measure("busbw", "busbw", Unit::bytes_per_second), bus_cell},
                  {measure("wire_bandwidth", "through a port", Unit::bytes_per_second), wire_cell},
                  {measure("ran", "ran").if_present(), way_name},
                  {measure("fastest_line", "fastest way takes", Unit::seconds).in_own_scale(),
                   &ChosenPoint::fastest_line}}));
}

std::string reach_of(const LinkLevel& level) {
  if (level.reach == LinkLevel::Reach::all_reduce) return "all-reduce over all";
  return level.reach == LinkLevel::Reach::within_node ? "within a node" : "between nodes";
}

Table level_table(const std::vector<LinkLevel>& levels) {
  return make_table(
      "link_levels",
      "Between two ranks",
      levels,
      {{parameter("level", "level").in_summary("Between two ranks"), reach_of},
       {measure("alpha", "alpha", Unit::seconds).in_summary("alpha"), &LinkLevel::alpha},
       {measure("inverse_beta", "1/beta", Unit::bytes_per_second).in_summary("1/beta"),
        &LinkLevel::rate}});
}

std::string change_text(const LayoutChange& one) {
  return fmt::format(
      "Another regime: among {} {} takes {:.2f}x as long for each byte on a link as among {}; "
      "counts between them may have either.",
      counted(one.to.ranks, "rank"),
      word_of(one.collective),
      one.times,
      counted(one.from.ranks, "rank"));
}

void put_point(Fields& json, const CollectivePoint& one) {
  json.members("message_bytes", one.message, "time_s", one.time);
  json("algbw_bytes_per_s", one.algorithm_bandwidth);
  json("busbw_bytes_per_s", one.bus_bandwidth);
}

void put_way(Fields& json, const Way& one) {
  json.members("algorithm", or_null(one.algorithm), "protocol", or_null(one.protocol));
}

void put_fit(Fields& json, const CommunicationFit& one) {
  json("form", one.form);
  json.array("segments", one.segments, [](Fields& of, const CommunicationSegment& segment) {
    of.members("smallest_bytes", segment.smallest, "largest", segment.largest);
    of.members("alpha", segment.alpha, "beta_s_per_byte", segment.beta, "holds", segment.holds);
  });
  json("start_up_s", one.start ? std::optional(one.start->alpha) : std::nullopt);
  json("largest_rate_bytes_per_s", one.largest_rate());
  json("half_rate_bytes", half_rate_message(one));
  json.members("held_out_error", one.held_out_error);
  json.members("worst_held_out_error", one.worst_held_out_error);
  json.members("median_residual", one.median_residual);
  json("stray_bytes", one.outliers);
  json.array("curve", one.curve, [](Fields& of, const CurveKnot& knot) {
    of.members("message_bytes", std::exp(knot.size), "time_s", std::exp(knot.time));
  });
}

const char* schedule_name(Schedule schedule) {
  constexpr std::array names{"ring",
                             "double binary tree",
                             "recursive doubling",
                             "recursive halving and doubling",
                             "hierarchy"};
  return names[index_of(schedule)];
}

const std::vector<FieldOf<PricedWay>>& way_fields() {
  static const std::vector<FieldOf<PricedWay>> fields{
      {parameter("way", "way"),
       [](const PricedWay& one) { return std::string(schedule_name(one.schedule)); }},
      {measure("time", "time", Unit::seconds),
       [](const PricedWay& one) { return one.time.total(); }},
      {measure("latency", "latency", Unit::seconds),
       [](const PricedWay& one) { return one.time.latency; }},
      {measure("bandwidth", "bandwidth", Unit::seconds),
       [](const PricedWay& one) { return one.time.bandwidth; }}};
  return fields;
}

/// "recursive doubling, from 20.9 KiB on ring".
template <class Regimes, class Text>
std::string regimes_text(const Regimes& regimes, Text text) {
  std::string all = schedule_name(regimes.front().second);
  for (const auto& [from, schedule] : std::span(regimes).subspan(1))
    all += fmt::format(", from {} on {}", text(from), schedule_name(schedule));
  return all;
}

Verdict judge_price(const AllReduceQuestion& question, const AllReduceAnswer& answer) {
  const PricedWay& best = answer.ways.front();
  const double latency = best.time.latency / best.time.total();
  const auto size = [](double bytes) { return format_quantity(bytes, Unit::bytes); };
  const auto count = [](int ranks) { return fmt::format("{} ranks", ranks); };
  Verdict verdict;
  verdict.answer = Answer::yes;
  verdict.headline = fmt::format(
      "An all-reduce of {:g} MB among {} ranks takes {} by {}, {:.0f} % of it {}.",
      question.message.value() / 1e6,
      question.ranks,
      format_quantity(best.time.total(), Unit::seconds),
      schedule_name(best.schedule),
      100.0 * std::max(latency, 1.0 - latency),
      latency > 0.5 ? "latency: send fewer, larger messages" : "bandwidth: send fewer bytes");
  verdict.lines = {
      fmt::format(
          "Fastest among {} ranks: {}.", question.ranks, regimes_text(answer.by_size, size)),
      fmt::format("Fastest with this message, of powers of two: {}.",
                  regimes_text(answer.by_count, count)),
      fmt::format("Of ring and double tree alone, as NCCL has them, the tree is faster {} among "
                  "these ranks, and {} with this message.",
                  answer.tree_below ? "up to " + size(*answer.tree_below) : "at no size",
                  answer.tree_from ? "from " + count(*answer.tree_from) + " on" : "at no count")};
  const int group = question.fabric.group;
  if (group > 1 && question.ranks > group && question.ranks % group != 0)
    verdict.lines.push_back(
        fmt::format("A hierarchy is left out: {} ranks do not fill groups of {}; ask for {} or {}.",
                    question.ranks,
                    group,
                    question.ranks / group * group,
                    (question.ranks / group + 1) * group));
  else if (group > 1 && !question.fabric.inside)
    verdict.lines.push_back(
        "The links inside a group are taken for equal to the others: --group-alpha-us and "
        "--group-beta-gbs say what they are.");
  if (question.compute)
    verdict.lines.push_back(
        answer.exceeds_compute
            ? fmt::format("From {} on it takes longer than the compute that the ranks share.",
                          count(*answer.exceeds_compute))
            : "At no count up to 65536 it takes longer than the compute that the ranks share.");
  return verdict;
}

constexpr JsonHead price_head{1, "scaleworth collective price"};

void price_members(Fields& json,
                   const Verdict& verdict,
                   const AllReduceAnswer& answer,
                   const RenderOptions& options) {
  put_versions(json, options);
  put_verdict(json, verdict, {});
  put_array(json, "ways", answer.ways, way_fields());
  json("exceeds_compute_from_ranks", answer.exceeds_compute);
}
}  // namespace

Section collectives_section(const Collectives& collectives,
                            const Results& algorithms,
                            const std::vector<LinkLevel>& levels,
                            const CommunicationModel& communication) {
  Section section{"collectives", "Collectives: what communication costs", {}, {}, {}};
  if (!collectives.empty()) {
    section.tables = {
        fits(collectives),
        ends(collectives),
        all_detail(make_table(
            "collective_points",
            "Every size",
            nested(collectives, &CollectiveResult::points),
            {{parameter("collective", "collective"), &CollectiveResult::collective},
             {parameter("mode", "mode"), &CollectiveResult::mode},
             {parameter("ranks", "ranks", Unit::count), &CollectiveResult::ranks},
             {parameter("message_bytes", "message", Unit::bytes), &CollectivePoint::message},
             {measure("time", "time", Unit::seconds).in_own_scale(), &CollectivePoint::time},
             {measure("algbw", "algbw", Unit::bytes_per_second), algorithm_bandwidth},
             {measure("busbw", "busbw", Unit::bytes_per_second), bus_bandwidth}}))};
  }
  if (!levels.empty()) section.tables.insert(section.tables.begin(), level_table(levels));
  for (Table (*make)(const Results&) : {&choices, &regimes, &lines, &points}) {
    Table table = make(algorithms);
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
  }
  section.lead = mapped(communication.changes(), change_text);
  return section;
}

void put_algorithms(Fields& json, const AlgorithmResult& result) {
  json("topology", selection_text(result.selection));
  json.object("fit", result.fit, put_fit);
  json.members("collective", result.collective, "mode", result.mode, "ranks", result.ranks);
  json.members("in_place", result.in_place);
  json.members("shared_gpu", result.shared_gpu);
  json.array("regimes", result.regimes, [](Fields& of, const AlgorithmRegime& one) {
    put_way(of, one);
    of.members("smallest_bytes", one.smallest, "largest", one.largest);
  });
  json.array("lines", result.lines, [](Fields& of, const AlgorithmLine& one) {
    const auto* segment = segment_of(one);
    put_way(of, one);
    of("alpha_s", segment ? std::optional(segment->alpha) : std::nullopt);
    of("beta_s_per_byte", segment ? std::optional(segment->beta) : std::nullopt);
    of.members("held_out_error", one.fit.held_out_error);
    of.array("points", one.points, [](Fields& each, const CollectivePoint& point) {
      each.members("message_bytes", point.message, "time_s", point.time);
    });
  });
  json.array("chosen", result.chosen, [](Fields& of, const ChosenPoint& one) {
    put_point(of, one.point);
    of("wire_bytes_per_s", one.wire_bandwidth);
    of.object("ran", one, put_way);
    of.members("fastest_line", one.fastest_line);
  });
}

void put_collective(Fields& json, const CollectiveResult& result) {
  const bool any = result.chosen < result.fits.size();
  json.members("collective", result.collective, "mode", result.mode, "ranks", result.ranks);
  json("chosen_form", any ? std::optional(result.fits[result.chosen].form) : std::nullopt);
  json("large_busbw_bytes_per_s", large_bus_bandwidth(result.points));
  json.array("fits", result.fits, put_fit);
  json.array("points", result.points, put_point);
}

// An all-reduce by stated latency and bandwidth.

std::string render_price(const model::AllReduceQuestion& question, const RenderOptions& options) {
  const AllReduceAnswer answer = answer_all_reduce(question);
  const Verdict verdict = judge_price(question, answer);
  const auto document = [&](const RenderOptions& as) {
    return Document{.title = document_title(as.tool_version, "what does an all-reduce take?"),
                    .subtitle = "By stated latency and bandwidth: nothing is measured",
                    .intervals = false,
                    .verdict = verdict,
                    .sections = {section_of(
                        "ways",
                        "Ways",
                        {make_table("ways",
                                    "Each way of doing it",
                                    answer.ways,
                                    columns_of<PricedWay>(way_fields()),
                                    {"Without the sum's arithmetic, and other traffic."})})},
                    .next = {{"scaleworth comm", "what the ranks of this machine take"}}};
  };
  return render_document({document,
                          [&](const RenderOptions& as) {
                            return json_of(price_head, [&](Fields& json) {
                              price_members(json, verdict, answer, as);
                            });
                          }},
                         options);
}

std::string price_schema() {
  const AllReduceAnswer answer{{{}}, {}, {}, {}, {}, {}};
  return schema_of(price_head, [&](Fields& json) { price_members(json, {}, answer, {}); });
}
}  // namespace scaleworth::report
