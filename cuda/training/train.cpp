// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/train.h"

#include "cuda/device/activity.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/memory.h"
#include "probes/training/shape.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"
#include "src/core/files/run_directory.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <set>
#include <utility>
#include <variant>

namespace scaleworth::gpu {
namespace {

// One step without the machinery of a full pipeline is left out, and one before a capture.
constexpr int least_warmup = 2;
// No wait is charged to a rank then.
constexpr std::chrono::seconds unaligned_clocks{1};

/// The training of this process's ranks, phase by phase; after each phase all processes agree.
class LocalTraining {
 public:
  LocalTraining(const std::vector<TrainingRank>& local,
                Rendezvous& meeting,
                const TrainingLibraries& libraries,
                const TrainingWork& work)
      : meeting_(meeting), libraries_(libraries), work_(work) {
    for (const TrainingRank& rank : local) members_.emplace_back().rank = rank;
  }

  TrainingMeasured run() {
    build();
    const int warmup = std::max(least_warmup, work_.warmup_steps);
    on_all_ranks([&](Member& member) { member.finished = member.trainer->run(0, warmup - 1); });
    use_graphs();
    start_tracing();
    on_all_ranks([&](Member& member) { measure(member, warmup); });
    stop_tracing();
    return report();
  }

 private:
  struct Member {
    TrainingRank rank;
    std::unique_ptr<DeviceTrainer> trainer;
    std::vector<FinishedStep> finished;
    RankShare share;
    std::string no_graphs;
  };
  using Action = std::function<void(Member&)>;

  void on_members(const Action& action) {
    const AtOnce done = run_at_once(members_.size(), [&](std::size_t i) {
      try {
        check(cudaSetDevice(members_[i].rank.ordinal));
        action(members_[i]);
      } catch (...) {
        stop_ = true;
        throw;
      }
    });
    if (done.first) std::rethrow_exception(done.first);
  }

  void on_all_ranks(const Action& action) {
    meeting_.agree(rank_trouble([&] { on_members(action); }));
  }

  // The first of all processes' texts that is not empty.
  std::string any_text(const std::string& own) {
    for (const std::string& one : meeting_.all_gather(own))
      if (!one.empty()) return one;
    return {};
  }

  void build() {
    on_all_ranks([this](Member& member) {
      member.trainer =
          std::make_unique<DeviceTrainer>(member.rank, libraries_.cublas_lt, stop_, work_);
    });
  }

  // All ranks or none: a captured sum must meet its like.
  void use_graphs() {
    if (!work_.graphs) return;
    on_all_ranks([](Member& member) {
      try {
        member.trainer->capture();
      } catch (const std::exception& failure) {
        member.no_graphs = failure.what();
      }
    });
    for (const Member& member : members_)
      if (no_graphs_.empty()) no_graphs_ = member.no_graphs;
    no_graphs_ = any_text(no_graphs_);
    if (no_graphs_.empty()) return;
    for (Member& member : members_) member.trainer->forget_graphs();
  }

  // All processes or none, like graphs: the others' steps would be faster.
  void start_tracing() {
    if (!work_.trace) return;
    std::string obstacle;
    try {
      if (const auto* cupti = std::get_if<std::shared_ptr<const Cupti>>(&libraries_.cupti)) {
        if (!members_.empty()) tracer_.emplace(*cupti);
      } else {
        obstacle = reason_of(libraries_.cupti);
      }
    } catch (const NothingToMeasure& missing) {
      obstacle = missing.what();
    }
    no_trace_ = any_text(obstacle);
    if (!no_trace_.empty()) tracer_.reset();
  }

  void stop_tracing() {
    if (!work_.trace || !no_trace_.empty()) return;
    meeting_.agree(rank_trouble([this] {
      if (!tracer_) return;
      const RecordedActivities recorded = tracer_->stop();
      for (Member& member : members_) add_kernels(recorded, member);
    }));
    tracer_.reset();
  }

  void add_kernels(const RecordedActivities& recorded, Member& member) const {
    std::vector<DeviceActivity> own;
    for (const DeviceActivity& activity : recorded.activities) {
      if (activity.device == member.rank.ordinal) own.push_back(activity);
    }
    const std::size_t sums = member.trainer->schedule().posted_after.size();
    member.share.kernels = kernel_spans(std::move(own), {work_.steps, sums}, member.rank.rank);
    member.share.dropped_records = recorded.dropped;
  }

  void measure(Member& member, int warmup) {
    DeviceTrainer& trainer = *member.trainer;
    trainer.begin_clock();
    std::vector<FinishedStep> steps = trainer.run(warmup - 1, 1 + work_.steps);
    member.share.rank = member.rank.rank;
    member.share.clock = trainer.end_clock();
    member.share.clock_error_s = trainer.clock_error_s();
    member.share.fingerprint = trainer.weight_fingerprint();
    // The first one filled the pipeline.
    for (std::size_t i = 1; i < steps.size(); ++i) {
      member.share.steps.push_back(std::move(steps[i].times));
    }
    member.finished.insert(member.finished.end(), steps.begin(), steps.end());
  }

  TrainingMeasured report() {
    TrainingMeasured measured;
    std::vector<RankShare> own;
    for (const Member& member : members_) own.push_back(member.share);
    const std::vector<std::string> texts = meeting_.gather(message_text(std::move(own)));
    const std::vector<std::string> hosts = meeting_.gather(host_name());
    double fastest = 0.0;
    meeting_.agree(rank_trouble([&] {
      if (meeting_.rank() != 0) return;
      add_timeline(texts, measured);
      describe_hosts(std::set<std::string>(hosts.begin(), hosts.end()).size(), measured.timeline);
      fastest = quantile(slowest_steps(measured.timeline), 0.0).value_or(0.0);
    }));
    measured.fastest_step = Seconds(std::stod(meeting_.broadcast(fmt::format("{}", fastest))));
    add_counts(measured);
    return measured;
  }

