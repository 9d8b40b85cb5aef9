// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/gemm_session.h"

#include "cuda/gemm/product.h"
#include "cuda/gemm/recipe.h"
#include "cuda/libraries/library.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "probes/gpu/gemm.h"
#include "src/core/error.h"
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

namespace scaleworth::gpu {
namespace {

// The driver renews power and clocks every 0.1 s: 1,108 renewals on an H100 came 99.7 ms apart,
// 1,216 on an H200 99.8 ms (docs/measurements). A shorter watch may hold no reading of its own.
constexpr Seconds shortest_watch{0.1};

void idle(Seconds pause) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(pause.value());
  while (std::chrono::steady_clock::now() < end) {
    check_interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Runs `action` with the GPU current; failures of CUDA and of the library become ProbeFailure with
/// the GPU, `doing` and a remedy. The GPU counts as lost when its context broke.
void in_context(const GemmContext& context,
                const std::string& doing,
                const std::function<void()>& action) {
  context.bench.health().require();
  try {
    check(cudaSetDevice(context.bench.health().ordinal()));
    action();
  } catch (const Error& error) {
    throw_failure(context.bench.health(), doing, error.status(), error.what());
  } catch (const LibraryError& error) {
    // The library's own code hides what broke; CUDA remembers it.
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) throw_failure(context.bench.health(), doing, status, error.what());
    throw ProbeFailure(
        "GPU {}: {} failed: {}", context.bench.description().ordinal, doing, error.what());
  }
}

class CublasLtSession final : public GemmSession {
 public:
  CublasLtSession(const GemmContext& context, const GemmProblem& problem)
      : context_(context),
        problem_(problem),
        name_(gemm_problem_name(problem)),
        product_(context_, problem_) {}

  std::vector<GemmCandidate> candidates(int wanted, Bytes workspace) override {
    std::vector<GemmCandidate> all;
    in_context(context_, "asking for algorithms for " + name_, [&] {
      const auto bytes = static_cast<std::size_t>(workspace.value());
      for (const ProposedAlgorithm& proposed : product_.propose(wanted, bytes)) {
        const std::string words = remember(proposed);
        all.push_back({proposed.rank,
                       words,
                       Bytes(static_cast<double>(proposed.workspace_bytes)),
                       tile_of(*context_.library, proposed.algorithm)});
      }
    });
    return all;
  }

  void verify(const GemmCandidate& candidate) override {
    in_context(context_, "verifying " + name_, [&] {
      const Known& known = find(candidate);
      product_.verify(known.algorithm, workspace_for(known));
    });
  }

  void fill(OperandData data) override {
    in_context(context_, "filling " + name_, [&] { product_.fill(data); });
  }

  DeviceMeasured time(const GemmCandidate& candidate, const GemmPace& pace) override {
    DeviceMeasured measured;
    in_context(context_, "timing " + name_, [&] {
      Known& known = find(candidate);
      const BatchWork work = batch_work(known);
      if (known.launches == 0) known.launches = launches_of(work);
      const BatchOptions options =
          gemm_batch(pace, known.product_s, known.launches, known.most_at_once);
      idle(pace.pause);
      const auto measure = [&] { return context_.bench.timer().time(work, pace.target, options); };
      // A thread costs a short measurement more than its few readings are worth.
      measured =
          pace.target.time_budget < shortest_watch ? measure() : context_.bench.watched(measure);
      known.product_s = median(measured.time_s).value_or(0.0);
      if (measured.most_at_once > 0) known.most_at_once = measured.most_at_once;
    });
    measured.flops = gemm_flops(problem_);
    measured.bytes = gemm_footprint(problem_);
    return measured;
  }

 private:
  struct Known {
    ProposedAlgorithm algorithm;
    double product_s = 0.0;  // 0: not timed yet
    int launches = 0;        // of one product; 0: not counted yet
    int most_at_once = 0;    // DeviceMeasured's
  };

