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

// A descriptor of the library and the call that gives it back.
template <class Handle>
class Descriptor {
 public:
  using Destroy = cublasStatus_t (*)(Handle);
  Descriptor(Handle handle, Destroy destroy) : handle_(handle), destroy_(destroy) {}
  ~Descriptor() {
    if (handle_ != nullptr) static_cast<void>(destroy_(handle_));
  }
  Descriptor(Descriptor&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), destroy_(other.destroy_) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  Handle get() const { return handle_; }

 private:
  Handle handle_;
  Destroy destroy_;
};

using MatmulDescriptor = Descriptor<cublasLtMatmulDesc_t>;
using Layout = Descriptor<cublasLtMatrixLayout_t>;
using Preference = Descriptor<cublasLtMatmulPreference_t>;

Layout make_layout(const CublasLt& library, const ColumnMajorMatrix& matrix, std::int64_t batch) {
  cublasLtMatrixLayout_t handle = nullptr;
  library.check(library.layout_create(&handle,
                                      CUDA_R_16BF,
                                      static_cast<std::uint64_t>(matrix.rows),
                                      static_cast<std::uint64_t>(matrix.columns),
                                      matrix.leading));
  Layout layout(handle, library.layout_destroy);
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    library.check(
        library.layout_set(handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
    library.check(library.layout_set(handle,
                                     CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                     &matrix.batch_stride,
                                     sizeof(matrix.batch_stride)));
  }
  return layout;
}

template <class Value>
void set(const CublasLt& library,
         const MatmulDescriptor& descriptor,
         cublasLtMatmulDescAttributes_t attribute,
         const Value& value) {
  library.check(library.matmul_descriptor_set(descriptor.get(), attribute, &value, sizeof(value)));
}

MatmulDescriptor make_descriptor(const CublasLt& library, const ColumnMajorGemm& gemm) {
  cublasLtMatmulDesc_t handle = nullptr;
  library.check(library.matmul_descriptor_create(&handle, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  MatmulDescriptor descriptor(handle, library.matmul_descriptor_destroy);
  const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(library, descriptor, CUBLASLT_MATMUL_DESC_TRANSA, operation(gemm.key.a.transpose));
  set(library, descriptor, CUBLASLT_MATMUL_DESC_TRANSB, operation(gemm.key.b.transpose));
  if (gemm.key.bias) {
    set(library, descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    const void* bias = gemm.bias;
    set(library, descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  return descriptor;
}

Preference make_preference(const CublasLt& library, std::size_t workspace, int alignment) {
  cublasLtMatmulPreference_t handle = nullptr;
  library.check(library.preference_create(&handle));
  Preference preference(handle, library.preference_destroy);
  library.check(library.preference_set(
      handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace)));
  const auto bytes = static_cast<std::uint32_t>(alignment);
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    library.check(library.preference_set(handle, attribute, &bytes, sizeof(bytes)));
  }
  return preference;
}
}  // namespace

struct GemmPlans::Plan {
  GemmPlanKey key;
  MatmulDescriptor descriptor;
  Layout a;
  Layout b;
  Layout d;
  cublasLtMatmulAlgo_t algorithm;
};

void GemmPlans::DestroyHandle::operator()(cublasLtHandle_t handle) const noexcept {
  static_cast<void>(library->destroy(handle));
}

GemmPlans::GemmPlans(std::shared_ptr<const CublasLt> library, const DeviceHealth& health)
    : library_(std::move(library)),
      handle_(nullptr, DestroyHandle{library_.get()}),
      workspace_bytes_(workspace_size),
      workspace_(allocate_device(health, workspace_size)) {
  cublasLtHandle_t handle = nullptr;
  library_->check(library_->create(&handle));
  handle_.reset(handle);
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
                                          make_descriptor(*library_, gemm),
                                          make_layout(*library_, key.a, key.batch),
                                          make_layout(*library_, key.b, key.batch),
                                          make_layout(*library_, key.d, key.batch),
                                          {}});
  const Preference preference = make_preference(*library_, workspace_bytes_, key.alignment);
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
  if (gemm.key.bias) {
    const void* bias = gemm.bias;
    set(*library_, plan.descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
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

void CudaOperations::multiply(const GemmCall& call) {
  plans_.run(to_column_major(call), stream_);
}

void CudaOperations::layer_norm(const LayerNorm& layer) {
  check(launch_layer_norm(layer, stream_));
}

void CudaOperations::layer_norm_gradient(const LayerNormGradient& layer) {
  check(launch_layer_norm_gradient(layer, stream_));
}

void CudaOperations::gain_gradient(const GainGradient& layer) {
  check(launch_gain_gradient(layer, stream_));
}

void CudaOperations::bias_gradient(const BiasGradient& layer) {
  check(launch_bias_gradient(layer, stream_));
}

void CudaOperations::softmax(const Softmax& layer) {
  check(launch_softmax(layer, stream_));
}

void CudaOperations::softmax_gradient(const SoftmaxGradient& layer) {
  check(launch_softmax_gradient(layer, stream_));
}

void CudaOperations::gelu(const Gelu& layer) {
  check(launch_gelu(layer, stream_));
}

void CudaOperations::gelu_gradient(const GeluGradient& layer) {
  check(launch_gelu_gradient(layer, stream_));
}

void CudaOperations::embed(const Embedding& layer) {
  check(launch_embedding(layer, stream_));
}

void CudaOperations::embedding_gradient(const EmbeddingGradient& layer) {
  check(launch_embedding_gradient(layer, stream_));
}

void CudaOperations::split_heads(const Heads& layer) {
  check(launch_split_heads(layer, stream_));
}

void CudaOperations::merge_heads(const Heads& layer) {
  check(launch_merge_heads(layer, stream_));
}

void CudaOperations::cross_entropy(const CrossEntropy& layer) {
  check(launch_cross_entropy(layer, stream_));
}

void CudaOperations::sum_losses(const LossSum& sum) {
  check(launch_loss_sum(sum, stream_));
}

void CudaOperations::adam(const Adam& adam) {
  check(launch_adam(adam, stream_));
}

void CudaOperations::initialise(const InitialWeights& initial) {
  check(launch_initial_weights(initial, stream_));
}
}  // namespace scaleworth::gpu