  void add_timeline(const std::vector<std::string>& texts, TrainingMeasured& measured) {
    std::vector<RankShare> shares;
    for (const std::string& text : texts) {
      for (RankShare& share : read_message<std::vector<RankShare>>(text))
        shares.push_back(std::move(share));
    }
    measured.timeline = timeline_of(members_.at(0).trainer->schedule(), shares);
    measured.timeline.clock_method =
        "each GPU's events on its host's monotonic clock, by an event between two readings before "
        "and after";
    if (work_.trace && no_trace_.empty()) use_kernels(shares, measured);
    const auto differing = std::count_if(shares.begin(), shares.end(), [&](const auto& share) {
      return share.fingerprint != shares.front().fingerprint;
    });
    if (differing > 0) {
      measured.warnings.push_back(fmt::format(
          "the weights of {} ranks differ from rank 0's: their all-reduces gave different sums",
          differing));
    }
    for (const FinishedStep& step : members_.at(0).finished) measured.loss.push_back(step.loss);
    measured.graphs_missing = no_graphs_;
    measured.trace_missing = no_trace_;
  }

  void use_kernels(const std::vector<RankShare>& shares, TrainingMeasured& measured) {
    // A process's ranks share one tracer.
    for (const RankShare& share : shares) {
      measured.dropped_records = std::max(measured.dropped_records, share.dropped_records);
    }
    if (std::optional<Timeline> kernels = kernel_timeline_of(shares)) {
      measured.timeline = std::move(*kernels);
    } else {
      no_trace_ = "CUPTI's records lack steps or all-reduces of the training";
    }
  }

  static void describe_hosts(std::size_t hosts, Timeline& timeline) {
    if (hosts < 2) return;
    timeline.clock_method += "; clocks of several hosts, which were not aligned";
    timeline.clock_error = unaligned_clocks;
  }

  void add_counts(TrainingMeasured& measured) const {
    constexpr double element = sizeof(Bfloat16);
    measured.parameters = parameter_count(work_.shape);
    measured.model_flops = model_flops(work_.shape, work_.global_batch);
    measured.tokens = work_.global_batch * work_.shape.sequence;
    measured.gradient = Bytes(static_cast<double>(measured.parameters) * element);
    const auto buckets = make_buckets(ParameterLayout(work_.shape), work_.bucket, Bytes(element));
    for (const Bucket& bucket : buckets) {
      measured.buckets.emplace_back(static_cast<double>(bucket.size) * element);
    }
  }

  Rendezvous& meeting_;
  const TrainingLibraries& libraries_;
  TrainingWork work_;
  std::atomic<bool> stop_{false};
  std::vector<Member> members_;
  std::optional<ActivityRecorder> tracer_;
  std::string no_graphs_;
  std::string no_trace_;
};

}  // namespace

TrainingMeasured train_on_gpus(const std::vector<TrainingRank>& local,
                               Rendezvous& meeting,
                               const TrainingLibraries& libraries,
                               const TrainingWork& work) {
  check_training_work(work);
  check_device_shape(work.shape);
  return LocalTraining(local, meeting, libraries, work).run();
}

void list(RankMessage& message, StepTimes& one) {
  message(one.previous_end, one.start, one.stage_end, one.sum_end, one.end);
}
void list(RankMessage& message, Span& one) {
  message(one.rank, one.step, one.activity, one.sequence, one.start, one.end, one.name);
}
void list(RankMessage& message, RankShare& one) {
  message(one.rank,
          one.clock,
          one.clock_error_s,
          one.fingerprint,
          one.steps,
          one.dropped_records,
          one.kernels);
}

Timeline timeline_of(const StepSchedule& schedule, const std::vector<RankShare>& shares) {
  Timeline timeline;
  timeline.ranks = static_cast<int>(shares.size());
  for (const RankShare& share : shares) {
    const auto error = std::chrono::nanoseconds(std::llround(share.clock_error_s * 1e9));
    // Two ranks may be wrong in opposite directions.
    if (shares.size() > 1) timeline.clock_error = std::max(timeline.clock_error, 2 * error);
    std::int32_t step = 0;
    for (const StepTimes& times : share.steps) {
      if (times.stage_end.size() != schedule.stages.size() ||
          times.sum_end.size() != schedule.posted_after.size()) {
        throw ProbeFailure(
            "ranks of a training disagree about its stages: do all run the same build?");
      }
      append_step_spans(schedule, times, share.clock, share.rank, step++, timeline.spans);
    }
  }
  return timeline;
}

std::optional<Timeline> kernel_timeline_of(const std::vector<RankShare>& shares) {
  // Ends of one kernel on several GPUs were seen 1 to 27 us apart.
  constexpr std::chrono::microseconds conversion_error{30};
  Timeline timeline;
  timeline.ranks = static_cast<int>(shares.size());
  timeline.clock_method = "CUPTI, which fits each GPU's clock to the host's real time";
  if (shares.size() > 1) timeline.clock_error = conversion_error;
  for (const RankShare& share : shares) {
    if (share.kernels.empty()) return std::nullopt;
    timeline.spans.insert(timeline.spans.end(), share.kernels.begin(), share.kernels.end());
  }
  return timeline;
}
}  // namespace scaleworth::gpu
