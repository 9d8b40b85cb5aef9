// SPDX-License-Identifier: Apache-2.0
#include "trace/classify.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <utility>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {
DeviceEvent device_event(Recording& recording, const char* name, std::int64_t length) {
  DeviceEvent event;
  event.end = nanoseconds(length);
  event.name = recording.names.intern(name);
  return event;
}
}  // namespace

TEST_CASE("metadata of a collective overrules the name", "[classify]") {
  Recording recording;
  recording.communications.push_back({});
  recording.communications.back().kind = CollectiveKind::all_to_all;
  recording.communications.push_back({});  // kind unknown
  for (std::uint32_t communication : {no_index, 0u, 1u}) {
    DeviceEvent event = device_event(recording, "ncclDevKernel_SendRecv(int)", 5);
    event.communication = communication;
    recording.device_events.push_back(event);
  }
  classify(recording, RuleTable::built_in());
  CHECK(recording.device_events[0].collective == CollectiveKind::send_receive);
  CHECK(recording.device_events[1].collective == CollectiveKind::all_to_all);
  CHECK(recording.device_events[2].collective == CollectiveKind::send_receive);
}

TEST_CASE("copies are copies unless they carry out a collective", "[classify]") {
  Recording recording;
  recording.communications.push_back({});
  recording.communications.back().kind = CollectiveKind::all_gather;
  DeviceEvent copy = device_event(recording, "gemm", 5);
  copy.operation = DeviceOperation::copy;
  recording.device_events.push_back(copy);
  copy.communication = 0;
  recording.device_events.push_back(copy);
  classify(recording, RuleTable::built_in());
  CHECK(recording.device_events[0].work_class == WorkClass::copy);
  CHECK(recording.device_events[1].work_class == WorkClass::communication);
  CHECK(recording.device_events[1].collective == CollectiveKind::all_gather);
}

TEST_CASE("a host that stands still is synchronizing, a stream that waits is not", "[classify]") {
  Recording recording;
  recording.synchronizations.resize(2);
  recording.synchronizations[0].kind = Synchronization::Kind::context;
  recording.synchronizations[1].kind = Synchronization::Kind::stream_wait_event;
  for (std::uint32_t index : {0u, 1u}) {
    HostEvent event;
    event.activity = HostActivity::synchronization;
    event.synchronization = index;
    event.name = recording.names.intern("a tool's own word");
    recording.host_events.push_back(event);
  }
  classify(recording, RuleTable::built_in());
  CHECK(recording.host_events[0].cause == HostCause::synchronizing_call);
  CHECK(!recording.host_events[1].cause);
}

TEST_CASE("time by class sums over recordings and always shows what no rule knows", "[classify]") {
  Job job;
  job.recordings.resize(2);
  for (Recording& recording : job.recordings) {
    recording.device_events = {device_event(recording, "volta_sgemm_128x32_nn", 10),
                               device_event(recording, "volta_sgemm_32x32_nn", 30)};
    classify(recording, RuleTable::built_in());
  }
  const auto classes = classified_time(job);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].work_class == WorkClass::unclassified);
  CHECK(classes[0].kernels == 0);
  CHECK(classes[1].work_class == WorkClass::gemm);
  CHECK(classes[1].kernels == 4);
  CHECK(classes[1].time == nanoseconds(80));
  REQUIRE(classes[1].largest.size() == 2);
  CHECK(classes[1].largest[0] == std::pair<std::string, nanoseconds>("volta_sgemm_32x32_nn", 60));
}

using trace::RuleTable;

namespace {
struct Known {
  const char* name;
  WorkClass work_class;
  CollectiveKind collective = CollectiveKind::unknown;
};

std::string refusal(const char* toml) {
  try {
    RuleTable::with_own(toml, "own.toml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

void check_all(const std::vector<Known>& known) {
  const RuleTable rules = RuleTable::built_in();
  for (const Known& one : known) {
    CAPTURE(one.name);
    const trace::KernelVerdict verdict = rules.kernel(one.name);
    CHECK(word_of(verdict.work_class) == std::string(word_of(one.work_class)));
    CHECK(key_of(verdict.collective) == std::string(key_of(one.collective)));
  }
}

constexpr WorkClass communication = WorkClass::communication;
}  // namespace

TEST_CASE("kernels of every NCCL version are communication of the right kind", "[classify]") {
  check_all({
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
       communication,
       CollectiveKind::all_reduce},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)",
       communication,
       CollectiveKind::send_receive},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       communication,
       CollectiveKind::reduce_scatter},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       communication,
       CollectiveKind::all_gather},
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       communication,
       CollectiveKind::reduce},
      {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       communication,
       CollectiveKind::broadcast},
      {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", communication},
      {"ncclSymDevKernel_AllReduce_AGxLL_R_sum_f32", communication, CollectiveKind::all_reduce},
      {"ncclSymkDevKernel_ReduceScatter_LDMC_sum_bf16",
       communication,
       CollectiveKind::reduce_scatter},
      {"_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
       communication,
       CollectiveKind::all_reduce},
      {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", communication, CollectiveKind::all_reduce},
  });
}

