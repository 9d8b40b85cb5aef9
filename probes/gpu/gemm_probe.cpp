// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm.h"
#include "probes/ranks.h"
#include "src/core/error.h"
#include "src/core/process.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

namespace scaleworth::probes {
namespace {
// The library puts the likely best first. Presumed: fewer may miss a shape's best, more takes the
// time of other shapes.
constexpr int trial_proposals = 6;
constexpr Seconds trial_pick{0.002};   // to tell proposals apart by per cents
constexpr Seconds trial_budget{0.04};  // five samples, by which shapes are ranked
/// Then it is not the shapes.
constexpr int most_failed_trials = 3;
/// A product that lasts longer than this is left out of the cubes.
constexpr Seconds longest_product{0.1};

/// Takes the share that is done.
using Progress = std::function<void(double done, const std::string& what)>;

/// What a probe records, and how its attempts ended: when every product failed, so did the probe.
struct Attempts {
  Recorder& recorder;
  bool any = false;  // product was measured
  std::optional<Finding> last_failure{};

  /// Runs `action` for the product `what`; false, with a warning, where it could not be measured.
  /// Throws GpuLost.
  bool attempt(const std::string& what, const std::function<void()>& action) {
    try {
      action();
      return any = true;
    } catch (const NothingToMeasure& reason) {
      last_failure = Finding(FindingId::product_not_available, what, reason.reason);
    } catch (const GpuLost&) {
      throw;
    } catch (const ProbeFailure& broken) {
      last_failure = Finding(FindingId::product_left_out, what, broken.what());
    }
    recorder.warn(*last_failure);
    return false;
  }
};

ProductShape cube(std::int64_t side) {
  return {side, side, side};
}

/// The fastest of a few proposals in one short sample each; absent when all break.
std::optional<GemmCandidate> fastest(GemmSession& session) {
  std::optional<GemmCandidate> best;
  double best_s = std::numeric_limits<double>::infinity();
  for (const GemmCandidate& candidate :
       // As frameworks give from Hopper on.
       session.candidates(trial_proposals, Bytes(32.0 * mebibyte))) {
    check_interrupt();
    const DeviceMeasured measured =
        session.time(candidate, one_sample(trial_pick, 0.5 * trial_pick));
    const double time = median(measured.time_s).value_or(best_s);
    if (time >= best_s) continue;
    best = candidate;
    best_s = time;
  }
  return best;
}

/// Everything that is measured of one number format on one GPU.
class FormatMeasurement {
 public:
  /// `rate`: of the last product measured in this format, FLOP/s; 0 before the first.
  FormatMeasurement(
      Device& device, const GemmFormat& format, Suite suite, Attempts& attempts, double& rate)
      : device_(device),
        format_(format),
        effort_(gemm_effort(suite, format.leading)),
        library_(required(device.gemm_library())),
        attempts_(attempts),
        recorder_(attempts.recorder),
        rate_(rate) {}

  /// A product that cannot be measured is a warning, here and below. Throws GpuLost.
  void cubes(const Progress& progress) {
    const std::string name = key_of(format_.input);
    const int capability = device_.description().compute_capability;
    if (!greatest_rate(device_.description(), format_.input)) {
      recorder_.warn({FindingId::greatest_rate_unknown, name, capability / 10, capability % 10});
    }
    progress(0.0, name + ": cubes");
    measure_cubes();
  }

  /// After the cubes; nothing where these could not be measured.
  void best_shape(const Progress& progress) {
    if (rate_ <= 0.0) return;
    progress(0.0, std::string(key_of(format_.input)) + ": best shape");
    measure_best_shape();
  }

 private:
  GemmProblem problem(const ProductShape& shape) const {
    return {.input = format_.input,
            .m = shape.m,
            .n = shape.n,
            .k = shape.k,
            .fast_accumulation = format_.fast_accumulation};
  }

  GemmSubject subject(ProductFamily family, const ProductShape& shape) const {
    return {device_.description(), library_, family, {}, problem(shape)};
  }

  std::unique_ptr<ChosenGemm> chosen(ProductFamily family,
                                     const ProductShape& shape,
                                     const SearchEffort& effort) {
    auto gemm = std::make_unique<ChosenGemm>(device_, subject(family, shape), effort, recorder_);
    rate_ = gemm->best_rate().value();
    return gemm;
  }

  bool attempt(const ProductShape& shape, const std::function<void()>& action) {
    return attempts_.attempt(gemm_problem_name(problem(shape)), action);
  }

