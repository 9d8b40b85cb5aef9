// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/core/files/fields.h"

namespace scaleworth::report {
namespace {
using namespace model;

/// Each peak once.
std::string basis_note(const GpuResult& gpu) {
  std::vector<std::string> bases;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || !format.steady->against) continue;
    const AgainstPeak& against = *format.steady->against;
    const std::string peak = format_quantity(number(against.peak), Unit::flop_per_second, 4);
    bases.push_back(peak + " (" + against.basis + ")");
    if (std::ranges::count(bases, bases.back()) > 1) bases.pop_back();
  }
  return fmt::format("{}", fmt::join(bases, "; "));
}

using FormatGemm = Nested<GpuResult, GpuFormat, GpuGemm>;

/// The row that heads the page: the first of bf16, else the first.
template <class Row>
std::size_t first_in_bf16(const std::vector<Row>& rows) {
  const auto found = std::ranges::find_if(rows, [](const Row& row) {
    return std::get<1>(row.levels)->format.precision == NumberFormat::bf16;
  });
  return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

/// The steady, burst and best products of each format, as far as they are there.
std::vector<FormatGemm> measured_products(const Gpus& gpus) {
  std::vector<FormatGemm> rows;
  for (const auto& format : nested(gpus, &GpuResult::formats)) {
    const GpuFormat& of = *std::get<1>(format.levels);
    const auto add = [&](const GpuGemm& gemm) {
      rows.push_back({std::tuple_cat(format.levels, std::tuple(&gemm))});
    };
    for (const auto* gemm : {&of.steady, &of.burst, &of.best_shape, &of.best_burst})
      if (*gemm) add(**gemm);
    for (const GpuGemm& gemm : of.by_data) add(gemm);
  }
  return rows;
}
Table format_table(const Gpus& gpus) {
  const auto steady = [](auto... members) { return path(&GpuFormat::steady, members...); };
  const auto best = [](auto... members) { return path(&GpuFormat::best_shape, members...); };
  const auto headroom = [](const GpuFormat& format) {
    return format.tuning_headroom
               ? Cell{transform(*format.tuning_headroom, [](double ratio) { return ratio - 1.0; })}
               : Cell{};
  };
  const auto rows = nested(gpus, &GpuResult::formats);
  Table table = make_table(
      "gpu_formats",
      "Library matrix products by number format",
      rows,
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format"), &GpuFormat::format},
       {measure("steady", "steady", Unit::flop_per_second), steady(&GpuGemm::rate)},
       {measure("steady_shape", "shape").as_detail(), steady(&GpuGemm::shape, shape_text)},
       {measure("burst", "burst", Unit::flop_per_second), path(&GpuFormat::burst, &GpuGemm::rate)},
       {measure("best_shape_rate", "best shape's", Unit::flop_per_second), best(&GpuGemm::rate)},
       {measure("best_shape_burst", "in burst", Unit::flop_per_second),
        path(&GpuFormat::best_burst, &GpuGemm::rate)},
       {measure("best_shape", "best shape"), best(&GpuGemm::shape, shape_text)},
       {measure("tuning_headroom", "tuning gain", Unit::percent), headroom}},
      {"Steady: sustained, no gap between products, clock and power flat over 2 s and more. Burst: "
       "after a pause, samples within 1 % of the highest clock. Best shape: of most FLOP per clock "
       "among those tried, steady; a maximum, so a little optimistic. MAMF tables have normal "
       "data, other layouts and maxima with gaps. Tuning gain: best algorithm over the library's "
       "first proposal."});
  table.tiles = {{first_in_bf16(rows), "steady", "Matrix products", "steady", "precision"}};
  return table;
}

