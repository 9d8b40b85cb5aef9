// SPDX-License-Identifier: Apache-2.0
/// One job of two ranks, written as the profiler writes it on the devices of several makers: its
/// ledger is the same on all of them, and the known one.
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/test_folder.h"
#include "tests/unit/trace/recordings.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/read_job.h"

#include <fmt/format.h>

using namespace scaleworth;
using namespace scaleworth::trace;
using std::chrono::microseconds;

namespace {

/// What a maker's profile calls things; copies may be kernels there.
struct Maker {
  const char* runtime = "cuda_runtime";
  const char* kernel = "kernel";
  const char* copy_row = "gpu_memcpy";
  const char* copy = "Memcpy HtoD (Pinned -> Device)";
  const char* gemm = "ampere_sgemm_128x64_tn";
  const char* relu = "void at::native::vectorized_elementwise_kernel<4, Relu>(int)";
  const char* adam = "void multi_tensor_apply_kernel<Adam>(long)";
  const char* all_reduce =
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  const char* launch = "cudaLaunchKernel";
  const char* synchronize = "cudaStreamSynchronize_v3020";
  const char* allocate = "cudaMalloc_v3020";
};

/// Names as in recordings of MI300 by ROCm 6.4.
constexpr Maker amd{
    .copy_row = "kernel",
    .copy = "__amd_rocclr_copyBuffer.kd",
    .gemm = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x192x64_MI16x16x1_SN_LDSB1",
    .relu = "void at::native::vectorized_elementwise_kernel<8, Relu>(int)",
    .all_reduce = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
    .launch = "hipExtModuleLaunchKernel",
    .synchronize = "hipStreamSynchronize_spt",
    .allocate = "hipExtMallocWithFlags"};

constexpr Maker intel{.runtime = "xpu_runtime",
                      .copy = "Memcpy M2D",
                      .gemm = "gemm_kernel",
                      .all_reduce = "a kernel of oneCCL",
                      .launch = "urEnqueueKernelLaunch",
                      .synchronize = "urQueueFinish",
                      .allocate = "urUSMDeviceAlloc"};

/// Names as in HolisticTraceAnalysis's recording of MTIA.
constexpr Maker mtia{.runtime = "mtia_runtime",
                     .kernel = "mtia_ccp_events",
                     .copy_row = "mtia_ccp_events",
                     .copy = "dma_request",
                     .gemm = "fc-dtype_Float",
                     .relu = "sigmoid_backward-dtype_Float",
                     .adam = "fused_adam-dtype_Float",
                     .all_reduce = "hccl::allreduce",
                     .launch = "runFunction - job_prep_and_submit_for_execution",
                     .synchronize = "synchronizeStream",
                     .allocate = "urUSMHostAlloc"};

/// Five steps of 1000 us, each: the host synchronizes for 100 us, launches; the device multiplies
/// from 110 to 300, copies to 350, computes to 500 on rank 0 and 600 on rank 1; all-reduce until
/// 700; the host allocates until 800 and launches the update, which runs from 810 to 1000.
class Writer {
 public:
  Writer(const Maker& maker, int rank) : maker_(maker) {
    for (int step = 0; step < 5; ++step) {
      base_ = 1000 * step;
      row("user_annotation", fmt::format("ProfilerStep#{}", step), 0, 1000, "");
      call(maker.synchronize, 0, 100);
      work(maker.kernel, maker.gemm, 7, 100, 110, 300);
      work(maker.copy_row, maker.copy, 21, 105, 300, 350);
      work(maker.kernel, maker.relu, 7, 110, 350, rank == 0 ? 500 : 600);
      // As streams of MTIA: no work.
      if (std::string_view(maker.kernel) == "mtia_ccp_events")
        row(maker.kernel, "event_wait", 700, 110, R"("stream": 7)");
      work(maker.kernel,
           maker.all_reduce,
           20,
           115,
           rank == 0 ? 500 : 600,
           700,
           R"(, "Collective name": "allreduce", "In msg nelems": 64, "Out msg nelems": 64,)"
           R"( "Group size": 2, "dtype": "Float", "Process Group Name": "0",)"
           R"( "Process Group Ranks": "[0, 1]")");
      call(maker.allocate, 700, 800);
      work(maker.kernel, maker.adam, 7, 800, 810, 1000);
    }
    text_ =
        fmt::format(R"({{"schemaVersion": 1, "distributedInfo": {{"rank": {}, "world_size": 2}},)"
                    R"( "traceEvents": [{}]}})",
                    rank,
                    text_.substr(1));
  }
  const std::string& text() const { return text_; }

