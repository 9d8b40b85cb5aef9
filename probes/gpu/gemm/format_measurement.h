// SPDX-License-Identifier: Apache-2.0
/// Everything that is measured of one number format on one GPU.
#pragma once

#include "probes/gpu/gemm/pass.h"
#include "probes/gpu/gemm/search/shape_search.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace scaleworth::probes {

class FormatMeasurement {
 public:
  FormatMeasurement(Device& device, const GemmFormat& format, Suite suite, Recorder& recorder);

  /// Cubes, then the best shape. A product that cannot be had is a warning. Throws GpuLost.
  void run(const std::function<void(const std::string&)>& progress);
  /// Why the last product could not be had; empty when all could.
  const std::string& last_failure() const { return last_failure_; }

 private:
  GemmSubject subject(const std::string& family, const ProductShape& shape) const;
  std::unique_ptr<ChosenGemm> chosen(const std::string& family,
                                     const ProductShape& shape,
                                     const SearchEffort& effort);
  /// Whether `action` got through; what it lacked is a warning otherwise.
  bool attempt(const GemmProblem& problem, const std::function<void()>& action);
  bool fits(const ProductShape& shape) const;
  bool takes_too_long(const ProductShape& shape) const;

  void measure_cubes();
  void measure_reference(ChosenGemm& cube);
  void measure_brief(const ProductShape& shape);
  void measure_best_shape();
  /// Duty-cycled rate of the best of a few proposals, not verified.
  std::optional<FlopPerSecond> trial(const ProductShape& shape);

  Device& device_;
  GemmFormat format_;
  GemmEffort effort_;
  Suite suite_;
  std::string library_;
  Recorder& recorder_;
  double rate_ = 0.0;  // FLOP/s, of the last product measured; 0: none yet
  std::string last_failure_;
  int failed_trials_ = 0;  // in a row
};

}  // namespace scaleworth::probes
