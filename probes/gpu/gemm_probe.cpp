// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm.h"
#include "probes/ranks.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {
// Everything that is measured of one number format on one GPU.

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

namespace {
// What a product loses when a collective holds some multiprocessors.

/// NCCL takes 1 to 32 multiprocessors; twice that shows where the curve goes.
constexpr std::array held_by_others{0, 4, 16, 32, 64};
constexpr int most_held_in_quick = 32;

Seconds contention_window(Suite suite) {
  return suite == Suite::quick ? Seconds(0.5) : Seconds(1.2);
}

SettleRule short_rule(Suite suite) {
  const Seconds window = 0.5 * contention_window(suite);
  return {.minimum = window, .maximum = 2.0 * contention_window(suite), .window = window};
}

std::vector<int> multiprocessor_counts(const DeviceDescription& device, Suite suite) {
  std::vector<int> counts;
  for (const int held : held_by_others) {
    if (suite == Suite::quick && held > most_held_in_quick) continue;
    const int left = device.multiprocessors - held;
    if (4 * left >= device.multiprocessors) counts.push_back(left);
  }
  return counts;
}

GemmProblem contended_problem(const DeviceDescription& device, int multiprocessors) {
  GemmProblem problem;
  problem.input = gemm_formats(Suite::quick, device.compute_capability).front().input;
  problem.m = problem.n = problem.k = 8192;
  // The full count is the undisturbed case: no target is set, as every other product is measured.
  problem.multiprocessors = multiprocessors == device.multiprocessors ? 0 : multiprocessors;
  return problem;
}
}  // namespace

void measure_gpu_contention(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  Device& device = *devices.at(0);
  const DeviceDescription& description = device.description();
  const std::string library = require_gemm_library(device);
  SearchEffort effort = gemm_effort(setting.suite, false).brief;
  effort.recorded = false;
  const std::vector<int> counts = multiprocessor_counts(description, setting.suite);
  std::string last_failure;
  std::size_t reached = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const GemmProblem problem = contended_problem(description, counts[i]);
    recorder.progress(static_cast<double>(i) / static_cast<double>(counts.size()),
                      fmt::format("{} on {} of {} multiprocessors",
                                  gemm_problem_name(problem),
                                  counts[i],
                                  description.multiprocessors));
    try {
      ChosenGemm gemm(device, {description, library, "cube", {}, problem}, effort, recorder);
      recorder.add(
          gemm.steady("contention", short_rule(setting.suite), contention_window(setting.suite)));
      ++reached;
    } catch (const ProbeFailure& failure) {
      last_failure = failure.what();
      recorder.warn(fmt::format("{} multiprocessors left out: {}", counts[i], last_failure));
    }
  }
  if (reached == 0) throw ProbeFailure(last_failure);
}

Seconds estimate_gpu_contention(const DeviceSetting& setting) {
  if (setting.devices.empty()) return Seconds(0.0);
  const SearchEffort effort = gemm_effort(setting.suite, false).brief;
  const Seconds each =
      search_time(effort) + short_rule(setting.suite).minimum + contention_window(setting.suite);
  return static_cast<double>(multiprocessor_counts(setting.devices.front(), setting.suite).size()) *
         each;
}

