// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/training/plain_operations.h"

#include "tests/unit/cuda/training/emulated_block.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

namespace scaleworth::testing {
namespace {

using gpu::Bfloat16;
using gpu::ColumnMajorMatrix;
using gpu::Pack;
using gpu::Share;

// Element (row, column) of op(matrix), as the library documents it.
float element(const ColumnMajorMatrix& matrix,
              const Bfloat16* data,
              std::int64_t batch,
              std::int64_t row,
              std::int64_t column) {
  if (matrix.transpose) std::swap(row, column);
  return gpu::to_float(data[batch * matrix.batch_stride + column * matrix.leading + row]);
}

}  // namespace

void PlainMemory::Free::operator()(void* address) const {
  std::free(address);
}

void* PlainMemory::allocate(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment + alignment;
  void* address = std::aligned_alloc(alignment, rounded);
  if (address == nullptr) throw std::bad_alloc();
  std::memset(address, 0, rounded);
  blocks_.emplace_back(address);
  return address;
}

void PlainOperations::multiply(const gpu::GemmCall& call) {
  const gpu::GemmPlanKey key(call);
  flops += 2.0 * static_cast<double>(key.m) * static_cast<double>(key.n) *
           static_cast<double>(key.k) * static_cast<double>(key.batch);
  for (std::int64_t batch = 0; batch < key.batch; ++batch) {
    for (std::int64_t column = 0; column < key.n; ++column) {
      for (std::int64_t row = 0; row < key.m; ++row) {
        double sum = 0.0;
        for (std::int64_t i = 0; i < key.k; ++i) {
          sum += static_cast<double>(element(key.a, call.b.data, batch, row, i)) *
                 static_cast<double>(element(key.b, call.a.data, batch, i, column));
        }
        const std::int64_t place = batch * key.d.batch_stride + column * key.d.leading + row;
        double result = call.alpha * sum;
        if (key.addend) result += gpu::to_float(call.addend[place]);
        if (key.bias) result += gpu::to_float(call.bias[row]);
        call.result.data[place] = gpu::to_bfloat16(static_cast<float>(result));
      }
    }
  }
}

void PlainOperations::layer_norm(const gpu::LayerNorm& layer) {
  const int threads = gpu::layer_norm_threads;
  for (std::int64_t token = 0; token < layer.tokens; ++token) {
    const Bfloat16* row = layer.x + token * layer.width;
    const auto count = static_cast<float>(layer.width);
    const float mean =
        sum_as_block(threads, [&](Share s) { return gpu::sum_of_row(s, layer.width, row); }) /
        count;
    const float variance =
        sum_as_block(
            threads,
            [&](Share s) { return gpu::squared_deviation_of_row(s, layer.width, row, mean); }) /
        count;
    const float inverse = 1.0F / std::sqrt(variance + gpu::layer_norm_epsilon);
    as_block(threads, [&](Share s) { gpu::write_normalised(s, layer, token, mean, inverse); });
    layer.mean[token] = mean;
    layer.inverse[token] = inverse;
  }
}

void PlainOperations::layer_norm_gradient(const gpu::LayerNormGradient& layer) {
  const int threads = gpu::layer_norm_threads;
  for (std::int64_t token = 0; token < layer.tokens; ++token) {
    const auto part = [&](float gpu::LayerNormSums::*which) {
      return sum_as_block(threads, [&](Share s) { return gradient_sums(s, layer, token).*which; });
    };
    const gpu::LayerNormSums sums{part(&gpu::LayerNormSums::scaled),
                                  part(&gpu::LayerNormSums::projected)};
    as_block(threads, [&](Share s) { gpu::write_gradient(s, layer, token, sums); });
  }
}

void PlainOperations::gain_gradient(const gpu::GainGradient& layer) {
  for (int chunk = 0; chunk < gpu::column_chunks; ++chunk) {
    for (std::int64_t i = 0; i < layer.width; i += Pack::size) sum_gain_chunk(layer, i, chunk);
  }
  for (std::int64_t i = 0; i < 2 * layer.width; ++i) {
    layer.sums[i] = gpu::sum_of_chunks(layer.partial, 2 * layer.width, i);
  }
}

void PlainOperations::bias_gradient(const gpu::BiasGradient& layer) {
  for (int chunk = 0; chunk < gpu::column_chunks; ++chunk) {
    for (std::int64_t i = 0; i < layer.columns; i += Pack::size) sum_bias_chunk(layer, i, chunk);
  }
  for (std::int64_t i = 0; i < layer.columns; ++i) {
    layer.sums[i] = gpu::sum_of_chunks(layer.partial, layer.columns, i);
  }
}

void PlainOperations::softmax(const gpu::Softmax& layer) {
  const int threads = gpu::softmax_threads;
  for (std::int64_t r = 0; r < layer.rows; ++r) {
    Bfloat16* row = layer.values + r * layer.width;
    const float maximum = maximum_as_block(
        threads, [&](Share s) { return gpu::maximum_of_row(s, layer.width, row); });
    const float sum = sum_as_block(
        threads, [&](Share s) { return gpu::exponentials_of_row(s, layer.width, row, maximum); });
    as_block(threads,
             [&](Share s) { gpu::write_softmax(s, layer.width, maximum, 1.0F / sum, row); });
  }
}

void PlainOperations::softmax_gradient(const gpu::SoftmaxGradient& layer) {
  const int threads = gpu::softmax_threads;
  for (std::int64_t row = 0; row < layer.rows; ++row) {
    const float dot =
        sum_as_block(threads, [&](Share s) { return gpu::dot_of_row(s, layer, row); });
    as_block(threads, [&](Share s) { gpu::write_softmax_gradient(s, layer, row, dot); });
  }
}

void PlainOperations::gelu(const gpu::Gelu& layer) {
  for (std::int64_t i = 0; i < layer.count; i += Pack::size) gpu::write_gelu(layer, i);
}

void PlainOperations::gelu_gradient(const gpu::GeluGradient& layer) {
  for (std::int64_t i = 0; i < layer.count; i += Pack::size) gpu::write_gelu_gradient(layer, i);
}

void PlainOperations::embed(const gpu::Embedding& layer) {
  for (std::int64_t token = 0; token < layer.tokens; ++token) {
    as_block(gpu::embedding_threads, [&](Share s) { gpu::write_embedding(s, layer, token); });
  }
}

void PlainOperations::embedding_gradient(const gpu::EmbeddingGradient& layer) {
  for (std::int64_t i = 0; i < layer.width; i += Pack::size) {
    for (std::int64_t word = 0; word < layer.vocabulary; ++word) {
      gpu::write_token_gradient(layer, word, i);
    }
    for (std::int64_t place = 0; place < layer.sequence; ++place) {
      gpu::write_position_gradient(layer, place, i);
    }
  }
}

void PlainOperations::split_heads(const gpu::Heads& layer) {
  for (std::int64_t i = 0; i < element_count(layer); i += Pack::size) gpu::split_pack(layer, i);
}

void PlainOperations::merge_heads(const gpu::Heads& layer) {
  for (std::int64_t i = 0; i < element_count(layer); i += Pack::size) gpu::merge_pack(layer, i);
}

void PlainOperations::cross_entropy(const gpu::CrossEntropy& layer) {
  const int threads = gpu::loss_threads;
  const std::int64_t width = layer.vocabulary;
  for (std::int64_t token = 0; token < layer.tokens; ++token) {
    const Bfloat16* row = layer.logits + token * width;
    const float target = gpu::to_float(row[gpu::target_of(layer, token)]);
    const float maximum =
        maximum_as_block(threads, [&](Share s) { return gpu::maximum_of_row(s, width, row); });
    const float sum = sum_as_block(
        threads, [&](Share s) { return gpu::exponentials_of_row(s, width, row, maximum); });
    as_block(threads, [&](Share s) { gpu::write_loss_gradient(s, layer, token, maximum, sum); });
    layer.losses[token] = gpu::loss_of_token(target, maximum, sum);
  }
}

void PlainOperations::sum_losses(const gpu::LossSum& sum) {
  const float total =
      sum_as_block(gpu::loss_threads, [&](Share s) { return gpu::losses_of_share(s, sum); });
  sum.result[0] = total * sum.scale;
  sum.result[1] = *sum.stop;
}

void PlainOperations::adam(const gpu::Adam& adam) {
  for (std::int64_t i = 0; i < adam.count; ++i) gpu::update_parameter(adam, i, *adam.factors);
}

void PlainOperations::initialise(const gpu::InitialWeights& initial) {
  for (std::int64_t i = 0; i < initial.count; ++i) gpu::write_initial_weight(initial, i);
}

}  // namespace scaleworth::testing
