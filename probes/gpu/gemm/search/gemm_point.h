// SPDX-License-Identifier: Apache-2.0
/// A timed matrix product as a point of the record.
#pragma once

#include "probes/gpu/device.h"
#include "src/core/run/record.h"

#include <string>

namespace scaleworth::probes {

/// The product that is being measured and why.
struct GemmSubject {
  DeviceDescription device;
  std::string library;  // as Device::gemm_library tells
  std::string family;   // "search" | "cube" | "own"
  std::string name;     // that the user gave; empty otherwise
  GemmProblem problem;
};

/// Of the whole batch, at the time of one operation.
FlopPerSecond gemm_rate(const GemmProblem& problem, double time_s);

/// `pass`: see fields.h. Where the median rate is impossible the point carries the reason as a
/// warning.
Point gemm_point(const GemmSubject& subject,
                 const std::string& pass,
                 GemmRegime regime,
                 const GemmCandidate& candidate,
                 const DeviceMeasured& measured);

}  // namespace scaleworth::probes