namespace {
constexpr double mebibyte = 1024.0 * 1024.0;
constexpr int trial_proposals = 6;
constexpr Seconds trial_pick{0.002};
constexpr Seconds trial_budget{0.05};
/// Then it is not the shapes.
constexpr int most_failed_trials = 3;

ProductShape cube(std::int64_t side) {
  return {side, side, side};
}

/// The fastest of a few proposals in one short sample each; absent when all break.
std::optional<GemmCandidate> fastest(GemmSession& session) {
  GemmPace pace;
  pace.warm_up = 0.5 * trial_pick;
  pace.target = {.relative_half_width = 0.0,
                 .minimum_samples = 1,
                 .maximum_samples = 1,
                 .time_budget = trial_pick};
  std::optional<GemmCandidate> best;
  double best_s = std::numeric_limits<double>::infinity();
  for (const GemmCandidate& candidate :
       session.candidates(trial_proposals, Bytes(32.0 * mebibyte))) {
    check_interrupt();
    const double time = median(session.time(candidate, pace).time_s).value_or(best_s);
    if (time >= best_s) continue;
    best = candidate;
    best_s = time;
  }
  return best;
}

FormatMeasurement::FormatMeasurement(Device& device,
                                     const GemmFormat& format,
                                     Suite suite,
                                     Recorder& recorder)
    : device_(device),
      format_(format),
      effort_(gemm_effort(suite, is_leading(format))),
      suite_(suite),
      library_(require_gemm_library(device)),
      recorder_(recorder) {}

GemmSubject FormatMeasurement::subject(const std::string& family, const ProductShape& shape) const {
  GemmProblem problem;
  problem.input = format_.input;
  problem.fast_accumulation = format_.fast_accumulation;
  problem.m = shape.m;
  problem.n = shape.n;
  problem.k = shape.k;
  return {device_.description(), library_, family, {}, problem};
}

std::unique_ptr<ChosenGemm> FormatMeasurement::chosen(const std::string& family,
                                                      const ProductShape& shape,
                                                      const SearchEffort& effort) {
  auto gemm = std::make_unique<ChosenGemm>(device_, subject(family, shape), effort, recorder_);
  rate_ = gemm->best_rate().value();
  return gemm;
}

bool FormatMeasurement::attempt(const GemmProblem& problem, const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const NothingToMeasure& reason) {
    last_failure_ = fmt::format("n/a: {}: {}", gemm_problem_name(problem), reason.what());
  } catch (const GpuLost&) {
    throw;
  } catch (const ProbeFailure& failure) {
    last_failure_ = fmt::format("{} left out: {}", gemm_problem_name(problem), failure.what());
  }
  recorder_.warn(last_failure_);
  return false;
}

bool FormatMeasurement::fits(const ProductShape& shape) const {
  const GemmProblem problem = subject("search", shape).problem;
  return gemm_memory(problem, device_.description().l2_cache) <= device_.available_memory();
}

bool FormatMeasurement::takes_too_long(const ProductShape& shape) const {
  const GemmProblem problem = subject("cube", shape).problem;
  return rate_ > 0.0 && gemm_flops(problem).value() / rate_ > longest_product.value();
}

void FormatMeasurement::measure_reference(ChosenGemm& cube) {
  recorder_.add(cube.burst(effort_.pause));
  recorder_.add(cube.steady("steady", effort_.settle, effort_.steady));
  recorder_.add(cube.duty_cycled());
}

void FormatMeasurement::measure_brief(const ProductShape& shape) {
  if (takes_too_long(shape)) {
    recorder_.warn(fmt::format("{} left out: one product would last {:.2g} s",
                               gemm_problem_name(subject("cube", shape).problem),
                               gemm_flops(subject("cube", shape).problem).value() / rate_));
    return;
  }
  attempt(subject("cube", shape).problem, [&] {
    // The chip is warm from the reference: half a second shows whether it still is.
    SettleRule rule = effort_.settle;
    rule.minimum = rule.window = 0.5 * effort_.brief_steady;
    rule.maximum = effort_.brief_steady;
    recorder_.add(
        chosen("cube", shape, effort_.brief)->steady("steady", rule, effort_.brief_steady));
  });
}

void FormatMeasurement::measure_cubes() {
  // The small cube tells how long the large ones would last.
  std::unique_ptr<ChosenGemm> small;
  attempt(subject("cube", cube(4096)).problem,
          [&] { small = chosen("cube", cube(4096), effort_.brief); });
  if (!small) return;
  if (takes_too_long(cube(8192))) {
    measure_brief(cube(8192));
    measure_reference(*small);
    return;
  }
  const bool reached = attempt(subject("cube", cube(8192)).problem, [&] {
    measure_reference(*chosen("cube", cube(8192), effort_.reference));
  });
  if (!reached) {
    measure_reference(*small);
    return;
  }
  SettleRule rule = effort_.settle;
  rule.minimum = rule.window = 0.5 * effort_.brief_steady;
  rule.maximum = effort_.brief_steady;
  recorder_.add(small->steady("steady", rule, effort_.brief_steady));
  small.reset();
  if (suite_ == Suite::standard) measure_brief(cube(16384));
}

