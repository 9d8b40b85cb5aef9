// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/train.h"

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

// One fills the pipeline, one more is left out.
constexpr int least_warmup = 2;
// No wait is charged to a rank then.
constexpr std::chrono::seconds unaligned_clocks{1};

/// The training of this process's ranks, phase by phase; after each phase all processes agree.
class LocalTraining {
 public:
  LocalTraining(const std::vector<TrainingRank>& local,
                Rendezvous& meeting,
                const std::shared_ptr<const CublasLt>& library,
                const TrainingWork& work)
      : meeting_(meeting), library_(library), work_(work) {
    for (const TrainingRank& rank : local) members_.emplace_back().rank = rank;
  }

  TrainingMeasured run() {
    build();
    const int warmup = std::max(least_warmup, work_.warmup_steps);
    on_all_ranks([&](Member& member) { member.finished = member.trainer->run(0, warmup - 1); });
    on_all_ranks([&](Member& member) { measure(member, warmup); });
    return report();
  }

 private:
  struct Member {
    TrainingRank rank;
    std::unique_ptr<DeviceTrainer> trainer;
    std::vector<FinishedStep> finished;
    RankShare share;
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

  void build() {
    on_all_ranks([this](Member& member) {
      member.trainer = std::make_unique<DeviceTrainer>(member.rank, library_, stop_, work_);
    });
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
    const std::vector<std::string> texts =
        meeting_.gather(message_text(mapped(members_, &Member::share)));
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
    const auto differing = std::count_if(shares.begin(), shares.end(), [&](const auto& share) {
      return share.fingerprint != shares.front().fingerprint;
    });
    if (differing > 0) measured.warnings.emplace_back(FindingId::nccl_sums_differ, differing);
    for (const FinishedStep& step : members_.at(0).finished) measured.loss.push_back(step.loss);
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
  const std::shared_ptr<const CublasLt>& library_;
  TrainingWork work_;
  std::atomic<bool> stop_{false};
  std::vector<Member> members_;
};

}  // namespace

TrainingMeasured train_on_gpus(const std::vector<TrainingRank>& local,
                               Rendezvous& meeting,
                               const std::shared_ptr<const CublasLt>& library,
                               const TrainingWork& work) {
  check_training_work(work);
  check_device_shape(work.shape);
  return LocalTraining(local, meeting, library, work).run();
}

void list(RankMessage& message, StepTimes& one) {
  message(one.previous_end, one.start, one.stage_end, one.sum_end, one.end);
}
void list(RankMessage& message, RankShare& one) {
  message(one.rank, one.clock, one.clock_error_s, one.fingerprint, one.steps);
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

}  // namespace scaleworth::gpu
