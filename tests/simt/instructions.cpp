// SPDX-License-Identifier: Apache-2.0
/// The PTX of the kernels. Source: PTX ISA 9.0; of mma.sync the figures "Matrix Fragments for mma".
#include "tests/simt/shim.h"

#include <bit>
#include <string_view>

namespace scaleworth::simt {
namespace {
using Operands = void* const*;

template <class T>
T& operand(Operands operands, int i) {
  return *static_cast<T*>(operands[i]);
}

void copy_vector(Operands operands, const char* from) {
  if (std::bit_cast<std::uintptr_t>(from) % 16 != 0) fail("an address that 16 does not divide");
  for (int i = 0; i < 4; ++i) std::memcpy(operands[i], from + i * sizeof(float), sizeof(float));
}

void load_global_vector(Operands operands) {
  copy_vector(operands, operand<const char*>(operands, 4));
}

void load_shared_vector(Operands operands) {
  copy_vector(operands, dynamic_shared<char>() + operand<unsigned>(operands, 4));
}

void load_word(Operands operands) {
  auto& position = operand<std::uint64_t>(operands, 0);
  std::memcpy(&position, std::bit_cast<const void*>(position), sizeof(position));
}

void nanoseconds(Operands operands) {
  operand<std::uint64_t>(operands, 0) = read_nanoseconds();
}

/// At 2 GHz.
void cycles(Operands operands) {
  operand<std::uint64_t>(operands, 0) = 2 * read_nanoseconds();
}

void multiprocessor(Operands operands) {
  operand<unsigned>(operands, 0) = blockIdx.x % multiprocessors;
}

void convert_to_bf16(Operands operands) {
  const __nv_bfloat16_raw rounded = __float2bfloat16_rn(operand<const float>(operands, 1));
  operand<std::uint16_t>(operands, 0) = rounded.x;
}

// Element `i` of a register of operands.
struct F16 {
  static constexpr int at_once = 2;
  using Sum = float;
  static double element(const void* reg, int i) {
    return __half2float(static_cast<const __half*>(reg)[i]);
  }
};
struct Bf16 {
  static constexpr int at_once = 2;
  using Sum = float;
  static double element(const void* reg, int i) {
    return __bfloat162float(static_cast<const __nv_bfloat16*>(reg)[i]);
  }
};
struct Tf32 {
  static constexpr int at_once = 1;
  using Sum = float;
  static double element(const void* reg, int) {
    return std::bit_cast<float>(*static_cast<const std::uint32_t*>(reg) & 0xFFFFE000U);
  }
};
struct S8 {
  static constexpr int at_once = 4;
  using Sum = std::int32_t;
  static double element(const void* reg, int i) { return static_cast<const std::int8_t*>(reg)[i]; }
};
struct E4m3 {
  static constexpr int at_once = 4;
  using Sum = float;
  static double element(const void* reg, int i) {
    return __half2float(
        __nv_cvt_fp8_to_halfraw(static_cast<const unsigned char*>(reg)[i], __NV_E4M3));
  }
};
struct F64 {
  static constexpr int at_once = 1;
  using Sum = double;
  static double element(const void* reg, int) { return *static_cast<const double*>(reg); }
};

/// D = A B + D of m x 8 and k columns of A; summed in fp64 and rounded once. Of lane 4 g + t:
/// register r of A holds `at_once` elements of row g + 8 (r mod 2) from column at_once (t + 4 (r /
/// 2)) on, that of B of column g from row at_once (t + 4 r) on, that of D row g + 8 (r / 2), column
/// 2 t + r mod 2.
template <class Format, int m, int k>
void multiply(Operands own) {
  constexpr int sums = m / 4;
  constexpr int w = Format::at_once;
  constexpr int lefts = m / 8 * k / w / 4;
  const std::uint64_t* lanes =
      exchange(~0U, std::bit_cast<std::uint64_t>(static_cast<const void*>(own)), __LINE__);
  for (int r = 0; r < sums; ++r) {
    const int row = lane() / 4 + 8 * (r / 2);
    const int column = lane() % 4 * 2 + r % 2;
    double sum = operand<typename Format::Sum>(own, r);
    for (int i = 0; i < k; ++i) {
      const int t = i / w % 4;
      const int left = row / 8 + m / 8 * (i / w / 4);
      const void* a = std::bit_cast<Operands>(lanes[row % 8 * 4 + t])[sums + left];
      const void* b = std::bit_cast<Operands>(lanes[column * 4 + t])[sums + lefts + i / w / 4];
      sum += Format::element(a, i % w) * Format::element(b, i % w);
    }
    operand<typename Format::Sum>(own, r) = static_cast<typename Format::Sum>(sum);
  }
  exchange(~0U, 0, __LINE__);  // the others may read the operands until here
}

struct Instruction {
  std::string_view name;
  void (*perform)(Operands);
};

constexpr Instruction instructions[] = {
    {"ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];", load_global_vector},
    {"ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];", load_global_vector},
    {"ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];", load_global_vector},
    {"ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];", load_shared_vector},
    {"ld.global.ca.u64 %0, [%0];", load_word},
    {"mov.u64 %0, %%globaltimer;", nanoseconds},
    {"mov.u64 %0, %%clock64;", cycles},
    {"{ .reg .pred p; setp.ne.u64 p, %1, 0; @p mov.u64 %0, %%globaltimer; }", nanoseconds},
    {"{ .reg .pred p; setp.ne.u64 p, %1, 0; @p mov.u64 %0, %%clock64; }", cycles},
    {"mov.u32 %0, %%smid;", multiprocessor},
    {"cvt.rn.bf16.f32 %0, %1;", convert_to_bf16},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ", multiply<F16, 16, 16>},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 ", multiply<Bf16, 16, 16>},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 ", multiply<Tf32, 16, 8>},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 ", multiply<S8, 16, 32>},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 ", multiply<E4m3, 16, 32>},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 ", multiply<F64, 8, 4>},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 ", multiply<F64, 16, 16>}};
}  // namespace

void execute(const char* text, Operands operands) {
  const std::string_view wanted = text;
  for (const Instruction& instruction : instructions) {
    if (wanted.substr(0, instruction.name.size()) == instruction.name) {
      return instruction.perform(operands);
    }
  }
  fail(std::string("not emulated: ") + text);
}
}  // namespace scaleworth::simt