std::optional<FlopPerSecond> FormatMeasurement::trial(const ProductShape& shape) {
  const GemmSubject tried = subject("search", shape);
  std::optional<FlopPerSecond> rate;
  const bool tried_it = attempt(tried.problem, [&] {
    const std::unique_ptr<GemmSession> session = device_.open_gemm(tried.problem);
    const std::optional<GemmCandidate> candidate = fastest(*session);
    if (!candidate) throw NothingToMeasure("the library proposes no algorithm");
    const GemmPace pace = duty_cycled_pace(trial_budget);
    const DeviceMeasured measured = session->time(*candidate, pace);
    recorder_.add(gemm_point(tried, "coarse", pace.regime, *candidate, measured));
    const std::optional<double> time = median(measured.time_s);
    if (!time) return;
    const FlopPerSecond reached = gemm_rate(tried.problem, *time);
    if (!impossible_rate(tried.device, format_.input, reached)) rate = reached;
  });
  failed_trials_ = tried_it ? 0 : failed_trials_ + 1;
  return rate;
}

void FormatMeasurement::measure_best_shape() {
  const auto start = std::chrono::steady_clock::now();
  const ShapeLimits limits{
      .multiprocessors = device_.description().multiprocessors,
      .trials = effort_.shape_trials,
      .out_of_time =
          [&] {
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            return failed_trials_ >= most_failed_trials ||
                   spent.count() > effort_.shape_search.value();
          },
      .fits = [&](const ProductShape& shape) { return fits(shape) && !takes_too_long(shape); }};
  const ShapeFound found =
      search_shape(limits, [&](const ProductShape& shape) { return trial(shape); });
  if (!found.best) return;
  attempt(subject("search", *found.best).problem, [&] {
    Point point = chosen("search", *found.best, effort_.best_shape)->duty_cycled();
    point.stop_reason +=
        fmt::format("; shape search: {} tried, {}", found.trials, found.stop_reason);
    recorder_.add(std::move(point));
  });
}

void FormatMeasurement::run(const std::function<void(const std::string&)>& progress) {
  const std::string name = number_format_name(format_.input);
  if (!greatest_rate(device_.description(), format_.input)) {
    recorder_.warn(
        fmt::format("{}: results are not checked against the greatest possible rate, which is "
                    "unknown for compute capability {}.{}",
                    name,
                    device_.description().compute_capability / 10,
                    device_.description().compute_capability % 10));
  }
  progress(name + ": cubes");
  measure_cubes();
  if (rate_ <= 0.0) return;
  progress(name + ": best shape");
  measure_best_shape();
}

// Whether GPUs of a node are equally fast, and what they cost each other in power and heat.

Seconds together_time(Suite suite) {
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
  const Seconds time = together_time(setting.suite);
  Prepared prepared = measure_alone(devices, effort, time, recorder);
  if (prepared.size() < 2) throw ProbeFailure("fewer than two GPUs can run the product");
  recorder.progress(0.8, fmt::format("{} GPUs together", prepared.size()));
  measure_together(prepared, effort, time, recorder);
}

Seconds estimate_gpu_together(const DeviceSetting& setting) {
  if (setting.devices.size() < 2) return Seconds(0.0);
  const GemmEffort effort = gemm_effort(setting.suite, true);
  const Seconds once = effort.settle.minimum + together_time(setting.suite);
  return static_cast<double>(setting.devices.size()) * (search_time(effort.brief) + once) + once;
}
}  // namespace scaleworth::probes
