// SPDX-License-Identifier: Apache-2.0
/// What each GPU of a node is asked: all of a suite's settings, or one that shows an outlier.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/pace.h"
#include "src/core/units.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

enum class Part { full, glance };

/// One GPU as plans see it.
struct PlannedDevice {
  DeviceDescription description;
  Suite suite = Suite::quick;
  Part part = Part::full;
  /// No GPU before it is of its kind: what was found out of the first is taken for the others.
  bool first_of_kind = true;
  Bytes available;  // memory that may still be allocated
};

/// Equal for GPUs of the same name, multiprocessors and memory.
std::string kind_of(const DeviceDescription& description);

/// Standard suite: every GPU in full. Quick: the first in full and a glance at the others. For
/// estimates: nine tenths of each GPU's memory are taken for available.
std::vector<PlannedDevice> planned_devices(const DeviceSetting& setting);
/// The same with what is really available now; a GPU that is lost cannot tell, and fails when asked
/// for more than that.
std::vector<PlannedDevice> planned_devices(const Devices& devices, const DeviceSetting& setting);

/// Says that the GPUs after the first get a `glance` ("fp32 only") or nothing (empty `glance`);
/// says nothing where each is measured in full.
void warn_of_glance(const std::vector<PlannedDevice>& planned,
                    const std::string& glance,
                    Recorder& recorder);

/// Expected time of a setting by the rules of batching.h: calibration, warm-up, and little more
/// than the least number of samples. A sample lasts 20 ms, or one `operation` that is longer, or as
/// many as a queue holds of one that is very short.
Seconds device_setting_time(const Pace& pace, Seconds operation = Seconds(1e-3));

/// "48 KiB", "1.5 GiB".
std::string size_name(Bytes size);

/// What `device` says is available, or `presumed` where it is lost.
Bytes available_or(const Device& device, Bytes presumed);

}  // namespace scaleworth::probes
