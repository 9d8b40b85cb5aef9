// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/training_gemms.h"

#include "cuda/runtime/error.h"
#include "cuda/training/transformer.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
// The transpose of `operand`, which is [rows, columns].
ColumnMajorMatrix transpose_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  ColumnMajorMatrix matrix{columns, rows, operand.stride, operand.batch_stride, false};
  if (operand.transposed) matrix = {rows, columns, operand.stride, operand.batch_stride, true};
  return matrix;
}

int common_alignment(const GemmCall& call) {
  std::uintptr_t bits = 256;
  for (const Bfloat16* address : {call.a.data,
                                  call.b.data,
                                  static_cast<const Bfloat16*>(call.result.data),
                                  call.addend,
                                  call.bias}) {
    bits |= reinterpret_cast<std::uintptr_t>(address);
  }
  for (const std::int64_t stride :
       {call.a.batch_stride, call.b.batch_stride, call.result.batch_stride}) {
    bits |= static_cast<std::uintptr_t>(stride) * sizeof(Bfloat16);
  }
  return static_cast<int>(bits & (~bits + 1));  // the lowest bit that is set
}
}  // namespace

ColumnMajorGemm to_column_major(const GemmCall& call) {
  ColumnMajorGemm gemm;
  gemm.key.m = call.n;
  gemm.key.n = call.m;
  gemm.key.k = call.k;
  gemm.key.batch = call.batch;
  gemm.key.a = transpose_of(call.b, call.k, call.n);
  gemm.key.b = transpose_of(call.a, call.m, call.k);
  gemm.key.d = {call.n, call.m, call.result.stride, call.result.batch_stride, false};
  gemm.key.addend = call.addend != nullptr;
  gemm.key.bias = call.bias != nullptr;
  gemm.key.alignment = common_alignment(call);
  gemm.a = call.b.data;
  gemm.b = call.a.data;
  gemm.d = call.result.data;
  gemm.c = call.addend != nullptr ? call.addend : call.result.data;
  gemm.bias = call.bias;
  gemm.alpha = call.alpha;
  gemm.beta = call.addend != nullptr ? 1.0F : 0.0F;
  return gemm;
}

namespace {
// What PyTorch gives cuBLASLt from Hopper on.
constexpr std::size_t workspace_size = std::size_t{32} << 20U;

LtLayout make_layout(const std::shared_ptr<const CublasLt>& library,
                     const ColumnMajorMatrix& matrix,
                     std::int64_t batch) {
  return make_lt_layout(
      library,
      {CUDA_R_16BF, matrix.rows, matrix.columns, matrix.leading, batch, matrix.batch_stride});
}

void set_bias(const LtDescriptor& descriptor, const void* bias) {
  set_attribute(descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

LtDescriptor make_descriptor(const std::shared_ptr<const CublasLt>& library,
                             const ColumnMajorGemm& gemm) {
  LtDescriptor descriptor = make_lt_descriptor(library, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set_attribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSA, operation(gemm.key.a.transpose));
  set_attribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSB, operation(gemm.key.b.transpose));
  if (gemm.key.bias) {
    set_attribute(descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set_bias(descriptor, gemm.bias);
  }
  return descriptor;
}
}  // namespace

struct GemmPlans::Plan {
  GemmPlanKey key;
  LtDescriptor descriptor;
  LtLayout a;
  LtLayout b;
  LtLayout d;
  cublasLtMatmulAlgo_t algorithm;
};

GemmPlans::GemmPlans(std::shared_ptr<const CublasLt> library, const DeviceHealth& health)
    : library_(std::move(library)),
      workspace_bytes_(workspace_size),
      workspace_(allocate_device(health, workspace_size)) {
  handle_ = make_lt_handle(library_);
}

GemmPlans::~GemmPlans() = default;

GemmPlans::Plan& GemmPlans::plan_of(const ColumnMajorGemm& gemm) {
  for (const auto& plan : plans_) {
    if (plan->key == gemm.key) return *plan;
  }
  plans_.push_back(make_plan(gemm));
  return *plans_.back();
}

std::unique_ptr<GemmPlans::Plan> GemmPlans::make_plan(const ColumnMajorGemm& gemm) {
  const GemmPlanKey& key = gemm.key;
  auto plan = std::make_unique<Plan>(Plan{key,
                                          make_descriptor(library_, gemm),
                                          make_layout(library_, key.a, key.batch),
                                          make_layout(library_, key.b, key.batch),
                                          make_layout(library_, key.d, key.batch),
                                          {}});
  const LtPreference preference =
      make_lt_preference(library_, workspace_bytes_, static_cast<std::uint32_t>(key.alignment));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status = library_->heuristic(handle_.get(),
                                                    plan->descriptor.get(),
                                                    plan->a.get(),
                                                    plan->b.get(),
                                                    plan->d.get(),
                                                    plan->d.get(),
                                                    preference.get(),
                                                    1,
                                                    &result,
                                                    &found);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) library_->check(status);
  if (status != CUBLAS_STATUS_SUCCESS || found == 0 || result.state != CUBLAS_STATUS_SUCCESS) {
    throw ProbeFailure(fmt::format(
        "cuBLASLt {} has no bf16 product of {} x {} x {} ({} at once, {} B aligned) for this GPU",
        library_->version,
        key.m,
        key.n,
        key.k,
        key.batch,
        key.alignment));
  }
  plan->algorithm = result.algo;
  return plan;
}

void GemmPlans::run(const ColumnMajorGemm& gemm, cudaStream_t stream) {
  const Plan& plan = plan_of(gemm);
  if (gemm.key.bias) set_bias(plan.descriptor, gemm.bias);
  library_->check(library_->matmul(handle_.get(),
                                   plan.descriptor.get(),
                                   &gemm.alpha,
                                   gemm.a,
                                   plan.a.get(),
                                   gemm.b,
                                   plan.b.get(),
                                   &gemm.beta,
                                   gemm.c,
                                   plan.d.get(),
                                   gemm.d,
                                   plan.d.get(),
                                   &plan.algorithm,
                                   workspace_.get(),
                                   workspace_bytes_,
                                   stream));
}
}  // namespace scaleworth::gpu
