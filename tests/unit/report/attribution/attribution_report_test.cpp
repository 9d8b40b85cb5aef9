// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/words.h"
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"
#include "tests/schema_check.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::report;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr std::array all_formats{
    Format::text, Format::markdown, Format::csv, Format::json, Format::html};

json as_json(const Attribution& attribution) {
  return json::parse(render_attribution(
      attribution, fixture::gpu_price, fixture::attribution_options(Format::json)));
}

json schema() {
  return read_schema(SCALEWORTH_ATTRIBUTION_SCHEMA);
}

/// The first line that begins so; empty for none.
std::string line_with(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line))
    if (line.starts_with(begin)) return line;
  return "";
}

Chart chart_of(const Attribution& attribution, const std::string& id) {
  const RenderOptions options;
  const AttributionView view{attribution, options, job_means(attribution.ledger)};
  for (Chart& chart : attribution_charts(view))
    if (chart.id == id) return chart;
  return {};
}

/// A job of as many ranks as a large cluster has, one step each.
Attribution large_job(int ranks) {
  Attribution job;
  for (int rank = 0; rank < ranks; ++rank) {
    StepLedger one;
    one.rank = Rank{rank};
    one.end = 1ms;
    one.parts[0] = 1ms;
    one.compute_by_class[0] = 1ms;
    job.ledger.push_back(one);
    RankRecording recording;
    recording.rank = Rank{rank};
    job.recordings.push_back(recording);
  }
  return job;
}

}  // namespace

TEST_CASE("the fixture's ledgers sum to their steps", "[attribution]") {
  for (const auto& ledger : fixture::straggler_job().ledger) check_sums(ledger);
  for (const auto& ledger : fixture::lone_recording().ledger) check_sums(ledger);
}

TEST_CASE("excluded steps are not in the averages", "[attribution]") {
  const auto job = job_means(fixture::straggler_job().ledger);
  REQUIRE(job);
  REQUIRE(job->mean.steps == 4);
  REQUIRE_FALSE(job->only_excluded);
  // Compute of steps 1 to 4: 13 ms + 10 us * step, mean 13.025 ms; on every rank the same.
  const Spread& compute = job->ranks[2].part(Part::compute);
  REQUIRE_THAT(compute.mean, WithinRel(13.025e-3, 1e-12));
  REQUIRE_THAT(compute.least, WithinRel(13.01e-3, 1e-12));
  REQUIRE_THAT(compute.most, WithinRel(13.04e-3, 1e-12));
  // Three of four ranks wait 4 ms.
  const Spread& wait = job->mean.part(Part::exposed_wait);
  REQUIRE_THAT(wait.mean, WithinRel(3e-3, 1e-12));
  REQUIRE_THAT(wait.least, WithinAbs(0.0, 1e-15));
  REQUIRE_THAT(wait.most, WithinRel(4e-3, 1e-12));
}

TEST_CASE("averaged parts add up to the averaged step", "[attribution]") {
  const auto job = job_means(fixture::straggler_job().ledger);
  REQUIRE(job);
  for (const MeanLedger& rank : job->ranks) {
    double sum = 0.0;
    for (const Spread& part : rank.parts) sum += part.mean;
    REQUIRE_THAT(sum, WithinRel(rank.step.mean, 1e-12));
  }
}

TEST_CASE("where every step is excluded the averages are of those, and say so", "[attribution]") {
  const auto job = job_means(fixture::lone_recording().ledger);
  REQUIRE(job);
  REQUIRE(job->only_excluded);
  REQUIRE(job->mean.steps == 1);
}

TEST_CASE("a job without steps has no averages", "[attribution]") {
  REQUIRE_FALSE(job_means({}));
}

TEST_CASE("the verdict names the significant culprit and its cause", "[attribution]") {
  const auto job = fixture::straggler_job();
  const auto options = fixture::attribution_options();
  const Verdict verdict = judge_attribution({job, options, job_means(job.ledger)});
  REQUIRE(verdict.answer == Answer::no);
  REQUIRE(verdict.headline ==
          "Rank 3's CPU launched too late (data loading), which costs 3.99 ms of each step "
          "of 20.0 ms (20.0 %): load batches ahead, in more processes.");
}

