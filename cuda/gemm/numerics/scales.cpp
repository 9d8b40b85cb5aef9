// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics/scales.h"

namespace scaleworth::gpu {
namespace {

std::int64_t whole(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit;
}

std::int64_t padded(std::int64_t value, std::int64_t unit) {
  return whole(value, unit) * unit;
}

/// Numbers along k per factor.
std::int64_t block_of(ScaleLayout layout) {
  switch (layout) {
    case ScaleLayout::vector_16:
      return 16;
    case ScaleLayout::vector_32:
      return 32;
    default:
      return 128;
  }
}

}  // namespace

std::size_t scale_count(ScaleLayout layout, const ScaledExtent& extent) {
  const std::int64_t blocks = whole(extent.k, block_of(layout));
  switch (layout) {
    case ScaleLayout::none:
      return 0;
    case ScaleLayout::tensor:
      return 1;
    case ScaleLayout::vector_128:
      return static_cast<std::size_t>(extent.outer * blocks);
    case ScaleLayout::block_128:
      return static_cast<std::size_t>(padded(blocks, 4) * whole(extent.outer, 128));
    case ScaleLayout::vector_32:
    case ScaleLayout::vector_16:
      return static_cast<std::size_t>(padded(extent.outer, 128) * padded(blocks, 4));
  }
  return 0;
}

std::size_t scale_index(ScaleLayout layout,
                        const ScaledExtent& extent,
                        std::int64_t outer,
                        std::int64_t k) {
  const std::int64_t block = k / block_of(layout);
  const std::int64_t blocks = whole(extent.k, block_of(layout));
  switch (layout) {
    case ScaleLayout::none:
    case ScaleLayout::tensor:
      return 0;
    case ScaleLayout::vector_128:
      return static_cast<std::size_t>(outer + extent.outer * block);
    case ScaleLayout::block_128:
      return static_cast<std::size_t>(block + padded(blocks, 4) * (outer / 128));
    case ScaleLayout::vector_32:
    case ScaleLayout::vector_16: {
      const std::int64_t tile = outer / 128 * (padded(blocks, 4) / 4) + block / 4;
      const std::int64_t within = outer % 32 * 16 + outer % 128 / 32 * 4 + block % 4;
      return static_cast<std::size_t>(tile * 512 + within);
    }
  }
  return 0;
}

OperandEncoding scale_encoding(ScaleLayout layout) {
  switch (layout) {
    case ScaleLayout::vector_32:
      return OperandEncoding::scale_ue8m0;
    case ScaleLayout::vector_16:
      return OperandEncoding::scale_ue4m3;
    default:
      return OperandEncoding::scale_f32;
  }
}

}  // namespace scaleworth::gpu
