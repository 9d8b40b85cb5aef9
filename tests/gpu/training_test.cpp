// SPDX-License-Identifier: Apache-2.0
// The training step on the first GPU against the host's trainer, and its spans.
#include "cuda/training/train.h"
#include "probes/host/training/model.h"
#include "probes/rendezvous.h"
#include "probes/training/shape.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/probes/training/plain_blas.h"
#include "trace/span_ledger.h"

#include <variant>
#include <vector>

using namespace scaleworth;
using probes::TrainingMeasured;
using probes::TrainingWork;

namespace {

TrainingWork tiny() {
  TrainingWork work;
  work.shape = {.layers = 2, .width = 64, .heads = 2, .sequence = 32, .vocabulary = 64};
  work.global_batch = 4;
  work.warmup_steps = 3;
  work.steps = 8;
  return work;
}

std::shared_ptr<const gpu::CublasLt> library() {
  auto outcome = gpu::open_cublas_lt({});
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) throw UserError(skipped->reason);
  return std::get<std::shared_ptr<const gpu::CublasLt>>(outcome);
}

TrainingMeasured train(const TrainingWork& work) {
  probes::Rendezvous alone{probes::RendezvousOptions{}};
  return gpu::train_on_gpus({{0, Rank{0}, nullptr}}, alone, library(), work);
}

std::vector<double> losses_of_host(const TrainingWork& work) {
  const scaleworth::testing::PlainBlas blas;
  const std::int64_t tokens = work.global_batch * work.shape.sequence;
  probes::host::Transformer model(blas, work.shape, work.global_batch, tokens);
  probes::initialise(model.layout(), work.seed, model.parameters());
  probes::host::Adam adam(model.layout().total);
  std::vector<double> losses;
  for (int step = 0; step < work.warmup_steps + work.steps; ++step) {
    const auto first = static_cast<std::uint64_t>(step * work.global_batch);
    probes::fill_batch(work.shape, work.seed, first, model.tokens());
    for (const auto& stage : model.forward()) stage.run();
    for (const auto& stage : model.backward()) stage.run();
    adam.update(model.gradients(), model.parameters());
    losses.push_back(model.loss());
  }
  return losses;
}

void require_host_losses(const TrainingWork& work, const std::vector<double>& found) {
  const std::vector<double> expected = losses_of_host(work);
  REQUIRE(found.size() == expected.size());
  for (std::size_t step = 0; step < expected.size(); ++step) {
    INFO("step " << step);
    // Logits and weights of 8 bits.
    REQUIRE_THAT(found[step], WithinAbs(expected[step], 0.03));
  }
}

}  // namespace

TEST_CASE("a training on the GPU has the host's losses within bf16", "[gpu]") {
  require_host_losses(tiny(), train(tiny()).loss);
}

TEST_CASE("the ledger of a step on the GPU is whole", "[gpu]") {
  const TrainingMeasured measured = train(tiny());
  const trace::Ledger ledger = trace::build_ledger(measured.timeline);
  REQUIRE(ledger.entries.size() == 8);
  REQUIRE(ledger.losses.empty());
  for (const StepLedger& entry : ledger.entries) {
    REQUIRE(entry.part(Part::compute) > std::chrono::nanoseconds::zero());
    REQUIRE(entry.part(Part::optimizer) > std::chrono::nanoseconds::zero());
    REQUIRE(entry.part(Part::unattributed) == std::chrono::nanoseconds::zero());
  }
}

TEST_CASE("a training that the GPU cannot hold says so", "[gpu]") {
  TrainingWork work = tiny();
  work.shape = {.layers = 100, .width = 8192, .heads = 64, .sequence = 4096, .vocabulary = 65536};
  work.global_batch = 1024;
  REQUIRE_THROWS_AS(train(work), OutOfMemory);
}

TEST_CASE("a slowed rank computes for longer", "[gpu]") {
  TrainingWork work = tiny();
  work.straggler = TrainingWork::Straggler{Rank{0}, 4.0};
  REQUIRE(train(work).fastest_step > train(tiny()).fastest_step);
}
