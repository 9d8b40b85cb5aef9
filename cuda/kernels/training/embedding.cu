// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/block.cuh"
#include "cuda/kernels/training/embedding.h"

namespace scaleworth::gpu {
namespace {
__global__ void __launch_bounds__(embedding_threads) embed(Embedding layer) {
  write_embedding(own_share(), layer, blockIdx.x);
}

__device__ std::int64_t own_column() {
  return (static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x) * Pack::size;
}

__global__ void __launch_bounds__(embedding_threads) gather_tokens(EmbeddingGradient layer) {
  const std::int64_t column = own_column();
  if (column < layer.width) write_token_gradient(layer, blockIdx.x, column);
}

__global__ void __launch_bounds__(embedding_threads) gather_positions(EmbeddingGradient layer) {
  const std::int64_t column = own_column();
  if (column < layer.width) write_position_gradient(layer, blockIdx.x, column);
}

constexpr int threads = 256;  // as elementwise.cu

__global__ void __launch_bounds__(threads) split(Heads layer) {
  const std::int64_t index = own_index() * Pack::size;
  if (index < element_count(layer)) split_pack(layer, index);
}

__global__ void __launch_bounds__(threads) merge(Heads layer) {
  const std::int64_t index = own_index() * Pack::size;
  if (index < element_count(layer)) merge_pack(layer, index);
}

unsigned blocks_of(const Heads& layer) {
  return blocks_for(element_count(layer) / Pack::size, threads);
}

__global__ void __launch_bounds__(loss_threads) cross_entropy(CrossEntropy layer) {
  const std::int64_t token = blockIdx.x;
  const Share share = own_share();
  const Bfloat16* row = layer.logits + token * layer.vocabulary;
  // Read before the barriers of the reductions, behind which the row is overwritten.
  const float target_logit = to_float(row[target_of(layer, token)]);
  const float maximum = maximum_block(maximum_of_row(share, layer.vocabulary, row));
  const float sum = sum_block(exponentials_of_row(share, layer.vocabulary, row, maximum));
  write_loss_gradient(share, layer, token, maximum, sum);
  if (threadIdx.x == 0) layer.losses[token] = loss_of_token(target_logit, maximum, sum);
}

__global__ void __launch_bounds__(loss_threads) add_losses(LossSum sum) {
  const float total = sum_block(losses_of_share(own_share(), sum));
  if (threadIdx.x != 0) return;
  sum.result[0] = total * sum.scale;
  sum.result[1] = *sum.stop;
}

constexpr int final_threads = 128;  // little work: a chunk's sum each; any size does

__global__ void __launch_bounds__(column_threads) sum_bias(BiasGradient layer) {
  const std::int64_t column = own_index() * Pack::size;
  if (column < layer.columns) sum_bias_chunk(layer, column, static_cast<int>(blockIdx.y));
}

__global__ void __launch_bounds__(column_threads) sum_gain(GainGradient layer) {
  const std::int64_t column = own_index() * Pack::size;
  if (column < layer.width) sum_gain_chunk(layer, column, static_cast<int>(blockIdx.y));
}

__global__ void __launch_bounds__(final_threads)
    sum_chunks(std::int64_t columns, const float* partial, Bfloat16* sums) {
  const std::int64_t column = own_index();
  if (column < columns) sums[column] = sum_of_chunks(partial, columns, column);
}

dim3 chunk_grid(std::int64_t columns) {
  return dim3(blocks_for(columns / Pack::size, column_threads), column_chunks);
}

cudaError_t launch_sum_chunks(std::int64_t columns,
                              const float* partial,
                              Bfloat16* sums,
                              cudaStream_t stream) {
  sum_chunks<<<blocks_for(columns, final_threads), final_threads, 0, stream>>>(
      columns, partial, sums);
  return cudaGetLastError();
}
}  // namespace

cudaError_t launch_embedding(const Embedding& layer, cudaStream_t stream) {
  embed<<<static_cast<unsigned>(layer.tokens), embedding_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_embedding_gradient(const EmbeddingGradient& layer, cudaStream_t stream) {
  const unsigned columns = blocks_for(layer.width / Pack::size, embedding_threads);
  const dim3 rows(static_cast<unsigned>(layer.vocabulary), columns);
  gather_tokens<<<rows, embedding_threads, 0, stream>>>(layer);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  const dim3 places(static_cast<unsigned>(layer.sequence), columns);
  gather_positions<<<places, embedding_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_split_heads(const Heads& layer, cudaStream_t stream) {
  split<<<blocks_of(layer), threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_merge_heads(const Heads& layer, cudaStream_t stream) {
  merge<<<blocks_of(layer), threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_cross_entropy(const CrossEntropy& layer, cudaStream_t stream) {
  cross_entropy<<<static_cast<unsigned>(layer.tokens), loss_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_loss_sum(const LossSum& sum, cudaStream_t stream) {
  add_losses<<<1, loss_threads, 0, stream>>>(sum);
  return cudaGetLastError();
}

cudaError_t launch_bias_gradient(const BiasGradient& layer, cudaStream_t stream) {
  sum_bias<<<chunk_grid(layer.columns), column_threads, 0, stream>>>(layer);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  return launch_sum_chunks(layer.columns, layer.partial, layer.sums, stream);
}

cudaError_t launch_gain_gradient(const GainGradient& layer, cudaStream_t stream) {
  sum_gain<<<chunk_grid(layer.width), column_threads, 0, stream>>>(layer);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  return launch_sum_chunks(2 * layer.width, layer.partial, layer.sums, stream);
}
}  // namespace scaleworth::gpu
