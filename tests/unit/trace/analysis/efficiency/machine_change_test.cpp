// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/faulty_job.h"
#include "tests/unit/trace/analysis/efficiency/small_graph.h"
#include "trace/attribute.h"

using namespace scaleworth;
using namespace scaleworth::trace;
using namespace std::chrono_literals;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {
/// What the recording is said to be, with one step of all its ranks.
Attributed attributed(SmallJob& job, int length) {
  Known known;
  known.matching = match_collectives(job.job());
  known.alignment = job.alignment();
  const std::size_t ranks = job.job().recordings.size();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    known.steps.by_rank.push_back({{0, 0us, std::chrono::microseconds(length)}});
  known.steps.choice.steps = 1;
  return attribute(job.job(), &known);
}

/// The work of one kind takes `ratio` of its time.
std::vector<WorkPace> with(std::vector<WorkPace> paces,
                           const std::vector<std::pair<WorkKind, double>>& ratios) {
  for (WorkPace& one : paces)
    for (const auto& [kind, ratio] : ratios)
      if (one.work.kind == kind) one.ratio = ratio;
  return paces;
}

/// Time of the step on the other machine, in microseconds.
double step_us(SmallJob& job, int length, const std::vector<std::pair<WorkKind, double>>& ratios) {
  const Attributed recorded = attributed(job, length);
  MachineChange change(job.job(), recorded);
  REQUIRE_FALSE(change.reason);
  const auto paces = with(change.paces, ratios);
  const double predicted = change.predict(paces).ratio.value * length;
  const Attribution after = change.attribute_with(paces);
  REQUIRE_FALSE(after.ledger.empty());
  for (const StepLedger& ledger : after.ledger)
    CHECK_THAT(1e-3 * static_cast<double>((ledger.end - ledger.start).count()),
               WithinAbs(predicted, 0.01));
  return predicted;
}

/// Rank 1 computes 300 us, rank 0 100 us; an all-reduce of 50 us; 50 us of compute on both.
SmallJob late_pair() {
  SmallJob job(2);
  job.kernel(0, 0, 100).collective(0, 0, 100, 350).kernel(0, 350, 400);
  job.kernel(1, 0, 300).collective(1, 0, 300, 350).kernel(1, 350, 400);
  return job;
}
}  // namespace

TEST_CASE("compute of half the time and transfers of a third are as by hand", "[predict]") {
  // Rank 1 comes at 150, the transfer takes 50/3, the last kernel 25: 191.67 us.
  SmallJob job = late_pair();
  CHECK_THAT(step_us(job, 400, {{WorkKind::product, 0.5}, {WorkKind::collective, 1.0 / 3.0}}),
             WithinAbs(150.0 + 50.0 / 3.0 + 25.0, 0.01));
}

TEST_CASE("a machine that is slower takes longer", "[predict]") {
  // Rank 1 comes at 600; 50 us; 100 us.
  SmallJob job = late_pair();
  CHECK_THAT(step_us(job, 400, {{WorkKind::product, 2.0}}), WithinAbs(750.0, 0.01));
}

TEST_CASE("nothing changes without a change, and the band holds the noise alone", "[predict]") {
  SmallJob job = late_pair();
  const Attributed recorded = attributed(job, 400);
  const MachineChange change(job.job(), recorded);
  const MachinePrediction same = change.predict(change.paces);
  CHECK_THAT(same.ratio.value, WithinRel(1.0, 1e-9));
  CHECK_THAT(same.ratio.high(), WithinRel(std::exp(0.028), 1e-3));
}

TEST_CASE("hidden communication shows where compute gets shorter than it", "[predict]") {
  // 230 us of compute hide a transfer of 150 us that begins after 20 us. At a quarter of the
  // compute it begins after 5 us and ends the step.
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    job.kernel(rank, 0, 20);
    job.kernel(rank, 20, 200);
    job.collective(rank, 0, 20, 170);
    job.job().recordings[rank].device_events.back().stream = 8;
    job.kernel(rank, 200, 230);
  }
  const double predicted = step_us(job, 230, {{WorkKind::product, 0.25}});
  CHECK_THAT(predicted, WithinAbs(5.0 + 150.0, 0.01));
}

TEST_CASE("a stretch bound by the host does not shrink with the GPU", "[predict]") {
  // Launches every 100 us of kernels of 20 us: with kernels of 10 us the last one ends at
  // 310 + 10. With a host of twice the pace launches come every 50 us: 0, 50, 100, 150.
  const auto host_bound = [] {
    SmallJob job(1);
    for (int i = 0; i < 4; ++i)
      job.call(0, 100 * i, 100 * i + 5, i + 1).kernel(0, 100 * i + 4, 100 * i + 24, i + 1);
    return job;
  };
  SmallJob one = host_bound();
  const Attributed recorded = attributed(one, 324);
  const MachineChange change(one.job(), recorded);
  REQUIRE_FALSE(change.reason);
  const auto faster = with(change.paces, {{WorkKind::product, 0.5}});
  CHECK_THAT(324.0 * change.predict(faster).ratio.value, WithinAbs(314.0, 0.01));
  const auto both = with(change.paces, {{WorkKind::product, 0.5}, {WorkKind::host, 0.5}});
  CHECK_THAT(324.0 * change.predict(both).ratio.value, WithinAbs(164.0, 0.01));
}

