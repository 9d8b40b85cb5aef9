// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/roofline/walk.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr int most_failures_in_a_row = 2;

}  // namespace

bool DeviceWalk::ask(const Device& device,
                     const std::string& what,
                     const std::function<void()>& measure) {
  check_interrupt();
  const int gpu = device.description().ordinal;
  const double share = static_cast<double>(asked_++) / static_cast<double>(settings_);
  int& failures = failures_in_a_row_[gpu];
  if (failures >= most_failures_in_a_row) return false;
  recorder_.progress(share, fmt::format("GPU {}: {}", gpu, what));
  try {
    measure();
  } catch (const NothingToMeasure& absent) {
    if (first_absence_.empty()) first_absence_ = absent.what();
    note(gpu, what, absent.what());
    return false;
  } catch (const ProbeFailure& failure) {
    if (first_failure_.empty()) first_failure_ = fmt::format("GPU {}: {}", gpu, failure.what());
    note(gpu, what, failure.what());
    if (++failures == most_failures_in_a_row) {
      recorder_.warn(
          fmt::format("GPU {}: left out of the rest of this probe after {} failures in a row",
                      gpu,
                      most_failures_in_a_row));
    }
    return false;
  }
  failures = 0;
  ++measured_;
  return true;
}

void DeviceWalk::release(Device& device) {
  try {
    device.release_memory();
  } catch (const ProbeFailure& failure) {
    note(device.description().ordinal, "giving back memory", failure.what());
  }
}

void DeviceWalk::finish() const {
  if (measured_ > 0) return;
  if (!first_failure_.empty()) throw ProbeFailure(first_failure_);
  throw NothingToMeasure(first_absence_.empty() ? "no GPU has a setting to measure"
                                                : first_absence_);
}

void DeviceWalk::note(int gpu, const std::string& what, const std::string& reason) {
  recorder_.warn(fmt::format("GPU {}, {}: not measured: {}", gpu, what, reason));
}

}  // namespace scaleworth::probes