Table condition_table(const Gpus& gpus) {
  const auto of = [](auto member) { return path(&GpuGemm::against, member); };
  const auto at = [](auto member) { return path(&GpuGemm::conditions, member); };
  const auto slowdown = [](const std::pair<std::string, double>& reason) {
    return reason.first + " " + format_quantity(number(reason.second), Unit::percent);
  };
  const std::vector<FormatGemm> rows = measured_products(gpus);
  Table table = make_table(
      "gpu_conditions",
      "Clock, power and share of the datasheet of these products",
      rows,
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format"), &GpuFormat::format},
       {parameter("pass", "pass"), &GpuGemm::pass},
       {parameter("shape", "shape").as_detail(), path(&GpuGemm::shape, shape_text)},
       {parameter("data", "data"), &GpuGemm::data},
       {measure("rate", "rate", Unit::flop_per_second).as_detail(), &GpuGemm::rate},
       {measure("of_datasheet", "of datasheet", Unit::percent), of(&AgainstPeak::fraction)},
       {measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
        of(&AgainstPeak::fraction_at_clock)},
       {measure("flop_per_clock", "FLOP per clock and SM", Unit::plain), &GpuGemm::flop_per_clock},
       {measure("clock", "clock", Unit::hertz).with_digits(4), at(&GpuConditions::clock_hz)},
       {measure("clock_ratio", "clock over datasheet's").as_detail(),
        of(&AgainstPeak::clock_ratio)},
       {measure("power", "power", Unit::watts), at(&GpuConditions::power_w)},
       {measure("temperature", "heat", Unit::celsius).as_detail(),
        at(&GpuConditions::temperature_c)},
       {measure("flop_per_joule", "energy", Unit::flop_per_joule), &GpuGemm::flop_per_joule},
       {measure("slowdown_reasons", "held down by"),
        [&](const GpuGemm& gemm) { return listed(gemm.conditions.slowdown_reasons, slowdown); }},
       {measure("algorithm", "algorithm").as_detail(), &GpuGemm::algorithm},
       {measure("library", "library").as_detail(), &GpuGemm::library}},
      {"Clock: median of cycles counted on the GPU. Power: energy over time in windows of 2 s "
       "and more, else the median reading, n/a below 1 s. Data: uniform in [-1, 1), normal of "
       "variance 1, or "
       "zero: what changes fewer bits draws less power."});
  table.tiles = {{first_in_bf16(rows), "of_datasheet", "Of the datasheet", "", "precision"}};
  for (const GpuResult& gpu : gpus) {
    const std::string bases = basis_note(gpu);
    if (!bases.empty() && table.notes.size() == 1) table.notes.push_back("Peaks: " + bases + ".");
  }
  return table;
}

Table waterfall_table(const Gpus& gpus) {
  Table table{"gpu_waterfall",
              "Loss waterfall: from the datasheet to the steady rate",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("step", "step"),
               measure("change", "change", Unit::flop_per_second),
               measure("rate_after", "leaves", Unit::flop_per_second).with_digits(4),
               measure("evidence", "because")},
              {},
              {"The changes add up from the datasheet's peak to the measured rate. What no figure "
               "of this run explains is called unexplained."}};
  for (const auto& row : nested(gpus, &GpuResult::formats)) {
    const auto [gpu, format] = row.levels;
    if (!format->waterfall) continue;
    const bool leading = format->format.precision == NumberFormat::bf16;
    const bool detail = !leading && format != &gpu->formats.front();
    const Cell ordinal = as_cell(gpu->identity.ordinal);
    const std::string name = word_of(format->format);
    FlopPerSecond rate = format->waterfall->spec;
    table.rows.push_back(
        {{ordinal, name, "datasheet", {}, number(rate), format->waterfall->basis}, detail});
    for (const WaterfallStep& step : format->waterfall->steps) {
      if (step.change) rate += *step.change;
      const Cell left = step.change ? Cell{number(rate)} : Cell{};
      table.rows.push_back(
          {{ordinal, name, step.name, as_cell(step.change), left, step.evidence}, detail});
    }
  }
  return table;
}

