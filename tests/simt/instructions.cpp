// SPDX-License-Identifier: Apache-2.0
/// The PTX of the kernels. Source: PTX ISA 9.0.
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

void load_global_vector(Operands operands) {
  const char* from = operand<const char*>(operands, 4);
  if (std::bit_cast<std::uintptr_t>(from) % 16 != 0) fail("an address that 16 does not divide");
  for (int i = 0; i < 4; ++i) std::memcpy(operands[i], from + i * sizeof(float), sizeof(float));
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

struct Instruction {
  std::string_view name;
  void (*perform)(Operands);
};

constexpr Instruction instructions[] = {
    {"ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];", load_global_vector},
    {"ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];", load_global_vector},
    {"ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];", load_global_vector},
    {"ld.global.ca.u64 %0, [%0];", load_word},
    {"mov.u64 %0, %%globaltimer;", nanoseconds},
    {"mov.u64 %0, %%clock64;", cycles},
    {"{ .reg .pred p; setp.ne.u64 p, %1, 0; @p mov.u64 %0, %%globaltimer; }", nanoseconds},
    {"{ .reg .pred p; setp.ne.u64 p, %1, 0; @p mov.u64 %0, %%clock64; }", cycles},
    {"mov.u32 %0, %%smid;", multiprocessor},
    {"cvt.rn.bf16.f32 %0, %1;", convert_to_bf16}};
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
