// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/node/together.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"
#include "src/core/statistics/ratio.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/gpu/reading/point_reading.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double enough_explained = 0.8;
constexpr double lower_limit = 0.97;
constexpr double more_often = 0.2;
constexpr double hotter_c = 8.0;

/// A figure of one GPU beside the median of the others'.
struct Beside {
  double own = 0.0;
  double others = 0.0;
};

template <class Figure>
std::optional<Beside> beside_others(const std::vector<GpuPace>& paces,
                                    std::size_t index,
                                    const Figure& figure) {
  const std::optional<double> own = figure(paces[index]);
  std::vector<double> others;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const std::optional<double> other = figure(paces[i]);
    if (i != index && other) others.push_back(*other);
  }
  if (!own || others.empty()) return std::nullopt;
  return Beside{*own, *median(others)};
}

/// The one whose rate is the middle one (of an even number the lower), with its interval.
const Estimate<FlopPerSecond>& middle_of(std::vector<const GpuPace*> others) {
  std::sort(others.begin(), others.end(), [](const GpuPace* a, const GpuPace* b) {
    return a->together.value < b->together.value;
  });
  return others[(others.size() - 1) / 2]->together;
}

std::string limit_difference(const std::vector<GpuPace>& paces,
                             std::size_t index,
                             const std::map<int, GpuIdentity>& identities) {
  const auto limits = beside_others(paces, index, [&](const GpuPace& pace) {
    const auto found = identities.find(pace.ordinal);
    return found == identities.end() ? std::nullopt : found->second.power_limit_w;
  });
  if (!limits || limits->own >= lower_limit * limits->others) return "";
  return fmt::format(
      "its power limit is {:.0f} W, the others' {:.0f} W", limits->own, limits->others);
}

std::string reason_difference(const std::vector<GpuPace>& paces, std::size_t index) {
  for (const auto& [reason, share] : paces[index].conditions.slowdown_reasons) {
    const auto shares = beside_others(
        paces, index, [&, name = reason](const GpuPace& pace) -> std::optional<double> {
          for (const auto& [other, value] : pace.conditions.slowdown_reasons) {
            if (other == name) return value;
          }
          return 0.0;
        });
    if (!shares || shares->own < shares->others + more_often) continue;
    return fmt::format("{} in {:.0f} % of the readings, the others {:.0f} %",
                       reason,
                       100.0 * share,
                       100.0 * shares->others);
  }
  return "";
}

std::string heat_difference(const std::vector<GpuPace>& paces, std::size_t index) {
  const auto heat = beside_others(
      paces, index, [](const GpuPace& pace) { return pace.conditions.temperature_c; });
  if (!heat || heat->own < heat->others + hotter_c) return "";
  return fmt::format("it is at {:.0f} C, the others at {:.0f} C", heat->own, heat->others);
}

/// The clock that explains the loss and what explains the clock; empty when the clock does not.
std::string cause_of(const std::vector<GpuPace>& paces,
                     std::size_t index,
                     const std::map<int, GpuIdentity>& identities) {
  const auto clocks =
      beside_others(paces, index, [](const GpuPace& pace) { return pace.conditions.clock_hz; });
  if (!clocks || !(clocks->own < clocks->others)) return "";
  const double explained =
      std::log(clocks->own / clocks->others) / std::log(paces[index].of_others->value);
  if (explained < enough_explained) return "";
  std::string text = fmt::format(
      "it runs at {:.0f} MHz, the others at {:.0f} MHz", clocks->own * 1e-6, clocks->others * 1e-6);
  for (const std::string& why : {limit_difference(paces, index, identities),
                                 reason_difference(paces, index),
                                 heat_difference(paces, index)}) {
    if (!why.empty()) text += "; " + why;
  }
  return text;
}

/// GPUs of one model.
void judge(std::vector<GpuPace>& paces, const std::map<int, GpuIdentity>& identities) {
  if (paces.size() < 2) return;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    std::vector<const GpuPace*> others;
    for (std::size_t j = 0; j < paces.size(); ++j) {
      if (j != i) others.push_back(&paces[j]);
    }
    GpuPace& pace = paces[i];
    const Estimate<double> share = ratio(pace.together, middle_of(others));
    pace.slow = (share.interval ? share.interval->high : share.value) < 1.0 - normal_spread;
    pace.of_others = share;
  }
  for (std::size_t i = 0; i < paces.size(); ++i) {
    if (paces[i].slow) paces[i].cause = cause_of(paces, i, identities);
  }
}

std::optional<GpuPace> pace_of(const std::vector<GpuGemm>& products,
                               const GpuIdentity& gpu,
                               std::string& precision) {
  std::optional<GpuPace> pace;
  for (const GpuGemm& gemm : products) {
    if (gemm.pass != "together") continue;
    pace = GpuPace{};
    pace->ordinal = gpu.ordinal;
    pace->together = gemm.rate;
    pace->conditions = gemm.conditions;
    precision = gemm.precision;
  }
  for (const GpuGemm& gemm : products) {
    if (!pace || gemm.pass != "alone") continue;
    pace->alone = gemm.rate;
    pace->of_alone = ratio(pace->together, gemm.rate);
  }
  return pace;
}

}  // namespace

std::optional<GpusTogether> compare_gpus(const Run& run,
                                         const std::vector<GpuResult>& gpus,
                                         std::optional<FlopPerSecond> given) {
  GpusTogether result;
  std::map<int, GpuIdentity> identities;
  std::map<std::string, std::vector<GpuPace>> by_model;
  for (const GpuResult& gpu : gpus) {
    std::vector<std::string> told_elsewhere;
    const auto products =
        products_of(points_of_gpu(run, fields::gpu_together, gpu.identity.ordinal),
                    gpu.identity,
                    given,
                    told_elsewhere);
    const auto pace = pace_of(products, gpu.identity, result.precision);
    identities[gpu.identity.ordinal] = gpu.identity;
    if (pace) by_model[gpu.identity.name].push_back(*pace);
  }
  for (auto& [model, paces] : by_model) {
    judge(paces, identities);
    result.paces.insert(result.paces.end(), paces.begin(), paces.end());
  }
  if (result.paces.size() < 2) return std::nullopt;
  std::sort(result.paces.begin(), result.paces.end(), [](const GpuPace& a, const GpuPace& b) {
    return a.ordinal < b.ordinal;
  });
  const auto [slowest, fastest] = std::minmax_element(
      result.paces.begin(), result.paces.end(), [](const GpuPace& a, const GpuPace& b) {
        return a.together.value < b.together.value;
      });
  result.slowest = slowest->ordinal;
  result.spread = 1.0 - slowest->together.value / fastest->together.value;
  return result;
}

}  // namespace scaleworth::model
