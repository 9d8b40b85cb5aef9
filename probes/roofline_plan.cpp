// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline.h"

#include <cmath>

namespace scaleworth::probes {
Flops gemm_flops(const GemmWork& work) {
  const double c_elements =
      static_cast<double>(work.m) * static_cast<double>(work.n) * static_cast<double>(work.batch);
  return Flops(2.0 * c_elements * static_cast<double>(work.k));
}

Bytes gemm_footprint(const GemmWork& work) {
  const double m = static_cast<double>(work.m);
  const double n = static_cast<double>(work.n);
  const double k = static_cast<double>(work.k);
  return Bytes((m * k + k * n + m * n) * element_bytes(work.precision) *
               static_cast<double>(work.batch));
}

std::int64_t whole_bytes(Bytes bytes) {
  return std::llround(bytes.value());
}

namespace {
constexpr double smallest_set = 4096.0;    // a page; far below L1 the loop's overhead would show
constexpr double cache_multiple = 4.0;     // as memory_multiple of the analysis
constexpr double available_share = 0.125;  // of memory, all workers together
constexpr double largest_total = 16.0 * gibibyte;    // caches beyond 4 GiB are not seen whole
constexpr double nontemporal_from = 4.0 * mebibyte;  // beyond the L2 cache of one core

double wished_total(const PlanInputs& setting) {
  return std::min(cache_multiple * setting.last_cache.value(), largest_total);
}

double whole_kibibytes(double bytes) {
  return std::max(smallest_set, std::floor(bytes / 1024.0) * 1024.0);
}

// Of batches of small products: beyond L2, so that operands come from where a layer's would;
// presumed.
constexpr double batched_operands_bytes = 32.0 * mebibyte;

/// The grids of one suite. `layer` is n = k of "tokens"; `face` is m = n of "rank-k".
struct Grids {
  std::vector<std::int64_t> squares;
  std::vector<std::int64_t> tokens;
  std::int64_t layer = 0;
  std::vector<std::int64_t> ranks;
  std::int64_t face = 0;
  std::vector<std::int64_t> batched;
};

Grids grids(Suite suite) {
  if (suite == Suite::quick) {
    // Every family from where overhead decides to the best rate, in factors that a chart shows;
    // fewer and smaller in the quick suite, for time. Presumed.
    return {{128, 512, 1024}, {1, 16, 256}, 1024, {4, 32}, 1024, {32}};
  }
  return {{64, 128, 256, 512, 1024, 2048},
          {1, 4, 16, 64, 256, 1024},
          2048,
          {2, 8, 32, 128, 512},
          1024,
          {16, 32, 64, 128}};
}

/// A whole number of products per worker, at least one.
std::int64_t batch_for(std::int64_t side, NumberFormat precision, int workers) {
  const double one = 3.0 * static_cast<double>(side * side) * element_bytes(precision);
  const double per_worker = batched_operands_bytes / one / workers;
  return std::max<std::int64_t>(1, std::llround(per_worker)) * workers;
}

/// The families for one precision and worker count; the batched one goes to the front.
std::vector<GemmShape> families(const Grids& grid, NumberFormat precision, int workers) {
  std::vector<GemmShape> shapes;
  const auto add = [&](ProductFamily family, std::int64_t m, std::int64_t n, std::int64_t k) {
    shapes.push_back({family, {precision, m, n, k, 1, workers}});
  };
  for (const std::int64_t side : grid.batched) {
    const std::int64_t batch = batch_for(side, precision, workers);
    shapes.push_back({ProductFamily::batched, {precision, side, side, side, batch, workers}});
  }
  for (const std::int64_t side : grid.squares) add(ProductFamily::square, side, side, side);
  for (const std::int64_t tokens : grid.tokens)
    add(ProductFamily::tokens, tokens, grid.layer, grid.layer);
  for (const std::int64_t rank : grid.ranks) add(ProductFamily::rank_k, grid.face, grid.face, rank);
  return shapes;
}

std::vector<GemmShape> all_shapes(const PlanInputs& setting) {
  const Grids grid = grids(setting.suite);
  std::mt19937 random(1);
  std::vector<GemmShape> plan;
  for (const int workers : worker_counts(setting)) {
    std::vector<GemmShape> group = families(grid, NumberFormat::fp32, workers);
    for (GemmShape& shape : families(grid, NumberFormat::fp64, workers)) group.push_back(shape);
    std::shuffle(group.begin(), group.end(), random);
    std::stable_partition(group.begin(), group.end(), [](const GemmShape& s) {
      return s.family == ProductFamily::batched;
    });
    plan.insert(plan.end(), group.begin(), group.end());
  }
  return plan;
}

/// One operation at round rates of a server core with AVX2 to AVX-512 and of its memory.
Seconds operation_time(const GemmWork& work) {
  const FlopPerSecond rate(work.precision == NumberFormat::fp32 ? 120e9 : 60e9);  // for estimates
  return std::max(gemm_flops(work) / (effective_workers(work.workers) * rate),
                  gemm_footprint(work) / sweep_rate(work.workers));
}
}  // namespace

std::vector<int> worker_counts(const PlanInputs& setting) {
  if (setting.workers <= 1) return {1};
  return {1, setting.workers};
}

std::vector<Bytes> working_sets(const PlanInputs& setting, int workers) {
  const double memory = available_share * setting.available_memory.value() / workers;
  const double largest = whole_kibibytes(std::min(wished_total(setting) / workers, memory));
  const double factor = setting.suite == Suite::quick ? std::sqrt(8.0) : std::cbrt(4.0);
  return geometric(
      smallest_set, largest, factor, [](double set) { return Bytes(whole_kibibytes(set)); });
}

std::optional<Finding> memory_shortage(const PlanInputs& setting, int workers) {
  const double wished = wished_total(setting) / workers;
  const double largest = working_sets(setting, workers).back().value();
  if (largest >= whole_kibibytes(wished)) return std::nullopt;
  return Finding(FindingId::working_sets_left_out,
                 workers,
                 largest / mebibyte,
                 wished / mebibyte,
                 cache_multiple,
                 setting.available_memory.value() / mebibyte);
}

std::vector<MemoryWork> memory_plan(const PlanInputs& setting) {
  std::vector<MemoryWork> works;
  for (const int workers : worker_counts(setting)) {
    for (const Bytes set : working_sets(setting, workers)) {
      works.push_back({MemoryKernel::read, set, workers, false});
      for (const auto kernel : {MemoryKernel::write, MemoryKernel::copy, MemoryKernel::triad}) {
        works.push_back({kernel, set, workers, false});
        if (set.value() >= nontemporal_from) works.push_back({kernel, set, workers, true});
      }
    }
  }
  in_random_order(works);
  // Read and write have all of it in one array: they make the machine touch all that is needed.
  std::stable_partition(works.begin(), works.end(), [&](const MemoryWork& work) {
    const bool one_array = work.kernel == MemoryKernel::read || work.kernel == MemoryKernel::write;
    return one_array && work.working_set == working_sets(setting, work.workers).back();
  });
  return works;
}

std::vector<LatencyWork> latency_plan(const PlanInputs& setting) {
  std::vector<LatencyWork> works;
  for (const Bytes set : working_sets(setting, 1)) works.push_back({set});
  in_random_order(works);
  std::stable_partition(works.begin(), works.end(), [&](const LatencyWork& work) {
    return work.working_set == working_sets(setting, 1).back();
  });
  return works;
}

std::vector<FmaWork> compute_plan(const PlanInputs& setting, const std::vector<std::string>& isas) {
  std::vector<FmaWork> works;
  for (const int workers : worker_counts(setting)) {
    for (const std::string& isa : isas) {
      works.push_back({isa, NumberFormat::fp32, workers});
      works.push_back({isa, NumberFormat::fp64, workers});
    }
  }
  return works;
}

std::vector<GemmShape> gemm_plan(const PlanInputs& setting) {
  std::vector<GemmShape> plan = all_shapes(setting);
  std::erase_if(plan, [&](const GemmShape& s) {
    return gemm_footprint(s.work) > setting.available_memory / 4.0;
  });
  return plan;
}

std::size_t gemm_shapes_left_out(const PlanInputs& setting) {
  return all_shapes(setting).size() - gemm_plan(setting).size();
}

Seconds gemm_time(const GemmWork& work, const Pace& pace) {
  // Random numbers into fresh pages; one calibrating run; a reference of four rows and four
  // columns of up to three products.
  const Seconds fill(gemm_footprint(work).value() / element_bytes(work.precision) * 3e-9);
  const double checked = static_cast<double>(std::min<std::int64_t>(work.batch, 3)) * 4.0 *
                         static_cast<double>((work.m + work.n) * work.k);
  const Seconds check(checked * 1.5e-9);  // s for each number, on one core
  // The stopping rule gives these up at four times the budget, after one sample at least.
  const Seconds samples = static_cast<double>(fewest_samples) * operation_time(work);
  return fill + check + operation_time(work) +
         std::max(operation_time(work),
                  std::clamp(samples, time_per_setting(pace), 4.0 * pace.budget));
}
}  // namespace scaleworth::probes