Table placement_table(const Gpus& gpus) {
  const auto products = [](const GpuResult& gpu) -> const std::vector<PlacedGemm>& {
    return gpu.roofline.gemms;
  };
  const auto name = [](const PlacedGemm& gemm) {
    return gemm.name.empty() ? family_of(gemm) : gemm.name;
  };
  return make_table(
      "gpu_placements",
      "Products under the measured roof",
      nested(gpus, products),
      {{gpu_column(), gpu_ordinal},
       {parameter("layer", "product"), name},
       {parameter("precision", "format"), &PlacedGemm::format},
       {parameter("shape", "shape"), path(&PlacedGemm::shape, shape_text)},
       {measure("intensity", "intensity", Unit::flop_per_byte), &PlacedGemm::intensity},
       {measure("rate", "rate", Unit::flop_per_second), &PlacedGemm::rate},
       {measure("roof", "roof", Unit::flop_per_second).as_detail(), &PlacedGemm::roof},
       {measure("fraction", "of roof", Unit::percent), &PlacedGemm::fraction},
       {measure("of_datasheet", "of datasheet", Unit::percent), &PlacedGemm::of_datasheet},
       {measure("bound", "bound"), path(&PlacedGemm::bound, bound_name)}},
      {"Roof: the highest measured rate of the format, or the memory's rate over as many "
       "bytes as the operands times the intensity. Bound: the side of the ridge."});
}

std::string peak_note(const GpuResult& gpu) {
  std::string note;
  if (!gpu.identity.datasheet) {
    note = "No datasheet of this GPU is known: give its dense bf16 peak with --peak.";
  }
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || !format.steady->against) continue;
    const auto& against = *format.steady->against;
    note = fmt::format(
        "Steady: sustained, products gap-free at a settled clock. Shares are of steady: of the {} "
        "({}{}) and of what the clock allowed.",
        gpu.identity.given_peak && format.format.precision == NumberFormat::bf16
            ? "peak given"
            : "dense datasheet peak",
        word_of(format.format.precision) +
            (" " + format_quantity(number(against.peak), Unit::flop_per_second, 4)),
        against.clock_hz ? " at " + format_quantity(number(*against.clock_hz), Unit::hertz, 4)
                         : "");
    if (format.format.precision == NumberFormat::bf16) break;
  }
  return note;
}
Table format_summary(const GpuResult& gpu) {
  const auto steady = [](auto... members) { return path(&GpuFormat::steady, members...); };
  Table table = make_table(
      "gpu_products",
      "",
      gpu.formats,
      {{parameter("precision", fmt::format("GPU {}", gpu.identity.ordinal)), &GpuFormat::format},
       {measure("steady", "steady", Unit::flop_per_second), steady(&GpuGemm::rate)},
       {measure("best", "best shape", Unit::flop_per_second),
        path(&GpuFormat::best_shape, &GpuGemm::rate)},
       {measure("of_datasheet", "of datasheet", Unit::percent),
        steady(&GpuGemm::against, &AgainstPeak::fraction)},
       {measure("at_clock", "at its clock", Unit::percent),
        steady(&GpuGemm::against, &AgainstPeak::fraction_at_clock)},
       {measure("clock", "clock", Unit::hertz).with_digits(4),
        steady(&GpuGemm::conditions, &GpuConditions::clock_hz)},
       {measure("power", "power", Unit::watts),
        steady(&GpuGemm::conditions, &GpuConditions::power_w)},
       {measure("energy", "energy", Unit::flop_per_joule), steady(&GpuGemm::flop_per_joule)}});
  const std::string note = peak_note(gpu);
  if (!note.empty() && !table.rows.empty()) table.notes.push_back(note);
  return table;
}

Table own_products_summary(const GpuResult& gpu) {
  const auto shape = [](const PlacedGemm& gemm) {
    return fmt::format("{}x{}x{}", gemm.shape.m, gemm.shape.n, gemm.shape.k);
  };
  std::vector<PlacedGemm> own = gpu.roofline.gemms;
  std::erase_if(own, [](const PlacedGemm& gemm) { return gemm.name.empty(); });
  return make_table(
      "gpu_own_products",
      "",
      own,
      {{parameter("layer", fmt::format("GPU {} own", gpu.identity.ordinal)), &PlacedGemm::name},
       {parameter("precision", "format"), &PlacedGemm::format},
       {parameter("shape", "shape"), shape},
       {measure("intensity", "intensity", Unit::flop_per_byte), &PlacedGemm::intensity},
       {measure("rate", "rate", Unit::flop_per_second), &PlacedGemm::rate},
       {measure("fraction", "of its roof", Unit::percent), &PlacedGemm::fraction},
       {measure("of_datasheet", "of datasheet", Unit::percent), &PlacedGemm::of_datasheet},
       {measure("bound", "bound"), path(&PlacedGemm::bound, bound_name)}});
}

