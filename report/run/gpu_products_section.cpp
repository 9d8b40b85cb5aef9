// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"
#include "report/words.h"
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
    const std::string peak = format_quantity(against.peak, Unit::flop_per_second, 4);
    bases.push_back(peak + " (" + said(against.basis) + ")");
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
/// In the summary: the sustained products of the shown GPU.
Table product_table(const Gpus& gpus) {
  const auto of = [](auto member) { return path(&GpuGemm::against, member); };
  const auto at = [](auto member) { return path(&GpuGemm::conditions, member); };
  const auto slowdown = [](const std::pair<ClockReason, double>& reason) {
    return word_of(reason.first) + (" " + format_quantity(reason.second, Unit::percent));
  };
  const std::vector<FormatGemm> rows = measured_products(gpus);
  Table table = make_table(
      "gpu_products",
      "Library matrix products: rate, clock, power and share of the datasheet",
      rows,
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format").in_summary("Products"), &GpuFormat::format},
       {parameter("pass", "pass"), &GpuGemm::pass},
       {parameter("shape", "shape").in_summary("shape"), path(&GpuGemm::shape, shape_text)},
       {parameter("data", "data"), &GpuGemm::data},
       {measure("rate", "rate", Unit::flop_per_second).in_summary("steady"), &GpuGemm::rate},
       {measure("of_datasheet", "of datasheet", Unit::percent).in_summary("of datasheet"),
        of(&AgainstPeak::fraction)},
       {measure("of_peak_at_clock", "of peak at its clock", Unit::percent)
            .in_summary("at its clock"),
        of(&AgainstPeak::fraction_at_clock)},
       {measure("flop_per_clock", "FLOP per clock and SM").as_detail(), &GpuGemm::flop_per_clock},
       {measure("clock", "clock", Unit::hertz).with_digits(4).in_summary("clock"),
        at(&GpuConditions::clock_hz)},
       {measure("clock_ratio", "clock over datasheet's").as_detail(),
        of(&AgainstPeak::clock_ratio)},
       {measure("power", "power", Unit::watts).in_summary("power"), at(&GpuConditions::power_w)},
       {measure("temperature", "heat", Unit::celsius).as_detail(),
        at(&GpuConditions::temperature_c)},
       {measure("flop_per_joule", "energy", Unit::flop_per_joule).as_detail().in_summary("energy"),
        &GpuGemm::flop_per_joule},
       {measure("slowdown_reasons", "held down by"),
        [&](const GpuGemm& gemm) { return listed(gemm.conditions.slowdown_reasons, slowdown); }},
       {measure("algorithm", "algorithm").as_detail(), &GpuGemm::algorithm},
       {measure("library", "library").as_detail(), &GpuGemm::library}});
  const std::size_t first = first_in_bf16(rows);
  table.tiles = {{first, "rate", "Matrix products", "steady", "precision"},
                 {first, "of_datasheet", "Of the datasheet", "", "precision"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [gpu, format, gemm] = rows[i].levels;
    const bool sustained = gemm->pass == Pass::steady && gemm->data == OperandData::uniform;
    table.rows[i].in_summary = gpu == shown_gpu(gpus) && sustained;
  }
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
              {reading_note("gpu_waterfall")}};
  for (const auto& row : nested(gpus, &GpuResult::formats)) {
    const auto [gpu, format] = row.levels;
    if (!format->waterfall) continue;
    const bool leading = format->format.precision == NumberFormat::bf16;
    const bool detail = !leading && format != &gpu->formats.front();
    const Cell ordinal = as_cell(gpu->identity.ordinal);
    const std::string name = word_of(format->format);
    FlopPerSecond rate = format->waterfall->spec;
    table.rows.push_back(
        {{ordinal, name, "datasheet", {}, number(rate), said(format->waterfall->basis)}, detail});
    for (const WaterfallStep& step : format->waterfall->steps) {
      if (step.change) rate += *step.change;
      const Cell left = step.change ? Cell{number(rate)} : Cell{};
      table.rows.push_back(
          {{ordinal, name, word_of(step.name), as_cell(step.change), left, said(step.evidence)},
           detail});
    }
  }
  return table;
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
  return {product_table(gpus), waterfall_table(gpus)};
}

void put_format(Fields& json, const GpuFormat& one) {
  json("precision", one.format.precision);
  json("fast_accumulation", one.format.fast_accumulation);
  json.object("steady", one.steady, put_product);
  json.object("burst", one.burst, put_product);
  json.object("best_shape", one.best_shape, put_product);
  json.object("best_burst", one.best_burst, put_product);
  json.array("by_data", one.by_data, put_product);
  json.object("waterfall", one.waterfall, [](Fields& of, const LossWaterfall& waterfall) {
    of.members("spec_flop_per_s", waterfall.spec, "basis", said(waterfall.basis));
    of.array("steps", waterfall.steps, [](Fields& each, const WaterfallStep& step) {
      each.members("name", by_word(step.name), "factor", step.factor);
      each.members("change_flop_per_s", step.change, "evidence", said(step.evidence));
    });
    of("measured_flop_per_s", waterfall.measured);
  });
}
}  // namespace scaleworth::report