TEST_CASE("a culprit within the clock error is not named", "[attribution]") {
  auto job = fixture::straggler_job();
  job.stragglers.stragglers[0].significant = false;
  job.stragglers.abstention = Finding(FindingId::stated, "the clock error of 5 ms is too large");
  const auto options = fixture::attribution_options();
  const Verdict verdict = judge_attribution({job, options, job_means(job.ledger)});
  REQUIRE(verdict.answer == Answer::unknown);
  REQUIRE(verdict.headline ==
          "Waiting for other ranks takes 3.00 ms of each step of 20.0 ms (15.0 %): give every rank "
          "equal work.");
  REQUIRE(verdict.lines.front() == "The clock error of 5 ms is too large.");
}

TEST_CASE("what a lone recording loses leads its verdict, and what nobody can split is said",
          "[attribution]") {
  const auto job = fixture::lone_recording();
  const auto options = fixture::attribution_options();
  const Verdict verdict = judge_attribution({job, options, job_means(job.ledger)});
  REQUIRE(
      verdict.headline ==
      "Communication, or waiting for its partners, takes 5.50 ms of each step of 20.0 ms (27.5 %): "
      "record all ranks, to see who waits (no steady step, boundary only).");
  REQUIRE(verdict.lines.at(1) ==
          "Exposed communication of 5.50 ms per step (27.5 %) has partners without a recording, or "
          "that "
          "the recordings do not name: how much of it is waiting is n/a.");
}

TEST_CASE("a job without a loss worth an action is healthy, with where its compute goes",
          "[attribution]") {
  auto job = large_job(2);
  job.stragglers.finding = StragglerFinding::no_straggler;
  job.stragglers.abstention = Finding(FindingId::stated, "no rank is late");
  // 80 ms of compute: 40, 20 and 16 in the three largest kernels, 20 in element-wise ones.
  job.classes = {{WorkClass::communication, 1, 900ms, {{"ncclDevKernel", 900ms}}},
                 {WorkClass::gemm, 9, 60ms, {{"gemm_a", 40ms}, {"gemm_b", 16ms}}},
                 {WorkClass::elementwise, 4, 20ms, {{"void at::native::add<at::Tensor>()", 20ms}}}};
  const auto options = fixture::attribution_options();
  const Verdict verdict = judge_attribution({job, options, job_means(job.ledger)});
  CHECK(verdict.answer == Answer::yes);
  CHECK(verdict.headline ==
        "Healthy: 100.0 % of each step of 1.00 ms is compute, and no loss reaches 3.0 %: make the "
        "longest kernels faster, or fuse the small ones.");
  CHECK(verdict.lines.front() == "No rank is late.");
  CHECK(verdict.lines.at(1) ==
        "Of the compute, 25.0 % is in kernels that are memory-bound by kind (element-wise, "
        "normalization, reduction, optimizer). Largest: gemm_a 50.0 %, add<at::Tensor>() 25.0 %, "
        "gemm_b 20.0 %.");
  for (auto& ledger : job.ledger) {
    ledger.parts[0] = 960us;
    ledger.part(Part::launch_gap) = 40us;
  }
  CHECK(judge_attribution({job, options, job_means(job.ledger)}).headline ==
        "Gaps between kernels take 40.0 us of each step of 1.00 ms (4.0 %): launch less often, by "
        "CUDA graphs or torch.compile.");
}