TEST_CASE("communication without NCCL is communication too", "[classify]") {
  check_all({
      {"oneccl_reduce_base<float, 2, 16, 1, 1, 2>", communication, CollectiveKind::all_reduce},
      {"oneccl_allgather_small<int, 4>", communication, CollectiveKind::all_gather},
      {"void mylib::fused_reducescatter_kernel<float>(float*)",
       communication,
       CollectiveKind::reduce_scatter},
      {"void mylib::ring_send_recv<float>(float*)", communication, CollectiveKind::send_receive},
      {"void uccl::internode::dispatch<false, 4>(int4*)",
       communication,
       CollectiveKind::all_to_all},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, int)",
       communication,
       CollectiveKind::all_reduce},
      {"void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8>(AllReduceParams)",
       communication,
       CollectiveKind::all_reduce},
      {"void c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)",
       communication,
       CollectiveKind::all_reduce},
      {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float, 16, 8>(float**)",
       communication,
       CollectiveKind::all_reduce},
      {"void deep_ep::internode_ll::dispatch<true, 7168>(void*, float*)",
       communication,
       CollectiveKind::all_to_all},
      {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*)",
       communication,
       CollectiveKind::all_to_all},
      {"void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
       WorkClass::other_compute},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>(int)",
       communication,
       CollectiveKind::all_reduce},
      {"userbuffers_fp16_sum_inplace_gpu_rr_ag<8>(int)", communication, CollectiveKind::all_gather},
      {"userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)",
       communication,
       CollectiveKind::reduce_scatter},
      {"void c10d::symmetric_memory::(anonymous namespace)::barrier_kernel(unsigned int**, int)",
       communication,
       CollectiveKind::barrier},
      {"mscclKernel_Sum_half_Simple_false", communication},
      {"nvshmemi_barrier_on_stream_kernel(int)", communication, CollectiveKind::barrier},
      {"grads-reduce-scatter", communication, CollectiveKind::reduce_scatter},
      {"backward-recv", communication, CollectiveKind::receive},
  });
}

TEST_CASE("words inside of template arguments do not mislead", "[classify]") {
  check_all({
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
       WorkClass::elementwise},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
       "at::native::MeanOps<float, float>>>(at::native::ReduceOp<float>)",
       WorkClass::reduction},
      {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwd<2>>>(int)",
       WorkClass::attention},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::FusedOptimizerTensorListMetadata<4>, "
       "at::native::FusedAdamMathFunctor<float>>()",
       WorkClass::optimizer},
      {"triton_poi_fused_add_native_layer_norm_mm_3", WorkClass::elementwise},
      {"triton_red_fused__to_copy_mean_pow_5", WorkClass::reduction},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
       WorkClass::elementwise},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(float)",
       WorkClass::gemm},
      {"void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)", WorkClass::gemm},
      {"void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)", WorkClass::embedding},
      {"void batch_norm_collect_statistics_kernel<InvStd, float, float>(int)",
       WorkClass::normalization},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", WorkClass::gemm},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7", WorkClass::attention},
      {"sm80_xmma_fprop_implicit_gemm_tf32f32_f32_nhwckrsc_nhwc", WorkClass::convolution},
      {"triton_tem_fused_mm_14", WorkClass::gemm},
      {"void at::native::bitonicSortKVInPlace<2>(int)", WorkClass::other_compute},
      {"void vllm::reshape_and_cache_flash_kernel<float>(float*)", WorkClass::other_compute},
      {"my_very_own_kernel(float*)", WorkClass::unclassified},
      {"", WorkClass::unclassified},
  });
}

TEST_CASE("kernels of AMD's libraries are classed as NVIDIA's", "[classify]") {
  check_all({
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", communication},
      {"ncclDevKernelDebug_Generic_4(ncclDevKernelArgsStorage<4096ul>)", communication},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)",
       communication,
       CollectiveKind::send_receive},
      {"mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)", communication},
      {"void aiter::cross_device_reduce_2stage<bf16, 8, false>(int)",
       communication,
       CollectiveKind::all_reduce},
      {"void mori::moe::EpDispatchIntraNodeKernel<bf16>(int)",
       communication,
       CollectiveKind::all_to_all},
      {"Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0_APM1", WorkClass::gemm},
      {"void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm>(int)", WorkClass::gemm},
      {"mfma_moe1_silu_mul_afp8_wfp4", WorkClass::gemm},
      {"_ZN5aiter37fmha_fwd_hd128_bf16_causal_rtne_groupE", WorkClass::attention},
      {"void kn_mla_reduce_v1<MlaReduceKernelV1Traits<512, 128, 1> >(int)", WorkClass::attention},
      {"sage_fwd", WorkClass::attention},
      {"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x64_wt32x32x8", WorkClass::convolution},
      {"_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_"
       "cshuffleINS_34GridwiseGemm",
       WorkClass::convolution},
      {"miopenSp3AsmConv_v21_1_3_gfx9_fp32_f2x3_stride1", WorkClass::convolution},
      {"batched_transpose_16x32_half", WorkClass::convolution},  // as cuDNN's nchwToNhwc
      {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePass",
       WorkClass::normalization},
      {"SubTensorOpWithScalar1d", WorkClass::elementwise},
      {"void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<scan_impl<long> >(int)",
       WorkClass::other_compute},
      {"__amd_rocclr_copyBuffer", WorkClass::copy},
      {"__amd_rocclr_fillBufferAligned.kd", WorkClass::copy},
      {"CopyDeviceToDevice", WorkClass::copy},
      {"void at::native::direct_copy_kernel_cuda<float>(int)", WorkClass::elementwise},
  });
}