  /// At the rate of the last product measured; 0 before the first.
  double expected_s(const ProductShape& shape) const {
    return rate_ > 0.0 ? gemm_flops(problem(shape)).value() / rate_ : 0.0;
  }
  bool takes_too_long(const ProductShape& shape) const {
    return expected_s(shape) > longest_product.value();
  }

  /// Steady first: the search has warmed the chip up, and each burst begins with a pause.
  void measure_reference(ChosenGemm& gemm) {
    std::vector<OperandData> all{OperandData::uniform};
    all.insert(all.end(), effort_.patterns.begin(), effort_.patterns.end());
    for (const OperandData data : all) {
      gemm.fill(data);
      const bool first = data == OperandData::uniform;
      recorder_.add(gemm.steady(Pass::steady, first ? effort_.sustained : when_warm()));
    }
    for (const OperandData data : all) {
      gemm.fill(data);
      recorder_.add(gemm.burst(effort_.pause));
    }
  }

  /// Three windows must do where others like it settled: an H100 else spent a minute on them.
  SustainedRule when_warm() const {
    const Seconds window = effort_.sustained.window;
    return {.window = window, .maximum = 3.0 * window};
  }

  void measure_brief(const ProductShape& shape) {
    if (takes_too_long(shape)) {
      recorder_.warn({FindingId::product_lasts_too_long,
                      gemm_problem_name(problem(shape)),
                      expected_s(shape)});
      return;
    }
    attempt(shape, [&] {
      const auto gemm = chosen(ProductFamily::cube, shape, effort_.brief);
      recorder_.add(gemm->steady(Pass::steady, when_warm()));
    });
  }

  void measure_cubes() {
    // The small cube shows how long the large ones would last.
    std::unique_ptr<ChosenGemm> small;
    // Cubes of 8192 are what public tables have most; 4096 is the next that fills a large GPU,
    // 16384 shows whether the rate still rises.
    attempt(cube(4096), [&] { small = chosen(ProductFamily::cube, cube(4096), effort_.brief); });
    if (!small) return;
    if (takes_too_long(cube(8192))) {
      measure_brief(cube(8192));
      measure_reference(*small);
      return;
    }
    const bool reached = attempt(cube(8192), [&] {
      measure_reference(*chosen(ProductFamily::cube, cube(8192), effort_.reference));
    });
    if (!reached) {
      measure_reference(*small);
      return;
    }
    if (!effort_.other_cubes) return;
    recorder_.add(small->steady(Pass::steady, when_warm()));
    small.reset();
    measure_brief(cube(16384));
  }

  /// Rate of the best of a few proposals, not verified, as it would be at the maximum clock: trials
  /// follow a hot search, and each one's own clock is chance.
  std::optional<FlopPerSecond> trial(const ProductShape& shape) {
    const GemmSubject tried = subject(ProductFamily::search, shape);
    std::optional<FlopPerSecond> rate;
    const bool tried_it = attempt(shape, [&] {
      const std::unique_ptr<GemmSession> session = device_.open_gemm(tried.problem);
      const std::optional<GemmCandidate> candidate = fastest(*session);
      if (!candidate) throw NothingToMeasure(FindingId::no_algorithm_proposed);
      // A median that one sample does not move.
      const DeviceMeasured measured = session->time(*candidate, gap_free(trial_budget, 5));
      recorder_.add(gemm_point(tried, Pass::trial, *candidate, measured));
      const std::optional<double> time = median(measured.time_s);
      if (!time) return;
      const FlopPerSecond reached = gemm_rate(tried.problem, *time);
      if (impossible_rate(tried.device, format_.input, reached)) return;
      const double highest = tried.device.maximum_clock_hz.value_or(1e9);
      rate = reached * (highest / median(measured.clock_hz).value_or(highest));
    });
    failed_trials_ = tried_it ? 0 : failed_trials_ + 1;
    return rate;
  }

  void measure_best_shape() {
    const auto start = std::chrono::steady_clock::now();
    const DeviceDescription& device = device_.description();
    const ShapeLimits limits{
        .multiprocessors = device.multiprocessors,
        .trials = effort_.shape_trials,
        .out_of_time =
            [&] {
              const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
              return failed_trials_ >= most_failed_trials ||
                     spent.count() > effort_.shape_search.value();
            },
        .fits =
            [&](const ProductShape& shape) {
              const Bytes needed = gemm_memory(problem(shape), device.l2_cache);
              return needed <= device_.available_memory() && !takes_too_long(shape);
            }};
    const ShapeFound found =
        search_shape(limits, [&](const ProductShape& shape) { return trial(shape); });
    if (!found.best) return;
    attempt(*found.best, [&] {
      const auto gemm = chosen(ProductFamily::search, *found.best, effort_.reference);
      Point point = gemm->steady(Pass::steady, effort_.sustained);
      point.stop_reason.emplace_back(FindingId::shapes_searched, found.trials, *found.stop_reason);
      recorder_.add(std::move(point));
      recorder_.add(gemm->burst(effort_.pause));
    });
  }