TEST_CASE("what nobody can divide into wait and transfer is one row, and absent for programs",
          "[attribution]") {
  const auto job = fixture::lone_recording();
  const json document = as_json(job);
  const json& ledger = document["ledger"][0];
  const json& parts = document["averages"]["mean"]["parts"];
  for (const char* part : {"exposed_wait_ns", "exposed_transfer_ns", "below_clock_error_ns"}) {
    CHECK(ledger[part].is_null());
    CHECK(parts[part].is_null());
  }
  CHECK(ledger["exposed_undivided_ns"] == 5'500'000);
  CHECK_THAT(parts["exposed_undivided_ns"]["mean_ns"].get<double>(), WithinRel(5.5e6, 1e-9));
  CHECK(document["averages"]["mean"]["overlapped_wait_ns"].is_null());
  const auto rendered = [&](Format format) {
    return render_attribution(job, std::nullopt, fixture::attribution_options(format));
  };
  CHECK(line_with(rendered(Format::text), "  exposed wait").empty());
  CHECK(line_with(rendered(Format::text), "  exposed communication, undivided").ends_with(" ms"));
  CHECK(line_with(rendered(Format::markdown), "| exposed wait").empty());
  const std::string csv = rendered(Format::csv);
  CHECK(line_with(csv, "ledger_step,exposed_wait_s,").ends_with(",,,,"));
  CHECK(line_with(csv, "ledger_step,exposed_undivided_s,").ends_with(",0.0055,,,"));
}

TEST_CASE("parts and columns that are zero everywhere are in CSV and JSON only", "[attribution]") {
  auto job = fixture::straggler_job();
  auto options = fixture::attribution_options();
  options.details = true;
  const auto rendered = [&](Format format) {
    options.format = format;
    return render_attribution(job, std::nullopt, options);
  };
  for (const Format format : {Format::text, Format::markdown})
    for (const char* zero : {"wait or transfer", "undivided", "profiler overhead", " either"})
      CHECK(rendered(format).find(zero) == std::string::npos);
  CHECK_FALSE(line_with(rendered(Format::csv), "hidden,overlapped_undivided_s").empty());
  CHECK_FALSE(line_with(rendered(Format::csv), "collective_kind,either_s").empty());
  // Of one rank and step only.
  job.ledger[9].parts[index_of(Part::below_clock_error)] =
      std::exchange(job.ledger[9].parts[index_of(Part::exposed_transfer)], 0ns);
  job.collectives.front().participants.front().below_error = true;
  job.collective_sums.front().either = job.collective_ways.back().either = 4ms;
  CHECK_FALSE(line_with(rendered(Format::text), "  wait or transfer, below clock error").empty());
  CHECK(rendered(Format::text).find(" either") != std::string::npos);
}

TEST_CASE("an attribution in JSON is read back whole", "[attribution]") {
  auto job = fixture::straggler_job();
  job.contradictions = {{FindingId::impossible_times, 3, "rank2.json"}};
  job.collective_sums = {{CollectiveKind::all_reduce, 6, 72ms, 18ms, 1ms}};
  job.slow_fabric = {{{Rank{1}, Rank{2}}, true, 3ms, Finding(FindingId::stated, "slow")}};
  job.job_size = {4, true};
  job.stragglers.stragglers[0].members = {Rank{2}, Rank{3}};
  job.ledger[3].waited_for[Place{2}] = 0ns;
  const auto options = fixture::attribution_options(Format::json);
  const std::string text = render_attribution(job, fixture::gpu_price, options);
  const Attribution read = read_attribution(text, "job.json");
  CHECK(read.ledger.back().excluded == job.ledger.back().excluded);
  CHECK(read.ledger.front().waited_for == job.ledger.front().waited_for);
  CHECK(read.contradictions ==
        std::vector{Finding(FindingId::stated, said(job.contradictions[0]))});
  CHECK(said(read.stragglers.stragglers[0].shares[0].in_detail()) == "data loading");
  json before = json::parse(text);
  json after = json::parse(render_attribution(read, fixture::gpu_price, options));
  // Averages of what a step's ledger in JSON does not divide, and what is advised on them.
  for (json* one : {&before, &after})
    for (const char* derived : {"averages", "advice", "verdict"}) one->erase(derived);
  CHECK(before == after);
}

