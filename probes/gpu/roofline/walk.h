// SPDX-License-Identifier: Apache-2.0
/// Asks the GPUs of a node one setting after another and goes on when one of them breaks.
#pragma once

#include "probes/gpu/registry.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// A setting that breaks becomes a warning with the GPU's ordinal; a GPU that breaks twice in a row
/// is asked nothing more in this walk, so that the time-outs of a lost one do not add up.
class DeviceWalk {
 public:
  DeviceWalk(Recorder& recorder, std::size_t settings) : recorder_(recorder), settings_(settings) {}

  /// Calls `measure`, which records what it measured of `device`; `what` names the setting in the
  /// progress and in warnings. False when nothing was measured. Interrupted passes.
  bool ask(const Device& device, const std::string& what, const std::function<void()>& measure);
  /// Gives back the memory that `device` keeps; a failure is a warning.
  void release(Device& device);
  /// Throws ProbeFailure, or NothingToMeasure when nothing broke, with the first reason, if no
  /// setting was measured.
  void finish() const;

 private:
  void note(int gpu, const std::string& what, const std::string& reason);

  Recorder& recorder_;
  std::size_t settings_;
  std::size_t asked_ = 0;
  std::size_t measured_ = 0;
  std::map<int, int> failures_in_a_row_;  // by ordinal
  std::string first_failure_;
  std::string first_absence_;
};

/// Walks through plans[i] on devices[i]; `name` names a setting, `measure` returns its point.
template <class Work, class Name, class Measure>
void walk_plans(Devices& devices,
                const std::vector<std::vector<Work>>& plans,
                Recorder& recorder,
                const Name& name,
                const Measure& measure) {
  std::size_t settings = 0;
  for (const auto& plan : plans) settings += plan.size();
  DeviceWalk walk(recorder, settings);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const Work& work : plans[i]) {
      walk.ask(*devices[i], name(work), [&] { recorder.add(measure(*devices[i], work)); });
    }
    walk.release(*devices[i]);
  }
  walk.finish();
}

}  // namespace scaleworth::probes
