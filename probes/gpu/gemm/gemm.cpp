// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/gemm.h"

#include "probes/gpu/gemm/format_measurement.h"
#include "probes/gpu/gemm/shape_rules.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"

#include <cstddef>
#include <functional>
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

/// A piece of the probe that is measured on one GPU as a whole: a format, or one of the user's
/// products. `progress` takes the share of the piece that is done.
struct Job {
  using Progress = std::function<void(double done, const std::string& what)>;
  std::string name;
  /// Returns why a product could not be had; empty when all could. Throws GpuLost.
  std::function<std::string(Device&, const Progress&)> measure;
};

Job format_job(const GemmFormat& format, Suite suite, Recorder& recorder) {
  return {number_format_name(format.input), [=, &recorder](Device& device, const auto& progress) {
            FormatMeasurement measurement(device, format, suite, recorder);
            double done = 0.0;
            measurement.run([&](const std::string& what) {
              progress(done, what);
              done += 0.5;
            });
            return measurement.last_failure();
          }};
}

std::string measure_own(Device& device,
                        const DeviceSetting::NamedProblem& own,
                        Suite suite,
                        Recorder& recorder) {
  const GemmEffort effort = gemm_effort(suite, false);
  const std::string what = gemm_problem_name(own.problem);
  std::string failure;
  try {
    ChosenGemm gemm(
        device,
        {device.description(), require_gemm_library(device), "own", own.name, own.problem},
        effort.reference,
        recorder);
    recorder.add(gemm.steady("steady", effort.settle, effort.steady));
    return {};
  } catch (const NothingToMeasure& reason) {
    failure = fmt::format("n/a: {} {}: {}", own.name, what, reason.what());
  } catch (const GpuLost&) {
    throw;
  } catch (const ProbeFailure& broken) {
    failure = fmt::format("{} {} left out: {}", own.name, what, broken.what());
  }
  recorder.warn(failure);
  return failure;
}

std::vector<Job> jobs_for(const DeviceDescription& device,
                          const DeviceSetting& setting,
                          Recorder& recorder) {
  std::vector<Job> jobs;
  for (const DeviceSetting::NamedProblem& own : setting.own_problems) {
    const Suite suite = setting.suite;
    jobs.push_back({own.name, [=, &recorder](Device& on, const auto& progress) {
                      progress(0.0, own.name + " " + gemm_problem_name(own.problem));
                      return measure_own(on, own, suite, recorder);
                    }});
  }
  if (!jobs.empty()) return jobs;
  for (const GemmFormat& format : gemm_formats(setting.suite, device.compute_capability)) {
    jobs.push_back(format_job(format, setting.suite, recorder));
  }
  return jobs;
}

/// The jobs of one kind of GPU. Where a GPU is lost, the next equal one begins the job anew in
/// which that happened and goes on.
class KindMeasurement {
 public:
  KindMeasurement(std::vector<Device*> equal, std::vector<Job> jobs, Recorder& recorder)
      : equal_(std::move(equal)), jobs_(std::move(jobs)), recorder_(recorder) {}

  /// `progress` takes the share of this kind that is done.
  void run(const Job::Progress& progress) {
    for (std::size_t i = 0; i < equal_.size() && next_ < jobs_.size(); ++i) {
      try {
        measure_on(*equal_[i], progress);
        equal_[i]->release_memory();
      } catch (const GpuLost& lost) {
        last_failure_ = lost.what();
        if (!cut_short()) return;  // only its memory was still to be given back
        const bool last = i + 1 == equal_.size();
        recorder_.warn(last ? fmt::format("{}; no equal GPU is left to measure {} and what follows",
                                          lost.what(),
                                          jobs_[next_].name)
                            : fmt::format("{}; GPU {}, which is equal, takes its place from {} on",
                                          lost.what(),
                                          equal_[i + 1]->description().ordinal,
                                          jobs_[next_].name));
      }
    }
  }
  /// Whether no GPU was left for a job.
  bool cut_short() const { return next_ < jobs_.size(); }
  const std::string& last_failure() const { return last_failure_; }

 private:
  void measure_on(Device& device, const Job::Progress& progress) {
    const auto count = static_cast<double>(jobs_.size());
    for (; next_ < jobs_.size(); ++next_) {
      const std::string failure =
          jobs_[next_].measure(device, [&](double done, const std::string& what) {
            progress((static_cast<double>(next_) + done) / count,
                     fmt::format("gpu {}: {}", device.description().ordinal, what));
          });
      if (!failure.empty()) last_failure_ = failure;
    }
  }

  std::vector<Device*> equal_;
  std::vector<Job> jobs_;
  Recorder& recorder_;
  std::size_t next_ = 0;
  std::string last_failure_;
};

}  // namespace

void measure_gpu_gemm(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const std::vector<std::vector<std::size_t>> kinds = device_kinds(setting.devices);
  if (kinds.size() < devices.size()) {
    recorder.warn(fmt::format("measured on one GPU of each kind, {} of {}; {} measures all of them",
                              kinds.size(),
                              devices.size(),
                              fields::gpu_together));
  }
  CountingRecorder counted(recorder);
  std::string last_failure;
  bool cut_short = false;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::vector<Device*> equal;
    for (const std::size_t index : kinds[i]) equal.push_back(devices.at(index).get());
    KindMeasurement kind(
        equal, jobs_for(setting.devices[kinds[i].front()], setting, counted), counted);
    kind.run([&](double done, const std::string& what) {
      const double share = (static_cast<double>(i) + done) / static_cast<double>(kinds.size());
      recorder.progress(share, what);
    });
    if (!kind.last_failure().empty()) last_failure = kind.last_failure();
    cut_short = cut_short || kind.cut_short();
  }
  const bool nothing = counted.points() == 0 && !last_failure.empty();
  if (nothing || cut_short) throw ProbeFailure(last_failure);
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
