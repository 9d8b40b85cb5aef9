// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/products.h"

#include "src/core/run/fields.h"
#include "src/model/gpu/ceilings/peak.h"
#include "src/model/gpu/reading/conditions.h"
#include "src/model/gpu/reading/point_reading.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

struct KnownFormat {
  const char* name;
  ElementBytes bytes;
};
constexpr std::array formats{KnownFormat{"fp64", {8.0, 8.0}},
                             KnownFormat{"fp32", {4.0, 4.0}},
                             KnownFormat{"tf32", {4.0, 4.0}},
                             KnownFormat{"bf16", {2.0, 2.0}},
                             KnownFormat{"fp16", {2.0, 2.0}},
                             KnownFormat{"fp8_e4m3", {1.0, 2.0}},
                             KnownFormat{"fp8_e5m2", {1.0, 2.0}},
                             KnownFormat{"fp8_block", {1.0, 2.0}},
                             KnownFormat{"int8", {1.0, 4.0}},
                             KnownFormat{"mxfp8", {1.0, 2.0}},
                             KnownFormat{"nvfp4", {0.5, 2.0}}};

bool accumulates_two_ways(const std::string& precision) {
  return precision == "fp8_e4m3" || precision == "fp8_e5m2";
}

GemmShape shape_of(const Point& point) {
  return {integer_parameter(point, fields::m),
          integer_parameter(point, fields::n),
          integer_parameter(point, fields::k),
          integer_of(point, fields::batch).value_or(1)};
}

/// As recorded, else each matrix once.
Bytes bytes_of(const Point& point, const GpuGemm& gemm) {
  const auto recorded = point.amounts.find(fields::bytes);
  if (recorded != point.amounts.end()) return Bytes(recorded->second);
  const auto element = element_bytes(gemm.precision);
  if (!element) return Bytes(0.0);
  const auto [m, n, k, batch] = gemm.shape;
  const auto count = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  return Bytes(static_cast<double>(batch) *
               (element->input * (count(m, k) + count(k, n)) + element->output * count(m, n)));
}

}  // namespace

std::optional<ElementBytes> element_bytes(const std::string& precision) {
  const auto* found = std::find_if(formats.begin(), formats.end(), [&](const KnownFormat& format) {
    return format.name == precision;
  });
  return found == formats.end() ? std::nullopt : std::optional(found->bytes);
}

std::string format_text(const std::string& precision, bool fast_accumulation) {
  if (!accumulates_two_ways(precision)) return precision;
  return precision + (fast_accumulation ? " fast" : " precise");
}

std::string product_text(const GpuGemm& gemm) {
  const auto [m, n, k, batch] = gemm.shape;
  return fmt::format("{} {} x {} x {}{}",
                     format_text(gemm.precision, gemm.fast_accumulation),
                     m,
                     n,
                     k,
                     batch == 1 ? "" : fmt::format(" x {}", batch));
}

std::optional<GpuGemm> product_of(const Point& point,
                                  const GpuIdentity& gpu,
                                  std::optional<FlopPerSecond> given) {
  const auto rate = flop_rate_of(point);
  if (!rate) return std::nullopt;
  GpuGemm gemm;
  gemm.precision = text_parameter(point, fields::precision);
  gemm.family = text_of(point, fields::family).value_or("");
  gemm.name = text_of(point, fields::name).value_or("");
  gemm.pass = text_parameter(point, fields::pass);
  gemm.shape = shape_of(point);
  gemm.library = text_of(point, fields::library).value_or("");
  gemm.algorithm = text_of(point, fields::algorithm).value_or("");
  gemm.heuristic_rank = static_cast<int>(integer_of(point, fields::heuristic_rank).value_or(0));
  gemm.workspace =
      Bytes(static_cast<double>(integer_of(point, fields::workspace_bytes).value_or(0)));
  gemm.fast_accumulation =
      accumulates_two_ways(gemm.precision) && flag_of(point, fields::fast_accumulation);
  gemm.multiprocessors = static_cast<int>(
      integer_of(point, fields::multiprocessors).value_or(gpu.multiprocessors.value_or(0)));
  gemm.regime = text_of(point, fields::regime).value_or("");
  gemm.flops = Flops(amount(point, fields::flops));
  gemm.bytes = bytes_of(point, gemm);
  gemm.rate = *rate;
  gemm.conditions = conditions_of(point);
  if (const auto peak = peak_of(gpu, gemm.precision, false, given)) {
    gemm.against = against_peak(gpu, *peak, gemm.rate, gemm.conditions.clock_hz);
  }
  if (gemm.conditions.power_from_energy && gemm.regime == regime_gap_free) {
    const double power = *gemm.conditions.power_w;
    gemm.flop_per_joule =
        transform(gemm.rate, [=](FlopPerSecond value) { return value.value() / power; });
  }
  return gemm;
}

std::vector<GpuGemm> products_of(const ProbeRecord& probe,
                                 const GpuIdentity& gpu,
                                 std::optional<FlopPerSecond> given,
                                 std::vector<std::string>& warnings) {
  std::vector<GpuGemm> products;
  for (const Point& point : probe.points) {
    std::optional<GpuGemm> gemm = product_of(point, gpu, given);
    if (!gemm) continue;
    const std::string why = gemm->against ? impossible_rate(gpu, *gemm->against) : "";
    if (why.empty()) {
      products.push_back(std::move(*gemm));
    } else {
      warnings.push_back(
          fmt::format("{} ({}) left out, it reaches {}", product_text(*gemm), gemm->pass, why));
    }
  }
  return products;
}

}  // namespace scaleworth::model