TEST_CASE("host calls name why a GPU had to wait", "[classify]") {
  const RuleTable rules = RuleTable::built_in();
  const std::vector<std::pair<const char*, std::optional<HostCause>>> known{
      {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", HostCause::data_loading},
      {"cudaStreamSynchronize_v3020", HostCause::synchronizing_call},
      {"cudaMemcpy_ptds", HostCause::synchronizing_call},
      {"cudaMemcpyAsync_v3020", std::nullopt},
      {"aten::item", HostCause::synchronizing_call},
      {"cuMemAlloc_v2", HostCause::allocation},
      {"cudaHostAlloc", HostCause::allocation},
      {"cuLibraryLoadData", HostCause::module_loading},
      {"Lazy Function Loading", HostCause::module_loading},
      {"gc", HostCause::garbage_collection},
      {"gc.collect", HostCause::garbage_collection},
      {"cudaLaunchKernel", std::nullopt},
      {"cudaStreamWaitEvent", std::nullopt},
      {"hipMemcpyWithStream", HostCause::synchronizing_call},
      {"hipMemcpyAsync", std::nullopt},
      {"hipDeviceSynchronize", HostCause::synchronizing_call},
      {"hipStreamSynchronize_spt", HostCause::synchronizing_call},
      {"hipFreeAsync", HostCause::allocation},
      {"hipModuleLoadData", HostCause::module_loading},
      {"hipModuleLaunchKernel", std::nullopt},
      {"hipGraphLaunch", std::nullopt},
      {"hipStreamWaitEvent", std::nullopt},
      {"aten::mm", std::nullopt}};
  for (const auto& [name, cause] : known) {
    CAPTURE(name);
    CHECK(rules.host(name) == cause);
  }
}

TEST_CASE("own rules go first and leave the others in place", "[classify]") {
  const RuleTable rules = RuleTable::with_own(R"(
[[kernel]]
name = "ours"
class = "attention"
contains = ["My_Very_Own"]
unless = ["backward"]
[[host]]
name = "our loader"
cause = "data_loading"
is = ["aten::item"]
)",
                                              "own.toml");
  CHECK(rules.kernel("my_very_own_kernel(float*)").work_class == WorkClass::attention);
  CHECK(rules.kernel("my_very_own_backward(float*)").work_class == WorkClass::unclassified);
  CHECK(rules.kernel("volta_sgemm_128x32_nn").work_class == WorkClass::gemm);
  CHECK(rules.host("aten::item") == HostCause::data_loading);
  CHECK(rules.host("gc") == HostCause::garbage_collection);
}

TEST_CASE("a rule file is refused with file, line and remedy", "[classify]") {
  CHECK(refusal("[[kernel]]\nname = \"a\"\nclass = \"gem\"\ncontains = [\"x\"]\n")
            .starts_with("own.toml:3: 'class' must be one of communication, gemm"));
  CHECK(refusal("\n[[kernel]]\nname = \"a\"\nclass = \"gemm\"\n") ==
        "own.toml:2: the rule matches every name: add 'is', 'function' or 'contains'");
  CHECK(refusal("[[kernel]]\nname = \"a\"\nclass = \"gemm\"\ncontains = [\"\"]\n") ==
        "own.toml:4: 'contains' has an empty text: remove it");
  CHECK(refusal("[[kernel]]\nname=\"a\"\nclass=\"gemm\"\nis=[\"x\"]\ncollective=\"reduce\"\n") ==
        "own.toml:5: 'collective' belongs to class communication only: remove it");
  CHECK(refusal("[[host]]\nname = \"a\"\ncause = \"slow\"\nis = [\"x\"]\n")
            .starts_with("own.toml:3: 'cause' must be one of data_loading"));
  CHECK(refusal("[[kernels]]\n").starts_with("own.toml:1:"));
}

TEST_CASE("a template name of megabytes is classified in linear time", "[classify]") {
  const std::string name = "void f<" + std::string(1 << 20, '<') + "gemm";
  CHECK(RuleTable::built_in().kernel(name).work_class == WorkClass::gemm);
}
