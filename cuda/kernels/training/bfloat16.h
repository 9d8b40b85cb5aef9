// SPDX-License-Identifier: Apache-2.0
/// bfloat16 in memory, fp32 in registers: conversion and 16-byte accesses, on both sides.
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// The upper half of an fp32 number.
struct Bfloat16 {
  std::uint16_t bits;
};

__host__ __device__ inline float float_of_bits(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

__host__ __device__ inline float to_float(Bfloat16 value) {
  return float_of_bits(static_cast<std::uint32_t>(value.bits) << 16U);
}

/// To nearest, ties to even; a NaN stays one.
__host__ __device__ inline Bfloat16 to_bfloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  Bfloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if (value != value) return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  const std::uint32_t rounding = 0x7FFFU + ((bits >> 16U) & 1U);
  return {static_cast<std::uint16_t>((bits + rounding) >> 16U)};
#endif
}

/// Eight neighbours, the piece that a thread reads and writes at once.
struct Pack {
  static constexpr int size = 8;  // 16 bytes, the widest access
  float values[size];
};

/// `address` is a multiple of 16 bytes.
__host__ __device__ inline Pack load_pack(const Bfloat16* address) {
  uint4 raw;
#ifdef __CUDA_ARCH__
  raw = *reinterpret_cast<const uint4*>(address);
#else
  memcpy(&raw, address, sizeof(raw));
#endif
  const std::uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
  Pack pack;
  for (int i = 0; i < 4; ++i) {
    pack.values[2 * i] = float_of_bits(words[i] << 16U);
    pack.values[2 * i + 1] = float_of_bits(words[i] & 0xFFFF0000U);
  }
  return pack;
}

/// `address` is a multiple of 16 bytes.
__host__ __device__ inline void store_pack(Bfloat16* address, const Pack& pack) {
  std::uint32_t words[4];
  for (int i = 0; i < 4; ++i) {
    words[i] = static_cast<std::uint32_t>(to_bfloat16(pack.values[2 * i]).bits) |
               static_cast<std::uint32_t>(to_bfloat16(pack.values[2 * i + 1]).bits) << 16U;
  }
  const uint4 raw{words[0], words[1], words[2], words[3]};
#ifdef __CUDA_ARCH__
  *reinterpret_cast<uint4*>(address) = raw;
#else
  memcpy(address, &raw, sizeof(raw));
#endif
}
}  // namespace scaleworth::gpu