TEST_CASE("the band combines the errors of the kinds of work in quadrature", "[predict]") {
  SmallJob job(1);
  job.kernel(0, 0, 300).copy(0, 300, 400);
  const Attributed recorded = attributed(job, 400);
  const MachineChange change(job.job(), recorded);
  auto paces = change.paces;
  for (WorkPace& one : paces) one.error = one.work.kind == WorkKind::product ? 0.1 : 0.0;
  const auto ratio = change.predict(paces).ratio;
  // 300 us at exp(1.96 x 0.1) = 1.2165: 464.9 of 400 us; with 2.8 % in quadrature.
  const double up = std::hypot(std::log(464.95 / 400.0), 0.028);
  CHECK_THAT(ratio.high(), WithinRel(std::exp(up), 1e-3));
}

TEST_CASE("work is told apart by class, format and size", "[predict]") {
  SmallJob job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.job().recordings[rank];
    const auto kernel = [&](int start, WorkClass work_class, const char* name) {
      job.kernel(rank, start, start + 10);
      recording.device_events.back().work_class = work_class;
      recording.device_events.back().name = recording.names.intern(name);
    };
    kernel(0, WorkClass::gemm, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n");
    kernel(10, WorkClass::gemm, "ampere_sgemm_128x64_nn");
    kernel(20, WorkClass::gemm, "nvjet_hsh_128x64");
    kernel(30, WorkClass::elementwise, "vectorized_elementwise_kernel");
    kernel(40, WorkClass::unclassified, "my_kernel");
    job.collective(rank, 0, 50, 60);
    recording.device_events.back().communication = 0;
    recording.device_events.back().collective = CollectiveKind::all_gather;
    Communication call;
    call.kind = CollectiveKind::all_gather;
    call.input_bytes = 100;
    call.output_bytes = 200;
    recording.communications.push_back(call);
  }
  const Attributed recorded = attributed(job, 60);
  const MachineChange change(job.job(), recorded);
  REQUIRE(change.paces.size() == 7);
  CHECK(change.paces[0].work.kind == WorkKind::host);
  CHECK(change.paces[1].work.collective == CollectiveKind::all_gather);
  CHECK(change.paces[1].work.bytes == 200);
  CHECK(change.paces[1].work.ranks == 2);
  CHECK(change.paces[2].work.format == NumberFormat::bf16);
  CHECK(change.paces[3].work.format == NumberFormat::fp32);
  CHECK(change.paces[4].work.format == NumberFormat::fp16);
  CHECK(change.paces[5].work.kind == WorkKind::memory);
  CHECK(change.paces[6].work.kind == WorkKind::other);
  CHECK_THAT(change.paces[1].recorded, WithinAbs(10e-6, 1e-12));
}

// The generated job again on a machine of other ceilings and another fabric, with the same draws of
// noise: its step is the truth.
TEST_CASE("simulated jobs on other machines are met within 3 %", "[predict]") {
  const int stages = GENERATE(1, 4);
  const bool slow_gpu = GENERATE(false, true);
  const double compute = GENERATE(0.4, 1.0, 2.0);
  const double transfer = GENERATE(0.3, 1.0, 3.0);
  scaleworth::testing::JobPlan plan;
  plan.stages = stages;
  plan.replicas = 2;
  plan.micro_batches = 2 * stages;
  plan.steps = 6;
  if (slow_gpu) {
    plan.fault = scaleworth::testing::Fault::slow_gpu;
    plan.strength = 0.3;
    plan.place = 1;
  }
  scaleworth::testing::GeneratedJob generated = scaleworth::testing::generate_job(plan);
  plan.layer_ns *= compute;
  plan.transfer_ns *= transfer;
  const double truth = scaleworth::testing::generate_job(plan).step_ns;
  const Attributed recorded = attribute(generated.job);
  MachineChange change(generated.job, recorded);
  REQUIRE_FALSE(change.reason);
  auto paces = change.paces;
  for (WorkPace& one : paces)
    if (one.work.kind != WorkKind::host)
      one.ratio = one.work.kind == WorkKind::collective ? transfer : compute;
  const double predicted = change.predict(paces).ratio.value * generated.step_ns;
  CAPTURE(stages, slow_gpu, compute, transfer, predicted / truth);
  CHECK_THAT(predicted, WithinRel(truth, 0.03));
  const Attribution after = change.attribute_with(paces);
  const bool named = !after.stragglers.stragglers.empty();
  if (stages == 1 && compute > 0.5 && transfer < 2.0) CHECK(named == slow_gpu);
}