TEST_CASE("every finding has words, an action and a source, and fits the first sentence",
          "[attribution]") {
  std::vector<AdviceSubject> subjects{OtherFinding::slow_fabric,
                                      OtherFinding::pipeline_turns,
                                      OtherFinding::graphs_launched,
                                      OtherFinding::idle_processor,
                                      OtherFinding::idle_rank,
                                      OtherFinding::slow_processor,
                                      OtherFinding::other_copies};
  for (const LateCause cause : every<LateCause>) subjects.emplace_back(cause);
  for (const HostCause cause : every<HostCause>) subjects.emplace_back(cause);
  for (const Part part : recording_parts) subjects.emplace_back(part);
  for (const AdviceSubject& subject : subjects) {
    const auto advice = advice_on(subject);
    REQUIRE(advice);
    INFO(advice->cause);
    // "1.00 ms of each step of 9.00 ms (11.1 %):" are ten words, "; it and 2 more cost" five.
    const bool late = std::holds_alternative<LateCause>(subject) ||
                      subject == AdviceSubject(OtherFinding::idle_rank) ||
                      subject == AdviceSubject(OtherFinding::slow_processor);
    std::string found = advice->found;
    CHECK((found.find("{}") != std::string::npos) == late);
    if (late) found.replace(found.find("{}"), 2, "pipeline stage 12");
    CHECK_FALSE(advice->found.empty());
    CHECK_FALSE(advice->action.empty());
    CHECK(word_count(found) + (late ? 5 : 0) + 10 + word_count(advice->action) <= most_first_words);
    CHECK_FALSE(advice->text.empty());
    CHECK((advice->url.empty() || advice->url.starts_with("https://")));
  }
}

TEST_CASE("the largest loss, whatever it is, is the first sentence, with what to do",
          "[attribution]") {
  // A step of 10 ms on both ranks that loses so much of it.
  struct Row {
    Part part;
    std::optional<HostCause> cause;
    Nanoseconds lost;
    const char* sentence;
  };
  const std::array table{
      Row{Part::exposed_copy,
          {},
          9700us,
          "Copies that nothing hides take 9.70 ms of each step of 10.0 ms (97.0 %): copy from "
          "page-locked memory, beside the kernels."},
      Row{Part::exposed_transfer,
          {},
          6200us,
          "Communication that nothing hides takes 6.20 ms of each step of 10.0 ms (62.0 %): "
          "overlap it with the backward pass."},
      Row{Part::exposed_wait,
          {},
          4400us,
          "Waiting for other ranks takes 4.40 ms of each step of 10.0 ms (44.0 %): give every rank "
          "equal work."},
      Row{Part::host_late,
          HostCause::data_loading,
          3000us,
          "The job waits for data for 3.00 ms of each step of 10.0 ms (30.0 %): load batches "
          "ahead, in more processes."},
      Row{Part::host_late,
          HostCause::launch_bound,
          1400us,
          "The CPU launched too late, which costs 1.40 ms of each step of 10.0 ms (14.0 %): launch "
          "less often, by CUDA graphs or torch.compile."},
      Row{Part::host_late,
          HostCause::asleep,
          7000us,
          "The program sleeps, on no core, for 7.00 ms of each step of 10.0 ms (70.0 %): load data "
          "ahead, or see what it waits for."},
      Row{Part::host_late,
          HostCause::garbage_collection,
          1000us,
          "Python's garbage collection holds the GPUs for 1.00 ms of each step of 10.0 ms (10.0 "
          "%): collect on all ranks in the same step."},
      Row{Part::launch_gap,
          {},
          500us,
          "Gaps between kernels take 500 us of each step of 10.0 ms (5.0 %): launch less often, by "
          "CUDA graphs or torch.compile."},
      Row{Part::profiler_overhead,
          {},
          400us,
          "The profiler itself takes 400 us of each step of 10.0 ms (4.0 %): record with less "
          "detail."},
      // Less is not worth an action.
      Row{Part::exposed_copy,
          {},
          200us,
          "Healthy: 98.0 % of each step of 10.0 ms is compute, and no loss reaches 3.0 %: make the "
          "longest kernels faster, or fuse the small ones."}};
  const auto options = fixture::attribution_options();
  for (const Row& row : table) {
    auto job = large_job(2);
    for (StepLedger& one : job.ledger) {
      one.end = 10ms;
      one.part(Part::compute) = one.compute_by_class[0] = 10ms - row.lost;
      one.part(row.part) = row.lost;
      if (row.cause) one.host_late_by_cause[static_cast<std::size_t>(*row.cause)] = row.lost;
    }
    CHECK(judge_attribution({job, options, job_means(job.ledger)}).headline == row.sentence);
  }
}

