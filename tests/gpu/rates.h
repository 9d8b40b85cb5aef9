// SPDX-License-Identifier: Apache-2.0
/// The GPUs of this node, opened once, and what their tests compute from samples.
#pragma once

#include "probes/gpu/device.h"
#include "probes/gpu/registry.h"

#include <cstddef>

namespace scaleworth::gpu_tests {

/// Empty where there is none that can be used.
probes::Devices& devices();
/// The first one.
probes::Device& device();

/// Five samples: these tests ask whether a figure is possible, not what it is.
probes::Target brief();

double median(std::vector<double> values);
/// Per second, by the median sample.
double flop_rate(const probes::DeviceMeasured& measured);
double byte_rate(const probes::DeviceMeasured& measured);
/// Per cycle of the measured clock, or of the maximum clock where none was measured, and per
/// multiprocessor.
double per_cycle(double rate, const probes::DeviceMeasured& measured);

}  // namespace scaleworth::gpu_tests