void put_product(Fields& json, const GpuGemm& one) {
  json.members("pass", one.pass, "data", one.data);
  json.object("shape", one.shape, put_shape);
  json.members("library", one.library, "algorithm", one.algorithm);
  json.members("heuristic_rank", one.heuristic_rank, "workspace_bytes", one.workspace);
  json("rate_flop_per_s", one.rate);
  json.object("conditions", one.conditions, put_conditions);
  json.object("against_peak", one.against, put_against);
  json.members("flop_per_joule", one.flop_per_joule, "flop_per_clock", one.flop_per_clock);
}
}  // namespace

std::vector<Table> gpu_product_tables(const Gpus& gpus) {
  return {
      format_table(gpus),
      condition_table(gpus),
      waterfall_table(gpus),
      placement_table(gpus),
      gpu_table("gpu_ridge_batches",
                "Tokens at the ridge: with fewer, memory is the bound",
                nested(gpus, &GpuResult::ridge_batches),
                ridge_fields(),
                {"Ridge: highest measured rate of the format over the memory's read rate. n/a: "
                 "the products stay below it at any number of tokens."}),
      gpu_table("gpu_contention",
                "A product while a resident kernel holds multiprocessors, as a collective would",
                nested(gpus, &GpuResult::contention),
                contention_fields(),
                {"Of the rate with all: per counted clock. A collective also moves data; this "
                 "kernel only holds."})};
}

std::vector<Table> summary_products(const GpuResult& gpu) {
  return {format_summary(gpu), own_products_summary(gpu)};
}

std::vector<FieldOf<RidgeBatch>> ridge_fields() {
  return {{parameter("precision", "format"), &RidgeBatch::precision},
          {parameter("layer", "products"), &RidgeBatch::layer},
          {measure("ridge", "ridge", Unit::flop_per_byte), &RidgeBatch::ridge},
          {measure("tokens", "tokens"), &RidgeBatch::tokens}};
}

std::vector<FieldOf<ContentionPoint>> contention_fields() {
  return {{parameter("precision", "format"), &ContentionPoint::precision},
          {parameter("multiprocessors", "left to the product", Unit::count),
           &ContentionPoint::multiprocessors},
          {measure("rate", "rate", Unit::flop_per_second), &ContentionPoint::rate},
          {measure("of_all", "of the rate with all", Unit::percent), &ContentionPoint::of_all},
          ColumnOf<ContentionPoint>(
              measure("of_multiprocessors", "multiprocessors left", Unit::percent),
              &ContentionPoint::of_multiprocessors),
          {measure("flop_per_clock", "FLOP per clock and SM left", Unit::plain),
           &ContentionPoint::flop_per_clock}};
}

void put_format(Fields& json, const GpuFormat& one) {
  json("precision", one.format.precision);
  json("fast_accumulation", one.format.fast_accumulation);
  json.object("steady", one.steady, put_product);
  json.object("burst", one.burst, put_product);
  json.object("best_shape", one.best_shape, put_product);
  json.object("best_burst", one.best_burst, put_product);
  json.array("by_data", one.by_data, put_product);
  json("tuning_headroom", one.tuning_headroom);
  json.object("tuned_shape", one.tuned_shape, put_shape);
  json.object("waterfall", one.waterfall, [](Fields& of, const LossWaterfall& waterfall) {
    of.members("spec_flop_per_s", waterfall.spec, "basis", waterfall.basis);
    of.array("steps", waterfall.steps, [](Fields& each, const WaterfallStep& step) {
      each.members("name", step.name, "factor", step.factor);
      each.members("change_flop_per_s", step.change, "evidence", step.evidence);
    });
    of("measured_flop_per_s", waterfall.measured);
  });
}
}  // namespace scaleworth::report