TEST_CASE("the turns of a pipeline are not called a load that is uneven", "[attribution]") {
  auto job = large_job(2);
  for (StepLedger& one : job.ledger) {
    one.end = 10ms;
    one.part(Part::compute) = one.compute_by_class[0] = 6ms;
    one.part(Part::exposed_wait) = 4ms;
  }
  job.stragglers.taking_turns = 0.3;
  const auto options = fixture::attribution_options();
  CHECK(judge_attribution({job, options, job_means(job.ledger)}).headline ==
        "The bubble of the pipeline takes 4.00 ms of each step of 10.0 ms (40.0 %): use more "
        "micro-batches, or interleave the stages.");
}

TEST_CASE("what cannot be true stands first, once, and no advice beside it", "[attribution]") {
  auto job = fixture::straggler_job();
  job.contradictions = {{FindingId::more_recordings_than_ranks, 2, 1},
                        {FindingId::stated, "sizes are too large"}};
  const auto options = fixture::attribution_options();
  const Verdict verdict = judge_attribution({job, options, job_means(job.ledger)});
  CHECK(verdict.headline ==
        "Not reliable: 2 recordings are given, of a job that states 1 rank: they may be of "
        "different jobs, and 1 more warning; check the files, or record again.");
  CHECK(verdict.action.empty());
  CHECK(verdict.lines.at(1) == "Sizes are too large.");
}

TEST_CASE("what was found decides what is advised, in every format", "[attribution]") {
  auto job = fixture::straggler_job();
  const auto options = fixture::attribution_options();
  const auto causes = [&] {
    std::vector<std::string> found;
    for (const Advice& one : advice_for({job, options, job_means(job.ledger)}))
      found.push_back(one.cause);
    return found;
  };
  // Rank 3 loads data; 7.5 % of the step are exposed transfer.
  CHECK(causes() == std::vector<std::string>{"data loading", "exposed transfer"});
  CHECK(render_attribution(job, std::nullopt, options).find("To do: ") != std::string::npos);
  for (const Format format : {Format::markdown, Format::html})
    CHECK(render_attribution(job, std::nullopt, fixture::attribution_options(format))
              .find("What to try") != std::string::npos);
  CHECK(as_json(job)["advice"][0]["url"].get<std::string>().starts_with("https://"));
  // What the fixture's replay saves with hidden communication: 3.5 of 20 ms.
  CHECK(as_json(job)["advice"][0]["gain"].is_null());
  CHECK_THAT(as_json(job)["advice"][1]["gain"].get<double>(), WithinRel(0.175, 1e-9));
  job.slow_fabric.push_back(
      {{Rank{1}}, true, 1ms, Finding(FindingId::stated, "varying fabric at rank 1")});
  // The slow link lengthens the transfer: most of that is no finding of its own.
  CHECK(causes() == std::vector<std::string>{"data loading", "slow fabric"});
  const auto lines = judge_attribution({job, options, job_means(job.ledger)}).lines;
  CHECK(std::ranges::count(lines, "Varying fabric at rank 1.") == 1);
  // Without any loss the kernels are what is left to look at.
  job.slow_fabric.clear();
  job.stragglers.stragglers.clear();
  job.ledger = {job.ledger.front()};
  job.ledger.front().parts = {};
  job.ledger.front().part(Part::compute) = job.ledger.front().end - job.ledger.front().start;
  CHECK(causes() == std::vector<std::string>{"compute"});
  job.ledger.clear();
  CHECK(causes().empty());
}

TEST_CASE("zero beside divided communication is zero", "[attribution]") {
  const json ledger = as_json(fixture::straggler_job())["ledger"][3];
  CHECK(ledger["exposed_wait_ns"] == 0);
  CHECK(ledger["below_clock_error_ns"] == 0);
}

