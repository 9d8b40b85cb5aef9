// SPDX-License-Identifier: Apache-2.0
/// Predictions against what happens: the same generated job without the late rank.
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "trace/attribute.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::sim {
namespace {

using attribution::Efficiency;
using attribution::LateCause;

std::optional<Efficiency> efficiency_of(const JobTruth& truth) {
  const GeneratedJob generated = generate_job(truth);
  return trace::attribute(generated.job).result.efficiency;
}

/// Error of the predicted step without the culprit against the step of the job without it.
std::optional<double> prediction_error(LateCause cause, std::uint64_t seed) {
  JobTruth truth;
  truth.cause = cause;
  truth.seed = seed;
  truth.culprit = static_cast<int>(seed % 8);
  truth.late_ns = 500e3;
  truth.clock_offset_ns = 100e3;
  const auto late = efficiency_of(truth);
  truth.cause = LateCause::undecided;
  truth.late_ns = 0.0;
  const auto prompt = efficiency_of(truth);
  if (!late || !prompt) return std::nullopt;
  const std::string change = "without rank " + std::to_string(seed % 8) + "'s lateness";
  const auto found = std::find_if(late->what_if.begin(), late->what_if.end(), [&](const auto& one) {
    return one.change == change;
  });
  if (found == late->what_if.end()) return std::nullopt;
  const auto truth_ns = static_cast<double>(prompt->step_time.count());
  return static_cast<double>(found->step_time.count()) / truth_ns - 1.0;
}

void require_predictions(LateCause cause, double tolerance) {
  int good = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto error = prediction_error(cause, seed);
    if (error && std::abs(*error) <= tolerance) {
      ++good;
    } else {
      UNSCOPED_INFO("seed " << seed << ": error " << (error ? *error : NAN));
    }
  }
  REQUIRE(good >= 19);
}

}  // namespace

TEST_CASE("the step without a rank of slow kernels is predicted within 5 %") {
  require_predictions(LateCause::slower_kernels, 0.05);
}

TEST_CASE("the step without a rank of more work is predicted within 5 %") {
  require_predictions(LateCause::more_work, 0.05);
}

TEST_CASE("the step without a late host is predicted within 5 %") {
  require_predictions(LateCause::host, 0.05);
}

}  // namespace scaleworth::sim
