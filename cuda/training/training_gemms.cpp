// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/training_gemms.h"

#include "src/core/error.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace scaleworth::gpu {
namespace {
// The transpose of `operand`, which is [rows, columns].
ColumnMajorMatrix transpose_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  ColumnMajorMatrix matrix{columns, rows, operand.stride, operand.batch_stride, false};
  if (operand.transposed) matrix = {rows, columns, operand.stride, operand.batch_stride, true};
  return matrix;
}

int common_alignment(const GemmCall& call) {
  std::uintptr_t bits = device_alignment;
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

// What PyTorch gives cuBLASLt from Hopper on.
constexpr std::size_t workspace_size = std::size_t{32} << 20U;

LtLayout make_layout(const std::shared_ptr<const CublasLt>& library,
                     const ColumnMajorMatrix& matrix,
                     std::int64_t batch) {
  return make_lt_layout(
      library,
      {CUDA_R_16BF, matrix.rows, matrix.columns, matrix.leading, batch, matrix.batch_stride});
}

LtDescriptor make_descriptor(const std::shared_ptr<const CublasLt>& library,
                             const GemmPlanKey& key,
                             const void* bias) {
  LtDescriptor descriptor = make_lt_descriptor(library, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set_attribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSA, operation(key.a.transpose));
  set_attribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSB, operation(key.b.transpose));
  if (key.bias) {
    set_attribute(descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set_attribute(descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  return descriptor;
}
}  // namespace

GemmPlanKey::GemmPlanKey(const GemmCall& call)
    : m(call.n),
      n(call.m),
      k(call.k),
      batch(call.batch),
      a(transpose_of(call.b, call.k, call.n)),
      b(transpose_of(call.a, call.m, call.k)),
      d{call.n, call.m, call.result.stride, call.result.batch_stride, false},
      addend(call.addend != nullptr),
      bias(call.bias != nullptr),
      alignment(common_alignment(call)) {}

struct GemmPlans::Plan {
  GemmPlanKey key;
  LtDescriptor descriptor;
  LtLayout a;
  LtLayout b;
  LtLayout d;
  cublasLtMatmulAlgo_t algorithm;
};

GemmPlans::GemmPlans(std::shared_ptr<const CublasLt> library, const DeviceHealth& health)
    : library_(std::move(library)), workspace_(allocate_device(health, workspace_size)) {
  handle_ = make_lt_handle(library_);
}

GemmPlans::~GemmPlans() = default;

GemmPlans::Plan& GemmPlans::plan_of(const GemmCall& call) {
  const GemmPlanKey key(call);
  for (const auto& plan : plans_)
    if (plan->key == key) return *plan;
  auto plan = std::make_unique<Plan>(Plan{key,
                                          make_descriptor(library_, key, call.bias),
                                          make_layout(library_, key.a, key.batch),
                                          make_layout(library_, key.b, key.batch),
                                          make_layout(library_, key.d, key.batch),
                                          {}});
  const LtPreference preference =
      make_lt_preference(library_, workspace_size, static_cast<std::uint32_t>(key.alignment));
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
    throw ProbeFailure(
        "cuBLASLt {} has no bf16 product of {} x {} x {} ({} at once, {} B aligned) for this GPU",
        library_->version,
        key.m,
        key.n,
        key.k,
        key.batch,
        key.alignment);
  }
  plan->algorithm = result.algo;
  return *plans_.emplace_back(std::move(plan));
}

void GemmPlans::run(const GemmCall& call, cudaStream_t stream) {
  const Plan& plan = plan_of(call);
  const void* bias = call.bias;
  if (plan.key.bias) set_attribute(plan.descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float beta = plan.key.addend ? 1.0F : 0.0F;
  library_->check(library_->matmul(handle_.get(),
                                   plan.descriptor.get(),
                                   &call.alpha,
                                   call.b.data,
                                   plan.a.get(),
                                   call.a.data,
                                   plan.b.get(),
                                   &beta,
                                   plan.key.addend ? call.addend : call.result.data,
                                   plan.d.get(),
                                   call.result.data,
                                   plan.d.get(),
                                   &plan.algorithm,
                                   workspace_.get(),
                                   workspace_size,
                                   stream));
}
}  // namespace scaleworth::gpu