TEST_CASE("what limits the recordings leads every format, and money is for all ranks of the job",
          "[attribution]") {
  auto job = fixture::straggler_job();  // of four ranks
  job.job_size = {64, true};
  job.programs = {"ranks 0-2", "rank 3"};
  for (auto& ledger : job.ledger) ledger.excluded = {ExclusionCause::warm_up};
  const auto options = fixture::attribution_options();
  const Verdict verdict =
      judge_attribution({job, options, job_means(job.ledger), fixture::gpu_price});
  CHECK(
      verdict.headline ==
      "Rank 3's CPU launched too late, which costs 3.99 ms of each step of 20.0 ms (20.0 %): load "
      "batches ahead, in more processes (4 of 64 ranks recorded).");
  CHECK(std::vector(verdict.lines.begin(), verdict.lines.begin() + 3) ==
        std::vector<std::string>{
            "4 of 64 ranks left recordings; costs and GPU-hours are for all 64.",
            "No step counts as steady state (warm-up): the figures are of excluded steps.",
            "By their kernels the ranks run 2 programs, which the means mix (ranks 0-2; rank 3)."});
  CHECK(std::ranges::count_if(verdict.lines, [](const std::string& line) {
          return line.ends_with("an hour of the job's 64 ranks costs.");
        }) == 1);
  const json document = as_json(job);
  CHECK(document["verdict"]["headline"] == verdict.headline);
  // The share is of the steps that are averaged, here all.
  const json& straggler = document["stragglers"]["stragglers"][0];
  const double share = straggler["share_of_gpu_time"];
  CHECK_THAT(straggler["lost_usd_per_hour"].get<double>(), WithinRel(share * 2.5 * 64, 1e-9));
  for (const Format format : {Format::csv, Format::html, Format::markdown}) {
    const std::string text =
        render_attribution(job, fixture::gpu_price, fixture::attribution_options(format));
    const std::size_t found = text.find("4 of 64 ranks recorded");
    REQUIRE(found != std::string::npos);
    // In a table for programs it is the first row.
    if (format == Format::csv) CHECK(text.find('\n') == text.rfind('\n', found));
  }
  job.job_size = {64, false};
  CHECK(judge_attribution({job, options, job_means(job.ledger)})
            .lines.front()
            .starts_with("4 of at least 64 ranks left recordings"));
}

TEST_CASE("a job without a step says so first", "[attribution]") {
  const Attribution nothing;
  const auto options = fixture::attribution_options();
  CHECK(judge_attribution({nothing, options, std::nullopt}).headline ==
        "No step was found: record three or more, each marked by profiler.step() or an NVTX "
        "range.");
}

TEST_CASE("no straggler is an answer of its own", "[attribution]") {
  auto job = fixture::straggler_job();
  job.stragglers = {};
  job.stragglers.finding = StragglerFinding::no_straggler;
  job.stragglers.abstention =
      Finding(FindingId::no_straggler, Finding(FindingId::lateness_below_error, 4e-6, 5e-6));
  const auto options = fixture::attribution_options();
  const Verdict verdict = judge_attribution({job, options, job_means(job.ledger)});
  REQUIRE(verdict.answer == Answer::yes);
  REQUIRE(verdict.lines.front() ==
          "No straggler: the largest lateness, 4.00 us, is below the clock error of 5.00 us.");
}

