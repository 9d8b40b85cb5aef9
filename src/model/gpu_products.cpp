// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/gpu.h"

#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace scaleworth::model {
namespace {
bool accumulates_two_ways(NumberFormat precision) {
  return precision == NumberFormat::fp8_e4m3 || precision == NumberFormat::fp8_e5m2;
}

/// As recorded, else each matrix once.
Bytes bytes_of(const Point& point, const GpuGemm& gemm) {
  if (const auto recorded = amount_of(point, Metric::bytes)) return Bytes(*recorded);
  const NumberFormat format = gemm.format.precision;
  const auto [m, n, k, batch] = gemm.shape;
  const auto count = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  return Bytes(static_cast<double>(batch) * (element_bytes(format) * (count(m, k) + count(k, n)) +
                                             output_element_bytes(format) * count(m, n)));
}

/// Absent without samples.
std::optional<GpuGemm> product_of(const Point& point, const GpuIdentity& gpu) {
  const auto rate = rate_of(point, Metric::flops);
  if (!rate) return std::nullopt;
  GpuGemm gemm;
  const auto precision = symbol_parameter<NumberFormat>(point, Parameter::precision);
  gemm.format = {
      precision,
      accumulates_two_ways(precision) && point.setting.flag(Parameter::fast_accumulation)};
  gemm.family = point.setting.symbol<ProductFamily>(Parameter::family);
  gemm.name = point.setting.text(Parameter::name);
  gemm.pass = symbol_parameter<Pass>(point, Parameter::pass);
  gemm.shape = {integer_parameter(point, Parameter::m),
                integer_parameter(point, Parameter::n),
                integer_parameter(point, Parameter::k),
                point.setting.count(Parameter::batch).value_or(1)};
  gemm.library = point.setting.text(Parameter::library);
  gemm.algorithm = point.setting.text(Parameter::recipe);
  const auto tile_m = point.setting.count(Parameter::tile_m);
  const auto tile_n = point.setting.count(Parameter::tile_n);
  if (tile_m && tile_n) gemm.tile = GemmShape{*tile_m, *tile_n};
  gemm.heuristic_rank =
      static_cast<int>(point.setting.count(Parameter::heuristic_rank).value_or(0));
  gemm.workspace =
      Bytes(static_cast<double>(point.setting.count(Parameter::workspace_bytes).value_or(0)));
  gemm.multiprocessors = static_cast<int>(
      point.setting.count(Parameter::multiprocessors).value_or(gpu.multiprocessors.value_or(0)));
  gemm.data = point.setting.symbol<OperandData>(Parameter::data).value_or(OperandData::uniform);
  gemm.flops = Flops(amount(point, Metric::flops));
  gemm.bytes = bytes_of(point, gemm);
  gemm.rate = as<FlopPerSecond>(*rate);
  gemm.conditions = conditions_of(point);
  gemm.against = against_peak(gpu, precision, false, gemm.rate, gemm.conditions.clock_hz);
  const auto per = [&](double amount) {
    return transform(gemm.rate, [=](FlopPerSecond value) { return value.value() / amount; });
  };
  if (gemm.conditions.power_from_energy) gemm.flop_per_joule = per(*gemm.conditions.power_w);
  const double clocks = gemm.conditions.clock_hz.value_or(0.0) * gemm.multiprocessors;
  if (clocks > 0.0) gemm.flop_per_clock = per(clocks);
  return gemm;
}

template <class Rank>
void keep_greatest(std::optional<GpuGemm>& kept, const GpuGemm& gemm, const Rank& rank) {
  if (!kept || rank(gemm) > rank(*kept)) kept = gemm;
}

/// The reference cube, else the largest product.
std::pair<bool, Flops> by_work(const GpuGemm& gemm) {
  // As probes/gpu/gemm_probe.cpp measures it on every GPU.
  return {gemm.shape == GemmShape{8192, 8192, 8192, 1}, gemm.flops};
}

FlopPerSecond by_rate(const GpuGemm& gemm) {
  return gemm.rate.value;
}

GpuFormat format_of(std::span<const GpuGemm> products) {
  GpuFormat format;
  format.format = products.front().format;
  for (const GpuGemm& gemm : products) {
    const bool steady = gemm.pass == Pass::steady;
    if (!steady && gemm.pass != Pass::burst) continue;
    if (gemm.data != OperandData::uniform) {
      format.by_data.push_back(gemm);
    } else if (gemm.family == ProductFamily::search) {
      keep_greatest(steady ? format.best_shape : format.best_burst, gemm, by_rate);
    } else {
      keep_greatest(steady ? format.steady : format.burst, gemm, by_work);
    }
  }
  return format;
}

FlopPerSecond rank_of(const GpuFormat& format) {
  if (format.steady) return format.steady->rate.value;
  return format.best_shape ? format.best_shape->rate.value : FlopPerSecond(0.0);
}

auto work_of(const GpuGemm& gemm) {
  return std::tie(gemm.format, gemm.family, gemm.name, gemm.shape);
}

bool is_sustained(const GpuGemm& gemm) {
  return gemm.pass == Pass::steady && gemm.data == OperandData::uniform;
}

/// One product per work.
std::vector<GpuGemm> reported_products(std::span<const GpuGemm> products) {
  std::vector<GpuGemm> distinct;
  for (const GpuGemm& gemm : products) {
    if (!is_sustained(gemm) || std::ranges::count(distinct, work_of(gemm), work_of) > 0) continue;
    distinct.push_back(gemm);
  }
  return distinct;
}

std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole - 1) / part + 1;
}
}  // namespace

