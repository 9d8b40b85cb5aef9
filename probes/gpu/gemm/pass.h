// SPDX-License-Identifier: Apache-2.0
/// One opened product and the passes that are timed with its best algorithm.
#pragma once

#include "probes/gpu/gemm/plan.h"

#include <memory>
#include <string>

namespace scaleworth::probes {

/// The library's name. Throws NothingToMeasure or ProbeFailure with the reason when there is none.
std::string require_gemm_library(Device& device);

/// A product with its operands in place and its algorithm chosen.
class ChosenGemm {
 public:
  /// Throws NothingToMeasure for a product that the format or the library cannot do, ProbeFailure
  /// when the operands do not fit or no algorithm is left.
  ChosenGemm(Device& device, GemmSubject subject, const SearchEffort& effort, Recorder& recorder);

  const AlgorithmChoice& choice() const { return choice_; }
  const GemmSubject& subject() const { return subject_; }
  FlopPerSecond best_rate() const;

  /// The first 100 ms after the GPU has idled for `pause`.
  Point burst(Seconds pause);
  /// Without gaps for `time` after clock and power have settled; the point says whether they did.
  Point steady(const std::string& pass, const SettleRule& rule, Seconds time);
  /// 0.2 s of products with an output reset and a 256 MiB fill before each.
  Point duty_cycled();

 private:
  Point timed(const std::string& pass, const GemmPace& pace, const std::string& remark = {});

  GemmSubject subject_;
  std::unique_ptr<GemmSession> session_;
  AlgorithmChoice choice_;
};

/// Duty-cycled pace with `time` of products, the pauses not counted.
GemmPace duty_cycled_pace(Seconds time);

}  // namespace scaleworth::probes
