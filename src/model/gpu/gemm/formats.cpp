// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/formats.h"

#include "src/core/statistics/ratio.h"
#include "src/model/gpu/gemm/products.h"

#include <algorithm>
#include <map>
#include <utility>

namespace scaleworth::model {
namespace {

using FormatKey = std::pair<std::string, bool>;  // precision, fast accumulation

bool is_reference(const GpuGemm& gemm) {
  return gemm.shape == GemmShape{8192, 8192, 8192, 1};
}

/// The reference cube, else the largest product.
bool stands_before(const GpuGemm& a, const GpuGemm& b) {
  if (is_reference(a) != is_reference(b)) return is_reference(a);
  return a.flops > b.flops;
}

void keep_first(std::optional<GpuGemm>& kept, const GpuGemm& gemm) {
  if (!kept || stands_before(gemm, *kept)) kept = gemm;
}

void keep_fastest(std::optional<GpuGemm>& kept, const GpuGemm& gemm) {
  if (!kept || gemm.rate.value > kept->rate.value) kept = gemm;
}

/// The library's first proposal and the fastest one, of one shape.
struct Search {
  GemmShape shape;
  Flops flops;
  std::optional<GpuGemm> first;
  std::optional<GpuGemm> best;
};

/// Per shape, from the fine pass where it timed the first proposal, else from the coarse pass.
std::vector<Search> searches_in(std::span<const GpuGemm> products, const char* pass) {
  std::vector<Search> searches;
  for (const GpuGemm& gemm : products) {
    if (gemm.pass != pass || gemm.regime != regime_gap_free) continue;
    auto found = std::find_if(searches.begin(), searches.end(), [&](const Search& search) {
      return search.shape == gemm.shape;
    });
    if (found == searches.end()) {
      searches.push_back({gemm.shape, gemm.flops, std::nullopt, std::nullopt});
      found = std::prev(searches.end());
    }
    if (gemm.heuristic_rank == 0) keep_fastest(found->first, gemm);
    keep_fastest(found->best, gemm);
  }
  std::erase_if(searches, [](const Search& search) { return !search.first; });
  return searches;
}

const Search* search_of(const std::vector<Search>& searches, const std::optional<GpuGemm>& steady) {
  const Search* chosen = nullptr;
  for (const Search& search : searches) {
    if (steady && search.shape == steady->shape) return &search;
    if (chosen == nullptr || search.flops > chosen->flops) chosen = &search;
  }
  return chosen;
}

void add_headroom(std::span<const GpuGemm> products, GpuFormat& format) {
  for (const char* pass : {pass_fine, pass_coarse}) {
    const std::vector<Search> searches = searches_in(products, pass);
    const Search* search = search_of(searches, format.steady);
    if (search == nullptr) continue;
    format.tuned_shape = search->shape;
    format.tuning_headroom = ratio(search->best->rate, search->first->rate);
    if (search->best->heuristic_rank == 0) format.tuning_headroom = Estimate<double>{1.0, {}, 0};
    return;
  }
}

GpuFormat format_of(const FormatKey& key, std::span<const GpuGemm> products) {
  GpuFormat format;
  format.precision = key.first;
  format.fast_accumulation = key.second;
  for (const GpuGemm& gemm : products) {
    if (gemm.pass == pass_steady) keep_first(format.steady, gemm);
    if (gemm.pass == pass_burst) keep_first(format.burst, gemm);
    if (gemm.pass == pass_duty_cycled) keep_fastest(format.best_shape, gemm);
  }
  add_headroom(products, format);
  return format;
}

FlopPerSecond rank_of(const GpuFormat& format) {
  if (format.steady) return format.steady->rate.value;
  return format.best_shape ? format.best_shape->rate.value : FlopPerSecond(0.0);
}

}  // namespace

std::vector<GpuFormat> formats_of(std::span<const GpuGemm> products,
                                  const OtherProbes& others,
                                  const GpuIdentity& gpu) {
  std::map<FormatKey, std::vector<GpuGemm>> by_format;
  for (const GpuGemm& gemm : products) {
    if (gemm.family == family_own) continue;
    by_format[{gemm.precision, gemm.fast_accumulation}].push_back(gemm);
  }
  std::vector<GpuFormat> formats;
  for (const auto& [key, group] : by_format) {
    GpuFormat format = format_of(key, group);
    if (format.steady && format.steady->against) {
      format.waterfall =
          loss_waterfall(evidence_for(*format.steady, format.best_shape, others, gpu));
    }
    formats.push_back(std::move(format));
  }
  std::stable_sort(formats.begin(), formats.end(), [](const GpuFormat& a, const GpuFormat& b) {
    return rank_of(a) > rank_of(b);
  });
  return formats;
}

}  // namespace scaleworth::model
