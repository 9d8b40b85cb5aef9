// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

#include "tests/catch.h"
#include "tests/sim/trace/faulty_job.h"
#include "trace/analysis/ledger.h"

#include <limits>
#include <random>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {
void add_mark(Recording& recording, std::int32_t number, std::int64_t start, std::int64_t end) {
  recording.step_marks.push_back({number, nanoseconds(start), nanoseconds(end)});
  recording.step_marks_from = "ProfilerStep";
}

void add_kernel(Recording& recording,
                const char* name,
                std::int64_t start,
                std::int64_t end,
                std::uint64_t correlation = 0) {
  DeviceEvent event;
  event.start = nanoseconds(start);
  event.end = nanoseconds(end);
  event.correlation = correlation;
  event.name = recording.names.intern(name);
  recording.device_events.push_back(event);
}

void add_launch(Recording& recording, std::uint64_t correlation, std::int64_t time) {
  HostEvent event;
  event.start = nanoseconds(time);
  event.end = nanoseconds(time + 1);
  event.correlation = correlation;
  recording.host_events.push_back(event);
}

Job job_of(std::size_t ranks) {
  Job job;
  job.recordings.resize(ranks);
  return job;
}

const Finding at_markers(FindingId::steps_at_markers, "ProfilerStep markers");

StepPlan steps_of(const Job& job) {
  return find_steps(job, ClockMap(job.recordings.size()));
}

std::vector<std::int64_t> numbers(const StepPlan& plan, std::size_t rank) {
  std::vector<std::int64_t> result;
  for (const StepSpan& step : plan.by_rank.at(rank)) result.push_back(step.number);
  return result;
}

/// Steps 0, 1, ... of the given lengths, end to end, on each of two ranks.
Job marked_job(const std::vector<std::int64_t>& lengths) {
  Job job = job_of(2);
  for (Recording& recording : job.recordings) {
    std::int64_t now = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      add_mark(recording, static_cast<std::int32_t>(i), now, now + lengths[i]);
      now += lengths[i];
    }
  }
  return job;
}
}  // namespace

TEST_CASE("a marked step lasts until the next begins, the last until its work has ended",
          "[steps]") {
  Job job = job_of(1);
  Recording& recording = job.recordings[0];
  add_mark(recording, 4, 100, 180);
  add_mark(recording, 5, 200, 290);
  add_launch(recording, 1, 150);
  add_launch(recording, 2, 250);
  add_launch(recording, 3, 295);
  add_kernel(recording, "a", 160, 230, 1);
  add_kernel(recording, "a", 300, 340, 2);  // launched in step 5
  add_kernel(recording, "a", 350, 400, 3);  // launched after it
  const StepPlan plan = steps_of(job);
  const auto& steps = plan.by_rank.at(0);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].number == 4);
  CHECK(steps[0].start == nanoseconds(100));
  CHECK(steps[0].end == nanoseconds(200));
  CHECK(steps[1].end == nanoseconds(340));
  CHECK(plan.choice.source == "ProfilerStep markers");
  CHECK(plan.choice.steps == 2);
  CHECK(plan.choice.excluded == 2);
}

namespace {
/// A rank whose host takes `host` for each of six steps and whose device, on two streams, takes 100
/// from `first` on: a copy of 10 that may begin early, kernels of 60 and 30, a collective of 10 on
/// another stream.
void add_steps(Recording& recording, std::int64_t host, std::int64_t first) {
  for (std::int32_t step = 0; step < 6; ++step) {
    const std::int64_t launched = host * step;
    const std::int64_t begins = std::max(first + 100 * step, launched + 2);
    add_mark(recording, step, launched, launched + host - 1);
    const auto add = [&](const char* name, std::int64_t start, std::int64_t end, auto stream) {
      const std::uint64_t correlation = recording.device_events.size() + 1;
      add_launch(recording, correlation, launched + 1);
      add_kernel(recording, name, start, end, correlation);
      recording.device_events.back().stream = stream;
    };
    add("copy", std::max(launched + 2, begins - 100), begins - 90, 9U);
    add("forward", begins, begins + 60, 7U);
    add("backward", begins + 60, begins + 90, 7U);
    add("reduce", begins + 90, begins + 100, 20U);
  }
  sort_events(recording);
}
}  // namespace