TEST_CASE("where ranks are missing, every format shows the ranks of the job", "[attribution]") {
  auto job = fixture::straggler_job();  // rank 3 is late
  const auto number = [](Rank& rank) { rank = Rank{rank.index == 3 ? 70 : rank.index}; };
  for (auto& one : job.recordings) number(one.rank);
  for (auto& one : job.clocks.ranks) number(one.rank);
  for (auto& one : job.ledger) number(one.rank);
  for (auto& one : job.stragglers.pairs) number(one.waited_for);
  for (auto& one : job.stragglers.stragglers) {
    number(one.rank);
    one.unit = fmt::format("rank {}", one.rank.index);
  }
  job.efficiency->what_if.front().units = {"rank 70"};
  const json document = as_json(job);
  REQUIRE(document["stragglers"]["matrix"][1]["waited_for"] == 70);
  REQUIRE(document["ledger"][0]["waited_for"][0]["rank"] == 70);
  auto options = fixture::attribution_options();
  options.details = true;
  const auto shows = [&](Format format, const std::string& text) {
    options.format = format;
    return render_attribution(job, fixture::gpu_price, options).find(text) != std::string::npos;
  };
  for (const Format format : {Format::text, Format::markdown}) REQUIRE(shows(format, "ank 70"));
  REQUIRE(shows(Format::csv, "\nledger_step,step_s,s,,70,0,"));
  REQUIRE_FALSE(shows(Format::csv, "\nledger_step,step_s,s,,3,0,"));
  REQUIRE(shows(Format::html, "rank 70"));
  REQUIRE_FALSE(shows(Format::html, "rank 3\""));
}

TEST_CASE("what a culprit costs follows from its share of the GPUs' time", "[attribution]") {
  // 3 ranks * 4 steps * 3.99 ms of 4 ranks * 4 steps * 20 ms = 0.14963; 4 GPUs at 2.5 USD/h.
  const json straggler = as_json(fixture::straggler_job())["stragglers"]["stragglers"][0];
  REQUIRE_THAT(straggler["share_of_gpu_time"].get<double>(), WithinRel(0.149625, 1e-9));
  REQUIRE_THAT(straggler["lost_usd_per_hour"].get<double>(), WithinRel(1.49625, 1e-9));
}

TEST_CASE("the JSON follows the published schema, whole and abstaining", "[attribution]") {
  for (const auto& job : {fixture::straggler_job(), fixture::lone_recording(), Attribution{}}) {
    REQUIRE(SchemaChecker(schema()).check(as_json(job)) == "");
  }
}

TEST_CASE("the schema of the JSON names exactly the members that are written", "[attribution]") {
  json whole = schema();
  // A setting has the parameters that were asked.
  whole["properties"]["figures"]["items"]["properties"]["setting"] = json::object();
  REQUIRE(not_exact(whole) == "");
  REQUIRE(schema()["properties"]["schema_version"]["const"] == attribution_schema_version);
}

TEST_CASE("the schema check of an attribution sees a renamed member", "[attribution]") {
  json document = as_json(fixture::straggler_job());
  document["ledger"][0]["compute_us"] = 1;
  document["stragglers"]["stragglers"][0].erase("rank");
  REQUIRE(
      SchemaChecker(schema()).check(document) ==
      "/ledger/*/compute_us breaks additionalProperties\n/stragglers/stragglers/* breaks rank\n");
}

TEST_CASE("JSON keeps the ledger to the nanosecond", "[attribution]") {
  auto job = fixture::straggler_job();
  job.ledger[0].start = Nanoseconds(1'700'000'000'000'000'001);
  REQUIRE(as_json(job)["ledger"][0]["start_ns"] == 1'700'000'000'000'000'001);
}

TEST_CASE("every format renders an empty attribution", "[attribution]") {
  for (const Format format : all_formats) {
    REQUIRE_FALSE(render_attribution({}, std::nullopt, {format}).empty());
  }
}

TEST_CASE("the summary fits one screen of lines and no line is too long", "[attribution]") {
  const std::string text = render_attribution(
      fixture::straggler_job(), fixture::gpu_price, fixture::attribution_options(Format::text));
  REQUIRE(std::count(text.begin(), text.end(), '\n') <= 70);
}

TEST_CASE("a large job's text does not list every rank", "[attribution][large]") {
  RenderOptions options;
  options.details = true;
  const std::string text = render_attribution(large_job(4096), std::nullopt, options);
  REQUIRE(std::count(text.begin(), text.end(), '\n') < 200);
  REQUIRE(text.find("4080 more ranks") != std::string::npos);
  options.format = Format::csv;
  const std::string csv = render_attribution(large_job(4096), std::nullopt, options);
  REQUIRE(csv.find("\nledger_step,step_s,s,,4095,0,") != std::string::npos);
}

