// SPDX-License-Identifier: Apache-2.0
/// Our FMA and stream kernels beside likwid-bench's, in turn, in one run:
///   likwid_compare [ROUNDS [TEXT]]     only rows whose likwid name or size contains TEXT
/// Rows print the best and the median rate of each side over the rounds and the ratio of the bests:
/// other programs on the machine only ever slow a round down, so the bests are comparable.
#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/memory.h"
#include "probes/host/workers.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace scaleworth;
using namespace scaleworth::probes;

constexpr double round_s = 0.15;
constexpr Target round_target{.minimum_samples = 10, .time_budget = Seconds(round_s)};

struct Row {
  std::string likwid;  // test name
  std::string unit;    // "MFlops/s" or "MByte/s", as likwid-bench prints
  std::int64_t set_bytes = 0;
  int workers = 1;
  std::optional<FmaWork> fma;
  std::optional<MemoryWork> memory;
};

/// The rate that likwid-bench prints for about `round_s` of the test, absent if it did not run.
std::optional<double> run_likwid(const Row& row, std::int64_t iterations) {
  const std::string command = fmt::format("likwid-bench -t {} -i {} -W N:{}B:{} 2>/dev/null",
                                          row.likwid,
                                          std::max<std::int64_t>(iterations, 1),
                                          row.set_bytes * row.workers,
                                          row.workers);
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::optional<double> rate;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text = line;
    if (text.starts_with(row.unit + ":")) rate = std::atof(text.c_str() + row.unit.size() + 1);
  }
  pclose(pipe);
  return rate;
}

struct Ours {
  std::vector<double> rates;  // per sample, in likwid's unit
  double pass_s = 0.0;        // time of one pass over the set
};

Ours run_ours(const Row& row, host::ArrayPool& pool) {
  const Measured measured = row.fma ? host::time_fma(*row.fma, round_target)
                                    : host::time_memory(*row.memory, round_target, pool);
  const double amount = row.fma ? measured.flops.value() : measured.bytes.value();
  Ours ours;
  for (const double wall : measured.samples.wall_s) ours.rates.push_back(amount / wall * 1e-6);
  ours.pass_s = median(measured.samples.wall_s).value_or(1.0);
  // likwid's flop kernels do 15 or 16 FMAs per element of their set; a guess is enough here.
  if (row.fma) {
    ours.pass_s *= 30.0 * static_cast<double>(row.set_bytes) / 8.0 * row.workers / amount;
  }
  return ours;
}

void compare(const Row& row, int rounds, host::ArrayPool& pool) {
  std::vector<double> likwid;
  std::vector<double> ours;
  for (int round = 0; round < rounds; ++round) {
    const Ours measured = run_ours(row, pool);
    // The best of the round's samples would flatter us: likwid gives one rate per round.
    ours.push_back(median(measured.rates).value_or(0.0));
    if (const auto rate = run_likwid(row, std::llround(round_s / measured.pass_s))) {
      likwid.push_back(*rate);
    }
  }
  const double best = *std::ranges::max_element(ours);
  fmt::print("{:24} {:>10} KiB x {} {:9.0f} {:9.0f}",
             row.likwid,
             row.set_bytes >> 10,
             row.workers,
             best,
             median(ours).value_or(0.0));
  if (likwid.empty()) {
    fmt::print("  likwid-bench did not run\n");
    return;
  }
  const double likwid_best = *std::ranges::max_element(likwid);
  fmt::print(
      " {:9.0f} {:9.0f} {:7.3f}\n", likwid_best, median(likwid).value_or(0.0), best / likwid_best);
  std::fflush(stdout);
}

std::vector<Row> fma_rows(int workers) {
  const std::map<std::string, std::string> suffix{
      {"sse2", "sse"}, {"avx2", "avx_fma"}, {"avx512", "avx512_fma"}};
  std::vector<Row> rows;
  for (const std::string& isa : host::host_isas()) {
    if (!suffix.contains(isa)) continue;
    for (const NumberFormat precision : {NumberFormat::fp32, NumberFormat::fp64}) {
      rows.push_back({.likwid = (precision == NumberFormat::fp32 ? "peakflops_sp_" : "peakflops_") +
                                suffix.at(isa),
                      .unit = "MFlops/s",
                      .set_bytes = 16 << 10,
                      .workers = workers,
                      .fma = FmaWork{isa, precision, workers},
                      .memory = {}});
    }
  }
  return rows;
}

std::vector<Row> memory_rows(std::int64_t set_bytes, int workers) {
  const std::string widest = host::host_isas().back();
  const std::string isa = widest == "avx512" ? "avx512" : widest == "avx2" ? "avx" : "sse";
  const auto row = [&](const std::string& likwid, MemoryKernel kernel, bool nontemporal) {
    return Row{
        .likwid = likwid + "_" + isa,
        .unit = "MByte/s",
        .set_bytes = set_bytes,
        .workers = workers,
        .fma = {},
        .memory = MemoryWork{kernel, Bytes(static_cast<double>(set_bytes)), workers, nontemporal}};
  };
  std::vector<Row> rows{row("sum", MemoryKernel::read, false),
                        row("store", MemoryKernel::write, false),
                        row("copy", MemoryKernel::copy, false),
                        row("stream", MemoryKernel::triad, false)};
  if (set_bytes >= 4 << 20) {
    rows.push_back(row("store_mem", MemoryKernel::write, true));
    rows.push_back(row("copy_mem", MemoryKernel::copy, true));
    rows.push_back(row("stream_mem", MemoryKernel::triad, true));
  }
  return rows;
}

}  // namespace

int main(int count, char** arguments) try {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
  const std::string text = count > 2 ? arguments[2] : "";
  const int all = static_cast<int>(host::worker_cpus().size());
  std::vector<Row> rows;
  for (const int workers : all > 1 ? std::vector{1, all} : std::vector{1}) {
    std::ranges::move(fma_rows(workers), std::back_inserter(rows));
    for (const std::int64_t kib : {24, 768, 16 << 10, 768 << 10}) {
      std::ranges::move(memory_rows(kib << 10, workers), std::back_inserter(rows));
    }
  }
  fmt::print("{:24} {:>18} {:>9} {:>9} {:>9} {:>9} {:>7}\n{:43} (MFlop/s or MByte/s)\n",
             "likwid-bench test",
             "set per worker",
             "ours best",
             "median",
             "likwid",
             "median",
             "ratio",
             "");
  host::ArrayPool pool;
  for (const Row& row : rows) {
    const std::string name = fmt::format("{} {} {}", row.likwid, row.set_bytes >> 10, row.workers);
    if (name.find(text) != std::string::npos) compare(row, rounds, pool);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "likwid_compare: {}\n", error.what());
  return 1;
}