TEST_CASE("work belongs to the step that launched it when the host runs far ahead", "[steps]") {
  // Launched in 6 x 10, run in 6 x 100: by the marks, step 1 would last 10 and step 5 all the rest.
  Job job = job_of(2);
  add_steps(job.recordings[0], 10, 100);
  add_steps(job.recordings[1], 14, 103);  // its host is slower, its device is not
  const StepPlan plan = steps_of(job);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto& steps = plan.by_rank.at(rank);
    REQUIRE(steps.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      const auto begins = static_cast<std::int64_t>(100 + 3 * rank + 100 * i);
      CHECK(steps[i].start == nanoseconds(begins));
      CHECK(steps[i].end == nanoseconds(begins + 100));
    }
  }
  CHECK(plan.choice.source == "ProfilerStep markers");
  CHECK(plan.choice.excluded == 2);
  REQUIRE(plan.choice.found);
  CHECK(plan.choice.found->id == FindingId::steps_at_work);
  CHECK(plan.choice.found->arguments.at(0) == "ProfilerStep markers");
}

TEST_CASE("a mark at the end without work makes no step of the device", "[steps]") {
  Job job = job_of(1);
  add_steps(job.recordings[0], 10, 100);
  add_mark(job.recordings[0], 6, 60, 62);
  CHECK(numbers(steps_of(job), 0) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("the marks stay where the device keeps up with the host", "[steps]") {
  Job job = job_of(1);
  add_steps(job.recordings[0], 150, 20);
  const StepPlan plan = steps_of(job);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(plan.by_rank.at(0).at(i).start == nanoseconds(150 * static_cast<std::int64_t>(i)));
    CHECK(plan.by_rank.at(0).at(i).end == nanoseconds(150 * static_cast<std::int64_t>(i) + 150));
  }
  CHECK(plan.choice.found == at_markers);
}

TEST_CASE("marks that most device work lies outside of give way to repetition", "[steps]") {
  // Six marks, a quarter of their time busy; eight iterations of other work follow.
  Job job = job_of(1);
  Recording& recording = job.recordings[0];
  for (std::int32_t step = 0; step < 6; ++step) {
    add_mark(recording, step, 20 * step, 20 * step + 20);
    add_kernel(recording, "evaluate", 20 * step, 20 * step + 5);
  }
  for (std::int64_t begin = 1000; begin < 1800; begin += 100)
    for (const std::int64_t offset : {0, 30, 60})
      add_kernel(recording,
                 offset == 0    ? "load"
                 : offset == 30 ? "forward"
                                : "backward",
                 begin + offset,
                 begin + offset + 29);
  const StepPlan repeated = steps_of(job);
  CHECK(repeated.choice.source == "repetition");
  const auto outside = [](double share) {
    return Finding(FindingId::time_outside_of_markers, share, "ProfilerStep markers");
  };
  REQUIRE(repeated.choice.found);
  CHECK(repeated.choice.found->id == FindingId::cut_by_repetition);
  CHECK(repeated.choice.found->arguments.at(0) == outside(8.0 * 87 / (8 * 87 + 6 * 5)));
  std::erase_if(recording.device_events,
                [&](const DeviceEvent& event) { return event.start >= nanoseconds(1200); });
  CHECK(steps_of(job).choice.found ==
        Finding(FindingId::not_cut,
                Finding(FindingId::no_repetition, outside(2.0 * 87 / (2 * 87 + 6 * 5)))));
  std::erase_if(recording.device_events,
                [&](const DeviceEvent& event) { return event.start > nanoseconds(1000); });
  CHECK(steps_of(job).choice.found ==
        Finding(FindingId::time_outside, at_markers, 29.0 / (29 + 6 * 5)));
}

TEST_CASE("busy steps within a longer recording are kept", "[steps]") {
  Job job = marked_job({100, 100, 100});
  for (Recording& recording : job.recordings) {
    add_kernel(recording, "initialize", -2000, -1000);
    for (std::int64_t step = 0; step < 3; ++step)
      add_kernel(recording, "train", 100 * step, 100 * step + 80);
  }
  CHECK(steps_of(job).choice.found ==
        Finding(FindingId::time_outside, at_markers, 1000.0 / (1000 + 3 * 80)));
}

TEST_CASE("a step before a pause of the recording does not reach over it", "[steps]") {
  Job job = job_of(1);
  for (const std::int32_t number : {1, 2, 3, 11, 12, 13})
    add_mark(job.recordings[0], number, number * 100, number * 100 + 90);
  add_kernel(job.recordings[0], "a", 380, 420);  // without a launch: it begins in step 3
  const StepPlan plan = steps_of(job);
  const auto& steps = plan.by_rank.at(0);
  REQUIRE(steps.size() == 6);
  CHECK_FALSE(steps[1].excluded);
  CHECK(steps[2].end == nanoseconds(420));
  CHECK(exclusion_text(steps[2].excluded.value()) ==
        "boundary: the last step before a pause of the recording");
  CHECK(exclusion_text(steps[3].excluded.value()) ==
        "boundary: the first step after a pause of the recording");
  CHECK(plan.choice.excluded == 4);
}

TEST_CASE("steps that a framework recorded as a whole may be any selection", "[steps]") {
  Job job = job_of(1);
  for (const std::int32_t number : {1, 5, 9, 33})
    add_mark(job.recordings[0], number, number * 100, number * 100 + 90);
  job.recordings[0].origin.framework_timeline = true;
  const StepPlan plan = steps_of(job);
  CHECK(plan.by_rank.at(0).at(1).end == nanoseconds(590));
  CHECK(plan.choice.excluded == 2);
}

TEST_CASE("marks of several threads for one step are one step", "[steps]") {
  Job job = job_of(1);
  add_mark(job.recordings[0], 7, 0, 90);
  add_mark(job.recordings[0], 7, 0, 95);
  add_mark(job.recordings[0], 7, 5, 99);
  CHECK(steps_of(job).by_rank.at(0).size() == 1);
  CHECK(steps_of(job).by_rank.at(0).at(0).end == nanoseconds(99));
}

TEST_CASE("the largest number of a step does not overflow", "[steps]") {
  Job job = job_of(1);
  add_mark(job.recordings[0], std::numeric_limits<std::int32_t>::min(), 0, 90);
  add_mark(job.recordings[0], std::numeric_limits<std::int32_t>::max(), 100, 110);
  add_mark(job.recordings[0], std::numeric_limits<std::int32_t>::min(), 200, 210);
  CHECK(numbers(steps_of(job), 0) == std::vector<std::int64_t>{0, 1, 2});  // counted
}

TEST_CASE("ends of any rank's recording are boundary steps of all", "[steps]") {
  Job job = job_of(2);
  for (std::int32_t number = 0; number < 6; ++number)
    add_mark(job.recordings[0], number, number * 100, number * 100 + 100);
  for (std::int32_t number = 2; number < 6; ++number)
    add_mark(job.recordings[1], number, number * 100 + 3, number * 100 + 103);
  const auto steps = steps_of(job).by_rank.at(0);
  CHECK(exclusion_text(steps[1].excluded.value()) == "boundary: recorded on 1 of 2 ranks only");
  CHECK(exclusion_text(steps[2].excluded.value()) ==
        "boundary: the first step of a rank's recording");
  CHECK_FALSE(steps[3].excluded);
  CHECK(exclusion_text(steps[5].excluded.value()) ==
        "boundary: the last step of a rank's recording");
}

TEST_CASE("begins far apart and ends together say that profiling starts within the step",
          "[steps]") {
  Job job = job_of(2);
  add_mark(job.recordings[0], 10, 0, 20'000'000);
  add_mark(job.recordings[1], 10, 7'500'000, 20'900'000);
  CHECK(exclusion_text(steps_of(job).by_rank.at(1).at(0).excluded.value()) ==
        "boundary: the only step of a rank's recording; the ranks begin it within 7.5 ms and end "
        "it within 0.9 ms, as when profiling starts in its midst");
}

TEST_CASE("slow first steps are warm-up, a slow step in the midst is not", "[steps]") {
  // Without both ends: 300, 150, then 100 but for one of 400 at the end.
  const StepPlan plan =
      steps_of(marked_job({100, 300, 150, 100, 101, 99, 100, 400, 100, 101, 100}));
  const auto& steps = plan.by_rank.at(1);
  CHECK(exclusion_text(steps[1].excluded.value()) ==
        "warm-up: takes 200 % longer than the later steps");
  CHECK(exclusion_text(steps[2].excluded.value()) ==
        "warm-up: takes 50 % longer than the later steps");
  CHECK_FALSE(steps[3].excluded);
  CHECK_FALSE(steps[7].excluded);
  CHECK(plan.choice.steps == 11);
  CHECK(plan.choice.excluded == 4);
}

TEST_CASE("steps of uneven length hide no warm-up", "[steps]") {
  const StepPlan plan = steps_of(marked_job({100, 200, 100, 180, 100, 190, 110, 180, 100, 100}));
  CHECK(plan.choice.excluded == 2);
}

TEST_CASE("a rank without marks is cut where the others are", "[steps]") {
  Job job = marked_job({100, 100, 100});
  job.recordings[1].step_marks.clear();
  add_kernel(job.recordings[1], "a", 50, 250);
  const StepPlan plan = steps_of(job);
  CHECK(numbers(plan, 1) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(plan.choice.found == Finding(FindingId::steps_lent, at_markers, "rank 1"));
}

TEST_CASE("numbers that no two ranks share are those of the same time, else counted", "[steps]") {
  Job job = marked_job({100, 100, 100});
  for (StepMark& mark : job.recordings[1].step_marks) mark.number += 1000;
  const StepPlan plan = steps_of(job);
  CHECK(numbers(plan, 0) == numbers(plan, 1));
  REQUIRE(plan.choice.found);
  CHECK(plan.choice.found->id == FindingId::steps_renumbered);
  for (StepMark& mark : job.recordings[1].step_marks) {
    mark.start += nanoseconds(1'000'000);
    mark.end += nanoseconds(1'000'000);
  }
  const StepPlan counted = steps_of(job);
  CHECK(numbers(counted, 0) == numbers(counted, 1));
  REQUIRE(counted.choice.found);
  CHECK(counted.choice.found->id == FindingId::steps_counted);
}

TEST_CASE("without marks and repetition the whole span is one step", "[steps]") {
  Job job = job_of(3);
  add_kernel(job.recordings[0], "a", 10, 90);
  add_kernel(job.recordings[0], "b", 20, 30);
  add_launch(job.recordings[1], 1, 40);
  const StepPlan plan = steps_of(job);
  CHECK(plan.choice.source == "whole span");
  CHECK(plan.choice.steps == 1);
  CHECK(plan.choice.excluded == 0);
  REQUIRE(plan.by_rank.at(0).size() == 1);
  CHECK(plan.by_rank[0][0].start == nanoseconds(10));
  CHECK(plan.by_rank[0][0].end == nanoseconds(90));
  CHECK(plan.by_rank.at(1).size() == 1);
  CHECK(plan.by_rank.at(2).empty());
  CHECK(steps_of(Job{}).by_rank.empty());
}

TEST_CASE("pieces of a repetition cover the span and have equal numbers at equal times",
          "[steps]") {
  Job job = job_of(2);
  // Rank 1's recording begins one iteration later: its first piece is number 1.
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[static_cast<std::size_t>(rank)];
    add_kernel(recording, "head", rank * 1000 - 50, rank * 1000 - 40);
    for (std::int64_t i = rank; i < 8; ++i) {
      const std::int64_t begin = 1000 * i + 20 * rank;
      for (const char* name : {"load", "forward", "backward", "update"}) {
        const std::int64_t offset = name[0] == 'l' ? 0 : name[0] == 'f' ? 100 : 500;
        add_kernel(recording, name, begin + offset, begin + offset + 90);
      }
    }
    sort_events(recording);
  }
  const StepPlan plan = steps_of(job);
  CHECK(plan.choice.source == "repetition");
  REQUIRE(plan.choice.found);
  CHECK(plan.choice.found->id == FindingId::cut_by_repetition);
  CHECK(plan.choice.found->arguments.at(1) == "load");
  CHECK(plan.choice.found->arguments.at(2) == 4);
  CHECK(plan.choice.found->arguments.at(3) == 8);
  const auto& first = plan.by_rank.at(0);
  const auto& second = plan.by_rank.at(1);
  REQUIRE(first.size() == 9);
  CHECK(first.front().start == nanoseconds(-50));
  CHECK(first.back().end == nanoseconds(7590));
  for (std::size_t i = 1; i < first.size(); ++i) CHECK(first[i].start == first[i - 1].end);
  CHECK(first[3].start == nanoseconds(2000));
  CHECK(second[2].start == nanoseconds(2020));
  CHECK(first[3].number == second[2].number);
}

namespace {
/// Kernels of 10 ns, 1 ns apart; "|" is a pause of 50 ns.
Recording kernels(const std::vector<std::string>& names) {
  Recording recording;
  std::int64_t now = 0;
  for (const std::string& name : names) {
    if (name == "|") {
      now += 50;
      continue;
    }
    DeviceEvent event;
    event.start = nanoseconds(now);
    event.end = nanoseconds(now + 10);
    event.name = recording.names.intern(name);
    recording.device_events.push_back(event);
    now += 11;
  }
  return recording;
}

void append(std::vector<std::string>& names, std::initializer_list<const char*> more, int times) {
  for (int i = 0; i < times; ++i) names.insert(names.end(), more.begin(), more.end());
}

/// Layers forward and back, loss and update once per step.
std::vector<std::string> training(int steps, int layers) {
  std::vector<std::string> names;
  for (int step = 0; step < steps; ++step) {
    append(names, {"|", "embedding"}, 1);
    append(names, {"norm", "attention", "gemm"}, layers);
    append(names, {"loss"}, 1);
    append(names, {"gemm_back", "attention_back"}, layers);
    append(names, {"update"}, 1);
  }
  return names;
}
}  // namespace

TEST_CASE("iterations are found, not the layers within them", "[steps]") {
  const auto found = find_repetition(kernels(training(6, 24)));
  REQUIRE(found);
  CHECK(found->anchor == "embedding");  // the device pauses before it
  CHECK(found->begins.size() == 6);
  CHECK(found->period == 3 + 5 * 24);
  CHECK(found->agreement == 1.0);
}

TEST_CASE("a window of two or three steps is no single one, and no row of layers", "[steps]") {
  for (const int steps : {2, 3})
    for (const int layers : {1, 3, 24}) {
      CAPTURE(steps, layers);
      const auto found = find_repetition(kernels(training(steps, layers)));
      REQUIRE(found);
      CHECK(found->begins.size() == static_cast<std::size_t>(steps));
      CHECK(found->period == static_cast<std::size_t>(3 + 5 * layers));
    }
  Job job;
  for (int rank = 0; rank < 2; ++rank) job.recordings.push_back(kernels(training(2, 3)));
  CHECK(steps_of(job).choice.steps == 2);
  auto names = training(3, 4);  // profiling began in the midst of a step
  names.erase(names.begin(), names.begin() + 14);
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->period == 23);
}