std::string word_of(const ProductFormat& format) {
  const std::string precision = word_of(format.precision);
  if (!accumulates_two_ways(format.precision)) return precision;
  return precision + (format.fast_accumulation ? " fast" : " precise");
}

std::string product_text(const GpuGemm& gemm) {
  const auto [m, n, k, batch] = gemm.shape;
  return fmt::format("{} {} x {} x {}{}",
                     word_of(gemm.format),
                     m,
                     n,
                     k,
                     batch == 1 ? "" : fmt::format(" x {}", batch));
}

std::vector<GpuGemm> products_of(const ProbeRecord& probe,
                                 const GpuIdentity& gpu,
                                 std::vector<Finding>& warnings) {
  std::vector<GpuGemm> products;
  for (const Point& point : probe.points) {
    std::optional<GpuGemm> gemm = product_of(point, gpu);
    if (!gemm) continue;
    const auto why = gemm->against ? impossible_rate(gpu, *gemm->against) : std::nullopt;
    if (why)
      warnings.emplace_back(
          FindingId::product_above_clock, product_text(*gemm), word_of(gemm->pass), *why);
    else
      products.push_back(std::move(*gemm));
  }
  return products;
}

std::vector<GpuFormat> formats_of(std::span<const GpuGemm> products, const GpuResult& gpu) {
  std::map<std::pair<ByWord<NumberFormat>, bool>, std::vector<GpuGemm>> by_format;
  for (const GpuGemm& gemm : products) {
    if (gemm.family == ProductFamily::own) continue;
    by_format[{{gemm.format.precision}, gemm.format.fast_accumulation}].push_back(gemm);
  }
  std::vector<GpuFormat> formats;
  for (const auto& [key, group] : by_format) {
    GpuFormat format = format_of(group);
    if (format.steady && format.steady->against) {
      format.waterfall = loss_waterfall(evidence_for(*format.steady, format.best_shape, gpu));
    }
    formats.push_back(std::move(format));
  }
  std::ranges::stable_sort(formats, std::greater{}, rank_of);
  return formats;
}

std::optional<FlopPerSecond> measured_ceiling(std::span<const GpuGemm> products,
                                              std::span<const ComputeCeiling> ceilings,
                                              NumberFormat precision) {
  std::optional<FlopPerSecond> best;
  const auto take = [&](FlopPerSecond rate) { best = best ? std::max(*best, rate) : rate; };
  bool searched = false;
  std::optional<FlopPerSecond> datasheet;
  for (const GpuGemm& gemm : products) {
    if (gemm.format.precision != precision || !is_sustained(gemm)) continue;
    take(gemm.rate.value);
    searched = searched || gemm.family != ProductFamily::own;
    if (gemm.against) datasheet = gemm.against->peak;
  }
  if (!searched && datasheet) take(*datasheet);
  const bool by_cuda_cores = precision == NumberFormat::fp32 || precision == NumberFormat::fp64;
  for (const ComputeCeiling& ceiling : ceilings) {
    if (ceiling.precision == precision && by_cuda_cores) take(ceiling.wall_rate.value);
  }
  return best;
}

void place_products(std::span<const GpuGemm> products, GpuResult& result) {
  const Bytes beyond_l2 = result.identity.l2_cache.value_or(Bytes(0.0)) * 2.0;
  for (const GpuGemm& gemm : reported_products(products)) {
    const auto ceiling =
        measured_ceiling(products, result.roofline.ceilings, gemm.format.precision);
    if (!ceiling || !(gemm.bytes.value() > 0.0)) continue;
    PlacedGemm product;
    product.family = gemm.family;
    product.format = gemm.format;
    product.library = gemm.library;
    product.shape = gemm.shape;
    product.intensity = gemm.flops / gemm.bytes;
    product.rate = gemm.rate;
    product.name = gemm.name;
    if (gemm.against) product.of_datasheet = gemm.against->fraction.value;
    place_under(*ceiling, result.roofline.memory, std::max(gemm.bytes, beyond_l2), product);
    result.roofline.gemms.push_back(std::move(product));
  }
}

Tile tile_of(const GpuGemm& gemm) {
  return gemm.tile && gemm.tile->m > 0 && gemm.tile->n > 0 ? Tile{gemm.tile->m, gemm.tile->n, true}
                                                           : Tile{};
}

double wave_efficiency(const GemmShape& shape, const Tile& tile, int multiprocessors) {
  require(shape.m > 0 && shape.n > 0 && shape.batch > 0 && tile.m > 0 && tile.n > 0 &&
              multiprocessors > 0,
          "waves of tiles need positive sides, tiles and multiprocessors");
  const double tiles = static_cast<double>(parts(shape.m, tile.m)) *
                       static_cast<double>(parts(shape.n, tile.n)) *
                       static_cast<double>(shape.batch);
  const double waves = tiles / multiprocessors;
  return waves / std::ceil(waves);
}

}  // namespace scaleworth::model