  Device& device_;
  GemmFormat format_;
  GemmEffort effort_;
  std::string library_;
  Attempts& attempts_;
  Recorder& recorder_;
  double& rate_;
  int failed_trials_ = 0;  // in a row
};

/// A piece of the probe that is measured on one GPU as a whole: a format, or one of the user's
/// products.
struct Job {
  std::string name;
  std::function<void(Device&, const Progress&)> measure;  // throws GpuLost
};

std::vector<Job> jobs_for(const DeviceDescription& device,
                          const DeviceSetting& setting,
                          Attempts& attempts) {
  const Suite suite = setting.suite;
  std::vector<Job> jobs;
  for (const DeviceSetting::NamedProblem& own : setting.own_problems) {
    jobs.push_back({own.name, [=, &attempts](Device& on, const Progress& progress) {
                      const GemmEffort effort = gemm_effort(suite, false);
                      const std::string what = own.name + " " + gemm_problem_name(own.problem);
                      progress(0.0, what);
                      attempts.attempt(what, [&] {
                        const std::string library = required(on.gemm_library());
                        ChosenGemm gemm(
                            on,
                            {on.description(), library, ProductFamily::own, own.name, own.problem},
                            effort.reference,
                            attempts.recorder);
                        attempts.recorder.add(gemm.steady(Pass::steady, effort.sustained));
                        attempts.recorder.add(gemm.burst(effort.pause));
                      });
                    }});
  }
  if (!jobs.empty()) return jobs;
  // The cubes of all formats first: when time is short, a table lacks best shapes and no format.
  std::vector<Job> searches;
  for (const GemmFormat& format : gemm_formats(suite, device.compute_capability)) {
    const auto rate = std::make_shared<double>(0.0);
    jobs.push_back({key_of(format.input), [=, &attempts](Device& on, const Progress& progress) {
                      FormatMeasurement(on, format, suite, attempts, *rate).cubes(progress);
                    }});
    if (gemm_effort(suite, format.leading).shape_trials == 0) continue;
    searches.push_back(
        {key_of(format.input), [=, &attempts](Device& on, const Progress& progress) {
           FormatMeasurement(on, format, suite, attempts, *rate).best_shape(progress);
         }});
  }
  std::ranges::move(searches, std::back_inserter(jobs));
  return jobs;
}

/// The jobs of one kind of GPU. Where a GPU is lost, the next equal one begins the job anew in
/// which that happened and goes on; false when none was left for a job.
bool measure_kind(const std::vector<Device*>& equal,
                  const std::vector<Job>& jobs,
                  Attempts& attempts,
                  const Progress& progress) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < equal.size() && next < jobs.size(); ++i) {
    Device& device = *equal[i];
    const auto show = [&](double done, const std::string& what) {
      progress((static_cast<double>(next) + done) / static_cast<double>(jobs.size()),
               fmt::format("gpu {}: {}", device.description().ordinal, what));
    };
    try {
      for (; next < jobs.size(); ++next) jobs[next].measure(device, show);
      device.release_memory();
    } catch (const GpuLost& lost) {
      attempts.last_failure = Finding(FindingId::stated, lost.what());
      if (next == jobs.size()) break;  // only its memory was still to be given back
      const bool last = i + 1 == equal.size();
      attempts.recorder.warn(
          last ? Finding(FindingId::no_equal_gpu_left, lost.what(), jobs[next].name)
               : Finding(FindingId::equal_gpu_goes_on,
                         lost.what(),
                         equal[i + 1]->description().ordinal,
                         jobs[next].name));
    }
  }
  return next == jobs.size();
}

/// The cube by which GPUs are compared, in the first format of the quick suite.
GemmProblem reference_cube(const DeviceDescription& device) {
  const NumberFormat format = gemm_formats(Suite::quick, device.compute_capability).front().input;
  return {.input = format, .m = 8192, .n = 8192, .k = 8192};  // as in `measure_cubes`
}

// Whether GPUs of a node are equally fast, and what they cost each other in power and heat.

/// Always two windows, the second kept: so GPUs that run at once end at once. The first takes what
/// the clock needs to fall, a few hundred milliseconds. Each GPU has them alone, one after another.
SustainedRule together_rule(Suite suite) {
  const Seconds window = suite == Suite::quick ? Seconds(0.5) : Seconds(3.0);
  return {.window = window, .minimum = 2.0 * window, .maximum = 2.0 * window};
}