TEST_CASE("a window of two steps of few kernels is two steps, wherever they are told apart",
          "[steps]") {
  for (const int replicas : {2, 8})
    for (const int layers : {1, 4})
      for (const int steps : {2, 3}) {
        CAPTURE(replicas, layers, steps);
        testing::JobPlan plan;
        plan.replicas = replicas;
        plan.layers = layers;
        plan.steps = steps;
        plan.outliers = 0.0;
        Job job = std::move(testing::generate_job(plan).job);
        for (Recording& recording : job.recordings) recording.step_marks.clear();
        const StepPlan found = find_steps(job, align_clocks(job, match_collectives(job)).map);
        CHECK(found.choice.source == "repetition");
        CHECK(found.choice.steps == steps);
      }
}

TEST_CASE("what lies before the anchor of the first of two steps is part of that step", "[steps]") {
  Job job;
  job.recordings.push_back(
      kernels({"copy", "|", "a", "b", "c", "d", "copy", "|", "a", "b", "c", "d"}));
  const StepPlan plan = steps_of(job);
  CHECK(numbers(plan, 0) == std::vector<std::int64_t>{0, 1});
  CHECK(plan.by_rank[0][0].start == nanoseconds(0));
  CHECK(plan.by_rank[0][1].end == nanoseconds(10 * 11 + 2 * 50 - 1));
}