TEST_CASE("every line of the CSV has as many cells as its header", "[attribution]") {
  const std::string csv = render_attribution(
      fixture::straggler_job(), fixture::gpu_price, fixture::attribution_options(Format::csv));
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  REQUIRE(line.starts_with("section,quantity,unit,"));
  REQUIRE(line.ends_with(",value,low,high,samples"));
  const auto columns = std::count(line.begin(), line.end(), ',');
  while (std::getline(lines, line)) {
    bool quoted = false;
    int commas = 0;
    for (const char c : line) {
      quoted = c == '"' ? !quoted : quoted;
      commas += c == ',' && !quoted ? 1 : 0;
    }
    INFO(line);
    REQUIRE(commas == columns);
  }
}

TEST_CASE("lengths of steps are a band over ranks, and single ranks far outside it", "[charts]") {
  Attribution job = large_job(11);
  for (int step = 1; step < 3; ++step)
    for (int rank = 0; rank < 11; ++rank) {
      StepLedger one = job.ledger[static_cast<std::size_t>(rank)];
      one.step = step;
      one.end = one.start + 10ms + rank * 10us;
      if (step == 2 && rank == 4) one.end += 5ms;
      job.ledger.push_back(one);
    }
  const Chart chart = chart_of(job, "steps");
  const auto& steps = chart.data.at("steps");
  REQUIRE(steps.size() == 3);
  // Of 10.00, 10.01 ... 10.10 ms.
  CHECK_THAT(steps[1].at("median").get<double>(), WithinRel(10.05, 1e-9));
  CHECK_THAT(steps[1].at("low").get<double>(), WithinRel(10.01, 1e-9));
  CHECK_THAT(steps[1].at("high").get<double>(), WithinRel(10.09, 1e-9));
  REQUIRE(chart.data.at("outliers").size() == 1);
  CHECK(chart.data.at("outliers")[0].at("step") == 2);
  CHECK(chart.data.at("outliers")[0].at("rank") == 4);
}

TEST_CASE("the slowest step's pieces fill it on every rank", "[charts]") {
  Attribution job = fixture::straggler_job();
  const auto drawn =
      std::ranges::find_if(job.ledger, [](const auto& one) { return !one.pieces.empty(); });
  REQUIRE(drawn != job.ledger.end());
  drawn->pieces[0].name = "all-reduce";
  drawn->pieces[0].partner = Place{3};
  const Chart chart = chart_of(job, "timeline");
  REQUIRE(chart.data.at("pieces").size() == 4);
  CHECK(chart.data.at("step") == 4);
  for (const auto& row : chart.data.at("pieces")) {
    CHECK(row[0] == 0);
    std::int64_t sum = 0;
    // An offset, then of each piece: part, length, name, rank that is waited for.
    for (std::size_t i = 2; i < row.size(); i += 4) sum += row[i].get<std::int64_t>();
    CHECK(sum == 20'000'000);
  }
  const auto& named = chart.data.at("pieces")[0];
  CHECK(chart.data.at("names")[named[3].get<std::size_t>()] == "all-reduce");
  CHECK(named[4] == 3);
  CHECK(named[8].is_null());
}

TEST_CASE("the picture of waiting shows where it began and whom the verdict names", "[charts]") {
  Attribution job = fixture::straggler_job();
  job.stragglers.pairs[0].root_cause = 7ms;  // of rank 0 for rank 1
  const Chart chart = chart_of(job, "waits");
  CHECK(chart.data.at("named") == nlohmann::ordered_json::array({3}));
  CHECK(chart.data.at("rows")[1].at("time") == 7.0);
}

TEST_CASE("hostile names stay text in the page and whole in the JSON", "[attribution]") {
  auto job = fixture::straggler_job();
  job.classes[0].largest[0].first = "</script><script>alert(1)</script>\xff";
  job.recordings[0].file = "<img src=x>";
  const std::string page =
      render_attribution(job, fixture::gpu_price, fixture::attribution_options(Format::html));
  REQUIRE(page.find("<script>alert(1)") == std::string::npos);
  REQUIRE(page.find("<img src=x>") == std::string::npos);
}