using Prepared = std::vector<std::unique_ptr<ChosenGemm>>;

/// Every GPU searches for itself and runs alone; one that cannot is left out with a warning, and
/// `broken` has the reason of one that is lost.
Prepared measure_alone(Devices& devices,
                       const GemmEffort& effort,
                       const SustainedRule& rule,
                       Recorder& recorder,
                       std::optional<std::string>& broken) {
  Prepared prepared;
  double done = 0.0;
  for (const std::unique_ptr<Device>& device : devices) {
    const DeviceDescription& description = device->description();
    const auto leave_out = [&](const Finding& reason) {
      recorder.warn({FindingId::gpu_left_out, description.ordinal, reason});
    };
    // The rest is the time together.
    recorder.progress(0.8 * done++ / static_cast<double>(devices.size()),
                      fmt::format("gpu {} alone", description.ordinal));
    try {
      const std::string library = required(device->gemm_library());
      auto gemm = std::make_unique<ChosenGemm>(
          *device,
          GemmSubject{description, library, ProductFamily::cube, {}, reference_cube(description)},
          effort.brief,
          recorder);
      recorder.add(gemm->steady(Pass::alone, rule));
      prepared.push_back(std::move(gemm));
    } catch (const ProbeFailure& failure) {
      leave_out({FindingId::stated, failure.what()});
      if (dynamic_cast<const GpuLost*>(&failure) != nullptr) broken = failure.what();
    } catch (const NothingToMeasure& nothing) {
      leave_out(nothing.reason);
    }
  }
  return prepared;
}

/// A signal goes before any other failure: it ends the run.
void rethrow(const std::vector<std::exception_ptr>& failures,
             const Prepared& prepared,
             std::optional<std::string> broken) {
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
}  // namespace

void measure_gpu_gemm(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const std::vector<std::vector<std::size_t>> kinds = device_kinds(setting.devices);
  if (kinds.size() < devices.size()) {
    recorder.warn(
        {FindingId::one_gpu_of_each_kind, kinds.size(), devices.size(), probe_name::gpu_together});
  }
  Attempts attempts{recorder};
  bool complete = true;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto equal = mapped(kinds[i], [&](std::size_t one) { return devices.at(one).get(); });
    const std::vector<Job> jobs = jobs_for(setting.devices[kinds[i].front()], setting, attempts);
    const auto progress = [&](double done, const std::string& what) {
      recorder.progress((static_cast<double>(i) + done) / static_cast<double>(kinds.size()), what);
    };
    complete = measure_kind(equal, jobs, attempts, progress) && complete;
  }
  if (attempts.last_failure && (!attempts.any || !complete))
    throw FailureFound(*attempts.last_failure);
}

Seconds estimate_gpu_gemm(const DeviceSetting& setting) {
  Seconds total{};
  for (const auto& equal : device_kinds(setting.devices)) {
    const int capability = setting.devices[equal.front()].compute_capability;
    if (!setting.own_problems.empty()) {
      total += static_cast<double>(setting.own_problems.size()) *
               own_product_time(gemm_effort(setting.suite, false));
      continue;
    }
    for (const GemmFormat& format : gemm_formats(setting.suite, capability)) {
      total += format_time(gemm_effort(setting.suite, format.leading));
    }
  }
  return total;
}

void measure_gpu_together(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  if (devices.size() < 2) throw NothingToMeasure(FindingId::no_other_gpu);
  required(devices.front()->gemm_library());
  GemmEffort effort = gemm_effort(setting.suite, true);
  effort.brief.recorded = false;
  const SustainedRule rule = together_rule(setting.suite);
  std::optional<std::string> broken;
  Prepared prepared = measure_alone(devices, effort, rule, recorder, broken);
  if (prepared.size() < 2) throw ProbeFailure("fewer than two GPUs can run the product");
  recorder.progress(0.8, fmt::format("{} GPUs together", prepared.size()));
  std::vector<std::optional<Point>> points(prepared.size());
  const AtOnce done = run_at_once(prepared.size(), [&](std::size_t i) {
    points[i] = prepared[i]->steady(Pass::together, rule);
  });
  for (std::optional<Point>& point : points)
    if (point) recorder.add(std::move(*point));
  rethrow(done.failures, prepared, broken);
}

Seconds estimate_gpu_together(const DeviceSetting& setting) {
  if (setting.devices.size() < 2) return Seconds(0.0);
  const GemmEffort effort = gemm_effort(setting.suite, true);
  const Seconds once = together_rule(setting.suite).maximum;
  return static_cast<double>(setting.devices.size()) * (search_time(effort.brief) + once) + once;
}
}  // namespace scaleworth::probes
