// SPDX-License-Identifier: Apache-2.0
/// Whether GPUs of a node are equally fast, and what they cost each other in power and heat.
#include "probes/at_once.h"
#include "probes/gpu/gemm/gemm.h"
#include "probes/gpu/gemm/pass.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <exception>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

Seconds time_of(Suite suite) {
  return suite == Suite::quick ? Seconds(1.0) : Seconds(5.0);
}

GemmSubject subject_of(Device& device) {
  GemmProblem problem;
  problem.input = gemm_formats(Suite::quick, device.description().compute_capability).front().input;
  problem.m = problem.n = problem.k = 8192;
  return {device.description(), require_gemm_library(device), "cube", {}, problem};
}

using Prepared = std::vector<std::unique_ptr<ChosenGemm>>;

/// Every GPU searches for itself and runs alone; one that cannot is left out with a warning.
Prepared measure_alone(Devices& devices,
                       const GemmEffort& effort,
                       Seconds time,
                       Recorder& recorder) {
  Prepared prepared;
  double done = 0.0;
  for (const std::unique_ptr<Device>& device : devices) {
    const int ordinal = device->description().ordinal;
    recorder.progress(0.8 * done++ / static_cast<double>(devices.size()),
                      fmt::format("gpu {} alone", ordinal));
    try {
      auto gemm =
          std::make_unique<ChosenGemm>(*device, subject_of(*device), effort.brief, recorder);
      recorder.add(gemm->steady("alone", effort.settle, time));
      prepared.push_back(std::move(gemm));
    } catch (const ProbeFailure& failure) {
      recorder.warn(fmt::format("gpu {} left out: {}", ordinal, failure.what()));
    } catch (const NothingToMeasure& reason) {
      recorder.warn(fmt::format("gpu {} left out: {}", ordinal, reason.what()));
    }
  }
  return prepared;
}

/// A signal goes before any other failure: it ends the run.
void rethrow(const std::vector<std::exception_ptr>& failures, const Prepared& prepared) {
  std::optional<std::string> broken;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (!failures[i]) continue;
    try {
      std::rethrow_exception(failures[i]);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& failure) {
      broken = fmt::format("gpu {}: {}", prepared[i]->subject().device.ordinal, failure.what());
    }
  }
  if (broken) throw ProbeFailure(*broken);
}

void measure_together(Prepared& prepared,
                      const GemmEffort& effort,
                      Seconds time,
                      Recorder& recorder) {
  std::vector<std::optional<Point>> points(prepared.size());
  const AtOnce done = run_at_once(prepared.size(), [&](std::size_t i) {
    points[i] = prepared[i]->steady("together", effort.settle, time);
  });
  for (std::optional<Point>& point : points) {
    if (point) recorder.add(std::move(*point));
  }
  rethrow(done.failures, prepared);
}

}  // namespace

void measure_gpu_together(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  if (devices.size() < 2) throw NothingToMeasure("one GPU: there is no other to run together with");
  require_gemm_library(*devices.front());
  GemmEffort effort = gemm_effort(setting.suite, true);
  effort.brief.recorded = false;
  const Seconds time = time_of(setting.suite);
  Prepared prepared = measure_alone(devices, effort, time, recorder);
  if (prepared.size() < 2) throw ProbeFailure("fewer than two GPUs can run the product");
  recorder.progress(0.8, fmt::format("{} GPUs together", prepared.size()));
  measure_together(prepared, effort, time, recorder);
}

Seconds estimate_gpu_together(const DeviceSetting& setting) {
  if (setting.devices.size() < 2) return Seconds(0.0);
  const GemmEffort effort = gemm_effort(setting.suite, true);
  const Seconds once = effort.settle.minimum + time_of(setting.suite);
  return static_cast<double>(setting.devices.size()) * (search_time(effort.brief) + once) + once;
}

}  // namespace scaleworth::probes
