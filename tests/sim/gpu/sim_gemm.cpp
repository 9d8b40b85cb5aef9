// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/sim_gemm.h"

#include "probes/gpu/gemm.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace scaleworth::sim {
namespace {

constexpr double open_s = 0.1;
constexpr double load_s = 0.01;
constexpr double verify_s = 0.05;
constexpr double batch_s = 0.02;

double wave_efficiency(const probes::GemmProblem& problem, int multiprocessors) {
  const double tiles = std::ceil(static_cast<double>(problem.m) / 128.0) *
                       std::ceil(static_cast<double>(problem.n) / 256.0) *
                       static_cast<double>(problem.batch);
  const double waves = tiles / multiprocessors;
  return waves / std::ceil(waves);
}

}  // namespace

double true_gemm_time(const probes::DeviceDescription& device,
                      const probes::GemmProblem& problem,
                      const GemmTruth& truth,
                      int rank,
                      double clock_hz) {
  const int multiprocessors = device.multiprocessors;
  const double peak = truth.flops_per_clock * multiprocessors * clock_hz;
  if (rank == truth.too_fast_algorithm) return probes::gemm_flops(problem).value() / (2.0 * peak);
  const double lost = truth.efficiency_step * std::abs(rank - truth.best_algorithm);
  double efficiency = truth.best_efficiency * std::max(0.2, 1.0 - lost);
  if (rank == truth.wrong_algorithm) efficiency = 1.03 * truth.best_efficiency;
  const auto k = static_cast<double>(problem.k);
  efficiency *= k / (k + truth.start_k) / (1.0 + k / truth.long_k);
  return probes::gemm_flops(problem).value() /
         (peak * efficiency * wave_efficiency(problem, multiprocessors));
}

SimGemmSession::SimGemmSession(const probes::DeviceDescription& device,
                               const probes::GemmProblem& problem,
                               const GemmTruth& truth,
                               std::shared_ptr<GpuUse> use)
    : device_(device), problem_(problem), truth_(truth), use_(std::move(use)), noise_(truth.noise) {
  use_->elapsed_s += open_s;
  ++use_->opened;
}

std::vector<probes::GemmCandidate> SimGemmSession::candidates(int wanted, Bytes workspace) {
  std::vector<probes::GemmCandidate> all;
  if (truth_.unsupported.contains(problem_.input)) return all;
  for (int rank = 0; rank < std::min(wanted, truth_.algorithms); ++rank) {
    all.push_back({rank, "algorithm " + std::to_string(rank), std::min(workspace, Bytes(1e6))});
  }
  return all;
}

void SimGemmSession::verify(const probes::GemmCandidate& candidate) {
  use_->elapsed_s += verify_s;
  if (candidate.heuristic_rank == truth_.wrong_algorithm) {
    throw ProbeFailure("row 17, column 5: 12.5 instead of 12.25");
  }
}

/// Zeros draw so little power that the clock stays where it was.
double SimGemmSession::clock_hz() const {
  const ClockTruth& clock = truth_.clock;
  if (data_ == OperandData::zero) return clock.burst_hz;
  const double share = data_ == OperandData::normal ? clock.normal_share : 1.0;
  const double settled = share * clock.settled_hz;
  return settled + (clock.burst_hz - settled) * std::exp(-use_->heat_s / clock.time_constant_s);
}

probes::DeviceMeasured SimGemmSession::time(const probes::GemmCandidate& candidate,
                                            const probes::GemmPace& pace) {
  const int rank = candidate.heuristic_rank;
  if (rank == truth_.breaking_algorithm) throw ProbeFailure("cublasLtMatmul: execution failed");
  if (loaded_.insert(rank).second) use_->elapsed_s += load_s;
  if (pace.pause.value() > 0.0) use_->heat_s = 0.0;
  use_->elapsed_s += pace.pause.value() + pace.warm_up.value();
  use_->heat_s += pace.warm_up.value();

  const double share =
      pace.target.time_budget.value() / static_cast<double>(pace.target.minimum_samples);
  probes::DeviceMeasured measured;
  StoppingRule rule(pace.target);
  while (!rule.finished()) {
    const double clock = clock_hz();
    const double one = true_gemm_time(device_, problem_, truth_, rank, clock) * noise_.factor();
    const double products = std::max(1.0, std::ceil(std::min(batch_s, share) / one));
    const double spent = products * one;
    rule.add(Seconds(one), Seconds(spent));
    measured.clock_hz.push_back(clock);
    use_->elapsed_s += spent;
    use_->heat_s += spent;
  }
  measured.time_s = rule.samples();
  measured.stop_reason = {rule.explanation()};
  measured.flops = probes::gemm_flops(problem_);
  measured.bytes = probes::gemm_footprint(problem_);
  return measured;
}

}  // namespace scaleworth::sim
