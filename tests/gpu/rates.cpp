// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/rates.h"

#include "probes/gpu/registry.h"

#include <algorithm>
#include <cstdio>
#include <variant>

namespace scaleworth::gpu_tests {
namespace {

probes::Devices open_all() {
  auto opened = probes::open_devices({});
  if (auto* devices = std::get_if<probes::Devices>(&opened)) return std::move(*devices);
  const auto* failed = std::get_if<Failed>(&opened);
  const std::string reason = failed ? failed->reason : std::get<Skipped>(opened).reason;
  std::fprintf(stderr, "no GPU to test: %s\n", reason.c_str());
  return {};
}

}  // namespace

probes::Devices& devices() {
  static probes::Devices opened = open_all();
  return opened;
}

probes::Device& device() {
  return *devices().at(0);
}

probes::Target brief() {
  probes::Target target;
  target.minimum_samples = 5;
  target.maximum_samples = 5;
  target.time_budget = Seconds{0.1};
  return target;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double flop_rate(const probes::DeviceMeasured& measured) {
  return measured.flops.value() / median(measured.time_s);
}

double byte_rate(const probes::DeviceMeasured& measured) {
  return measured.bytes.value() / median(measured.time_s);
}

double per_cycle(double rate, const probes::DeviceMeasured& measured) {
  const probes::DeviceDescription& description = device().description();
  const double clock =
      measured.clock_hz.empty() ? description.maximum_clock_hz.value() : median(measured.clock_hz);
  return rate / clock / description.multiprocessors;
}

}  // namespace scaleworth::gpu_tests