 private:
  void row(const char* category,
           const std::string& name,
           int start,
           int length,
           const std::string& arguments) {
    const bool device = category == maker_.kernel || category == maker_.copy_row;
    text_ += fmt::format(
        R"(,{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {},)"
        R"( "args": {{{}}}}})",
        category,
        name,
        device ? 2 : 950,
        device ? 0 : 950,
        base_ + start,
        length,
        arguments);
  }
  void call(const char* name, int start, int end) {
    row(maker_.runtime, name, start, end - start, fmt::format(R"("correlation": {})", ++id_));
  }
  void work(const char* category,
            const char* name,
            int stream,
            int launched,
            int start,
            int end,
            const char* more = "") {
    call(maker_.launch, launched, launched + 5);
    row(category,
        name,
        start,
        end - start,
        fmt::format(R"("device": 2, "stream": {}, "correlation": {}{})", stream, id_, more));
  }

  const Maker& maker_;
  int base_ = 0;
  int id_ = 0;
  std::string text_;
};

Attributed attribution_of(const Maker& maker) {
  const TestFolder folder;
  for (int rank = 0; rank < 2; ++rank)
    folder.write(fmt::format("rank-{}.json", rank), Writer(maker, rank).text());
  const RuleTable rules = RuleTable::built_in();
  Job job = read_job({folder.path()}, rules, 1);
  for (Recording& recording : job.recordings) classify(recording, rules);
  return attribute(job);
}

}  // namespace

TEST_CASE("a job has the same ledger in the profiles of every maker's devices", "[vendors]") {
  const auto maker = GENERATE(Maker{}, amd, intel, mtia);
  CAPTURE(maker.gemm);
  const Attributed all = attribution_of(maker);
  CHECK(all.result.unmatched_collectives == 0);
  int checked = 0;
  for (const StepLedger& step : all.result.ledger) {
    if (step.excluded) continue;
    const bool waits = step.rank.index == 0;
    const auto part = [&](Part which) { return step.part(which) / microseconds(1); };
    CHECK(part(Part::compute) == (waits ? 530 : 630));
    CHECK(part(Part::exposed_copy) == 50);
    CHECK(part(Part::exposed_wait) == (waits ? 100 : 0));
    CHECK(part(Part::exposed_transfer) == 100);
    CHECK(part(Part::host_late) == 210);
    CHECK(part(Part::launch_gap) == 10);
    const auto late = [&](HostCause cause) {
      return step.host_late_by_cause.at(static_cast<std::size_t>(cause)) / microseconds(1);
    };
    CHECK(late(HostCause::synchronizing_call) >= 100);
    CHECK(late(HostCause::allocation) == 100);
    ++checked;
  }
  CHECK(checked == 6);
}

TEST_CASE("a profile without work on a GPU is named for what it is", "[vendors]") {
  const TestFolder folder;
  const auto refusal = [&](const std::string& rows) {
    const std::string path = folder.write("one.json", R"({"traceEvents": [)" + rows + "]}");
    try {
      read_job({path}, RuleTable::built_in(), 1);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string operation =
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";
  const std::string call =
      R"(, {"ph": "X", "cat": "hpu_op", "name": "launch", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";
  CHECK(contains(refusal(operation),
                 "is a CPU-only profile, without work on a GPU: record again with "
                 "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"));
  CHECK(contains(refusal(operation + call), "holds calls that launch work but no work on a GPU"));
  CHECK(contains(refusal(""), "holds no events of the PyTorch profiler"));
}
