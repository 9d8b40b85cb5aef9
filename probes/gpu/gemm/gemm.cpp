// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/gemm.h"

#include "probes/gpu/gemm/format_measurement.h"
#include "probes/gpu/gemm/shape_rules.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// Keeps count of what was recorded, so that a probe whose every product failed fails.
class CountingRecorder final : public Recorder {
 public:
  explicit CountingRecorder(Recorder& inner) : inner_(inner) {}
  void add(Point point) override {
    ++points_;
    inner_.add(std::move(point));
  }
  void add_timeline(const Point& setting, Timeline timeline) override {
    inner_.add_timeline(setting, std::move(timeline));
  }
  void add_rows(const std::string& name,
                const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows) override {
    inner_.add_rows(name, header, rows);
  }
  void warn(const std::string& warning) override { inner_.warn(warning); }
  void lose(const std::string& what, double amount) override { inner_.lose(what, amount); }
  void progress(double fraction, const std::string& what) override {
    inner_.progress(fraction, what);
  }
  std::size_t points() const { return points_; }

 private:
  Recorder& inner_;
  std::size_t points_ = 0;
};

std::string measure_formats(
    Device& device, Suite suite, double from, double share, Recorder& recorder) {
  const std::vector<GemmFormat> formats =
      gemm_formats(suite, device.description().compute_capability);
  std::string last_failure;
  double done = 0.0;
  for (const GemmFormat& format : formats) {
    FormatMeasurement measurement(device, format, suite, recorder);
    measurement.run([&](const std::string& what) {
      recorder.progress(from + share * done / static_cast<double>(formats.size()),
                        fmt::format("gpu {}: {}", device.description().ordinal, what));
      done += 0.5;
    });
    if (!measurement.last_failure().empty()) last_failure = measurement.last_failure();
  }
  return last_failure;
}

std::string measure_own(
    Device& device, const DeviceSetting& setting, double from, double share, Recorder& recorder) {
  const std::string library = require_gemm_library(device);
  const GemmEffort effort = gemm_effort(setting.suite, false);
  std::string last_failure;
  double done = 0.0;
  for (const auto& [name, problem] : setting.own_problems) {
    const std::string what = gemm_problem_name(problem);
    recorder.progress(from + share * done++ / static_cast<double>(setting.own_problems.size()),
                      fmt::format("gpu {}: {} {}", device.description().ordinal, name, what));
    try {
      ChosenGemm own(device,
                     {device.description(), library, "own", name, problem},
                     effort.reference,
                     recorder);
      recorder.add(own.steady("steady", effort.settle, effort.steady));
    } catch (const NothingToMeasure& reason) {
      last_failure = fmt::format("n/a: {} {}: {}", name, what, reason.what());
      recorder.warn(last_failure);
    } catch (const ProbeFailure& failure) {
      last_failure = fmt::format("{} {} left out: {}", name, what, failure.what());
      recorder.warn(last_failure);
    }
  }
  return last_failure;
}

}  // namespace

void measure_gpu_gemm(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const std::vector<std::size_t> chosen = representative_devices(setting.devices);
  if (chosen.size() < devices.size()) {
    recorder.warn(fmt::format("measured on one GPU of each kind, {} of {}; {} measures all of them",
                              chosen.size(),
                              devices.size(),
                              fields::gpu_together));
  }
  CountingRecorder counted(recorder);
  std::string last_failure;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Device& device = *devices.at(chosen[i]);
    const double share = 1.0 / static_cast<double>(chosen.size());
    const double from = share * static_cast<double>(i);
    const std::string failure = setting.own_problems.empty()
                                    ? measure_formats(device, setting.suite, from, share, counted)
                                    : measure_own(device, setting, from, share, counted);
    if (!failure.empty()) last_failure = failure;
    device.release_memory();
  }
  if (counted.points() == 0 && !last_failure.empty()) throw ProbeFailure(last_failure);
}

Seconds estimate_gpu_gemm(const DeviceSetting& setting) {
  Seconds total{};
  for (const std::size_t index : representative_devices(setting.devices)) {
    if (!setting.own_problems.empty()) {
      total += static_cast<double>(setting.own_problems.size()) *
               own_product_time(gemm_effort(setting.suite, false));
      continue;
    }
    for (const GemmFormat& format :
         gemm_formats(setting.suite, setting.devices[index].compute_capability)) {
      total += format_time(gemm_effort(setting.suite, is_leading(format)), setting.suite);
    }
  }
  return total;
}

}  // namespace scaleworth::probes