  /// The words for the algorithm. Some settings of an algorithm cannot be asked for: where words
  /// are equal and algorithms are not, they are numbered.
  std::string remember(const ProposedAlgorithm& proposed) {
    const std::string plain = describe_algorithm(*context_.library, proposed.algorithm);
    std::string words = plain;
    for (int variant = 2;; ++variant) {
      const auto [place, added] = known_.try_emplace(words, Known{proposed});
      const cublasLtMatmulAlgo_t& known = place->second.algorithm.algorithm;
      if (added || std::ranges::equal(known.data, proposed.algorithm.data)) return words;
      words = fmt::format("{}, variant {}", plain, variant);
    }
  }

  Known& find(const GemmCandidate& candidate) {
    const auto found = known_.find(candidate.description);
    if (found == known_.end()) {
      throw ProbeFailure("{}: \"{}\" was not proposed here", name_, candidate.description);
    }
    return found->second;
  }

  /// Kept for the largest so far; null when the algorithm needs none.
  void* workspace_for(const Known& known) {
    const std::size_t needed = known.algorithm.workspace_bytes;
    if (needed > workspace_bytes_) {
      workspace_.reset();
      workspace_bytes_ = 0;
      workspace_ = allocate_device(context_.bench.health(), needed);
      workspace_bytes_ = needed;
    }
    return needed > 0 ? workspace_.get() : nullptr;
  }

  BatchWork batch_work(const Known& known) {
    BatchWork work;
    work.doing = name_;
    void* workspace = workspace_for(known);
    work.enqueue = [this, &known, workspace](cudaStream_t stream, int repetition) {
      product_.enqueue(repetition % product_.operands().sets, known.algorithm, workspace, stream);
      return cudaSuccess;
    };
    return work;
  }

  /// Kernels and other work that one product queues, counted in a graph of it: a split along k adds
  /// a reduction, a scheme with a workspace its reset.
  int launches_of(const BatchWork& work) {
    context_.bench.timer().run_once(work);  // a kernel cannot be loaded while it is captured
    std::size_t launches = 0;
    try {
      Capture capture(context_.bench.stream());
      check(work.enqueue(context_.bench.stream(), 0));
      check(cudaGraphGetNodes(capture.finish().get(), nullptr, &launches));
      return static_cast<int>(launches);
    } catch (const Error&) {
    } catch (const LibraryError&) {
    }
    // An algorithm that cannot be captured: batches are shorter than they might be.
    constexpr int assumed = 8;
    cudaGetLastError();
    return assumed;
  }

  GemmContext context_;
  GemmProblem problem_;
  std::string name_;
  GemmProduct product_;
  std::map<std::string, Known> known_;  // by description
  DeviceBuffer workspace_;
  std::size_t workspace_bytes_ = 0;
};
}  // namespace

std::unique_ptr<GemmSession> open_gemm_session(const GemmContext& context,
                                               const GemmProblem& problem) {
  if (const auto objection = shape_objection(problem)) throw NothingToMeasure(*objection);
  if (problem.batch > 1 && is_block_scaled(gemm_recipe(problem.input))) {
    throw NothingToMeasure(FindingId::scales_of_single_products, key_of(problem.input));
  }
  std::unique_ptr<GemmSession> session;
  in_context(context, "preparing " + gemm_problem_name(problem), [&] {
    session = std::make_unique<CublasLtSession>(context, problem);
  });
  return session;
}

Outcome<GemmLibrary::Table> GemmLibrary::table() {
  std::call_once(opened_, [this] { table_ = open_cublas_lt(path_); });
  return *table_;
}

Outcome<std::string> GemmLibrary::description() {
  return and_then(table(), [](const Table& library) -> Outcome<std::string> {
    return fmt::format("cuBLASLt {} ({})", library->version, library->path);
  });
}
}  // namespace scaleworth::gpu
