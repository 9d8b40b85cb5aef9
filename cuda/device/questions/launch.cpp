// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/questions.h"
#include "cuda/kernels/empty.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <chrono>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr int graph_nodes = 500;

void load_empty_kernel(Workbench& bench) {
  bench.timer().run_once({.doing = "an empty kernel", .enqueue = [](cudaStream_t stream, int) {
                            return launch_empty(stream);
                          }});
}

/// A chain of empty kernels, recorded from a stream.
GraphExecutable record_graph() {
  const Stream recorded = make_stream();
  check(cudaStreamBeginCapture(recorded.get(), cudaStreamCaptureModeThreadLocal));
  cudaError_t queued = cudaSuccess;
  for (int i = 0; i < graph_nodes && queued == cudaSuccess; ++i) {
    queued = launch_empty(recorded.get());
  }
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(recorded.get(), &captured));
  const Graph graph(captured);
  check(queued);
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0));
  return GraphExecutable(executable);
}

probes::DeviceMeasured time_graph(Workbench& bench, const probes::Target& target) {
  load_empty_kernel(bench);  // loading it is no part of a recording
  const GraphExecutable graph = record_graph();
  check(cudaGraphUpload(graph.get(), bench.stream()));
  const BatchWork work{
      .doing = "launching a graph of empty kernels",
      .enqueue = [&](cudaStream_t stream, int) { return cudaGraphLaunch(graph.get(), stream); }};
  probes::BatchOptions options = bench.batch_options();
  options.operations = graph_nodes;
  options.maximum_repetitions = 50;
  return bench.time(work, target, options);
}

/// Launches one kernel after another, each when the host has seen the last one's end.
class LaunchAndWait {
 public:
  explicit LaunchAndWait(Workbench& bench) : bench_(bench) {}

  probes::BatchTiming run(int repetitions) {
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) {
      check(launch_empty(bench_.stream()));
      wait();
    }
    const std::chrono::duration<double> time = Clock::now() - start;
    return {Seconds{time.count()}, std::nullopt, false};
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Polls without a pause: what the runtime does as well when it waits for a stream.
  void wait() {
    const auto start = Clock::now();
    while (true) {
      const cudaError_t status = cudaStreamQuery(bench_.stream());
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check(status);
      if (Clock::now() - start > std::chrono::seconds{60}) {
        bench_.health().lose(fmt::format(
            "GPU {} did not finish an empty kernel within 60 s: see dmesg for Xid; later "
            "questions to it fail at once",
            bench_.description().ordinal));
        bench_.health().require();
      }
    }
  }

  Workbench& bench_;
};

probes::DeviceMeasured time_launch_and_wait(Workbench& bench, const probes::Target& target) {
  load_empty_kernel(bench);
  LaunchAndWait launching(bench);
  probes::BatchFunction runner([&](int repetitions) { return launching.run(repetitions); });
  probes::BatchOptions options = bench.batch_options();
  options.maximum_repetitions = 10'000;
  probes::DeviceMeasured measured =
      bench.watched([&] { return probes::sample_batches(runner, target, options); });
  // The GPU idles between such launches: its clock says nothing, so it is not asked.
  measured.warnings.clear();
  return measured;
}

}  // namespace

probes::DeviceMeasured time_launch(Workbench& bench,
                                   probes::LaunchKind kind,
                                   const probes::Target& target) {
  switch (kind) {
    case probes::LaunchKind::graph_node:
      return time_graph(bench, target);
    case probes::LaunchKind::synchronise:
      return time_launch_and_wait(bench, target);
    case probes::LaunchKind::empty_kernel:
      break;
  }
  return bench.time({.doing = "launching empty kernels",
                     .enqueue = [](cudaStream_t stream, int) { return launch_empty(stream); }},
                    target,
                    bench.batch_options());
}

}  // namespace scaleworth::gpu
