// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/search/gemm_point.h"

#include "probes/gpu/gemm/search/peak_rate.h"
#include "probes/gpu/gemm/shape_rules.h"
#include "probes/gpu/point.h"
#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"

#include <utility>

namespace scaleworth::probes {

FlopPerSecond gemm_rate(const GemmProblem& problem, double time_s) {
  return gemm_flops(problem) / Seconds(time_s);
}

Point gemm_point(const GemmSubject& subject,
                 const std::string& pass,
                 GemmRegime regime,
                 const GemmCandidate& candidate,
                 const DeviceMeasured& measured) {
  const GemmProblem& problem = subject.problem;
  const int multiprocessors =
      problem.multiprocessors > 0 ? problem.multiprocessors : subject.device.multiprocessors;
  std::map<std::string, Value> parameters{
      {fields::precision, std::string(number_format_name(problem.input))},
      {fields::family, subject.family},
      {fields::m, problem.m},
      {fields::n, problem.n},
      {fields::k, problem.k},
      {fields::batch, problem.batch},
      {fields::library, subject.library},
      {fields::pass, pass},
      {fields::regime, std::string(gemm_regime_name(regime))},
      {fields::heuristic_rank, std::int64_t{candidate.heuristic_rank}},
      {fields::algorithm, candidate.description},
      {fields::workspace_bytes, static_cast<std::int64_t>(candidate.workspace.value())},
      {fields::fast_accumulation, problem.fast_accumulation},
      {fields::multiprocessors, std::int64_t{multiprocessors}}};
  if (!subject.name.empty()) parameters[fields::name] = subject.name;
  Point point = device_point(subject.device.ordinal, std::move(parameters), measured);
  if (const auto time = median(measured.time_s)) {
    const auto reason = impossible_rate(subject.device, problem.input, gemm_rate(problem, *time));
    if (reason) point.warnings.push_back(*reason);
  }
  return point;
}

}  // namespace scaleworth::probes