TEST_CASE("what comes along twice in many steps begins none", "[steps]") {
  auto names = training(40, 3);
  for (const std::ptrdiff_t at : {570, 190}) {
    std::vector<std::string> validation;
    append(validation, {"validate", "compare", "report", "save"}, 1);
    names.insert(names.begin() + at, validation.begin(), validation.end());
  }
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->begins.size() == 40);
}

TEST_CASE("a kernel now and then does not hide the iterations", "[steps]") {
  auto names = training(40, 3);
  for (std::size_t at = 10; at < names.size(); at += 190)
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), "log");
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->begins.size() == 40);
}

TEST_CASE("one kernel is enough where layers break off at it", "[steps]") {
  std::vector<std::string> names;
  for (int step = 0; step < 10; ++step) {
    append(names, {"norm", "attention", "gemm", "relu"}, 16);
    append(names, {"update", "update", "update"}, 1);
    append(names, {"clip"}, 1);
  }
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->anchor == "clip");
  CHECK(found->begins.size() == 10);
}

TEST_CASE("iterations that vary a little still repeat", "[steps]") {
  std::mt19937 random(1);
  std::vector<std::string> names;
  for (int step = 0; step < 20; ++step) {
    append(names, {"load"}, 1);
    append(names, {"gemm", "relu"}, 20 + static_cast<int>(random() % 2));
    append(names, {"update"}, 1);
  }
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->begins.size() == 20);
  CHECK(found->agreement < 1.0);
  CHECK(found->agreement > 0.9);
}

TEST_CASE("what does not come back regularly is no repetition", "[steps]") {
  CHECK(!find_repetition(kernels({})));
  CHECK(!find_repetition(kernels({"a", "b", "c", "d", "a"})));  // less than two pieces
  std::mt19937 random(2);
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i)
    names.push_back(std::string(1, static_cast<char>('a' + random() % 20)));
  CHECK(!find_repetition(kernels(names)));
  CHECK(!find_repetition(kernels(std::vector<std::string>(100, "same"))));
}

TEST_CASE("a repetition over a small part of the recording does not count", "[steps]") {
  auto names = training(5, 4);
  for (int i = 0; i < 400; ++i) names.push_back("other" + std::to_string(i));
  CHECK(!find_repetition(kernels(names)));
}

TEST_CASE("another rank's anchor is looked for by name", "[steps]") {
  const auto found = repetition_of(kernels(training(6, 8)), "update");
  REQUIRE(found);
  CHECK(found->begins.size() == 6);
  CHECK(!repetition_of(kernels(training(6, 8)), "gemm_back"));
  CHECK(!repetition_of(kernels(training(6, 8)), "absent"));
}
