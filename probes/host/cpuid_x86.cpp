// SPDX-License-Identifier: Apache-2.0
#include "probes/host/cpu_state.h"
#include "probes/host/kernels/compute.h"

#include <array>
#include <cstring>
#include <string_view>

#include <cpuid.h>

namespace scaleworth::probes::host {
namespace {
struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers leaf(unsigned number) {
  Registers r;
  __cpuid_count(number, 0, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

std::optional<double> scaled(unsigned number, double unit_hz) {
  if (number == 0) return std::nullopt;
  return number * unit_hz;
}

void read_hypervisor(CpuidFacts& facts) {
  const Registers base = leaf(0x40000000);
  std::array<char, 13> signature{};
  std::memcpy(signature.data(), &base.ebx, 4);
  std::memcpy(signature.data() + 4, &base.ecx, 4);
  std::memcpy(signature.data() + 8, &base.edx, 4);
  facts.hypervisor = signature.data();
  if (base.eax >= 0x40000010 && base.eax < 0x40010000) {
    facts.time_stamp_hz = scaled(leaf(0x40000010).eax, 1e3);
  }
}
}  // namespace

CpuidFacts read_cpuid() {
  CpuidFacts facts;
  const unsigned highest = leaf(0).eax;
  constexpr unsigned hypervisor_present = 1U << 31;
  if ((leaf(1).ecx & hypervisor_present) != 0) read_hypervisor(facts);
  if (highest >= 0x15) {
    // TSC ticks per crystal tick = EBX / EAX; ECX is the crystal in Hz, 0 where not enumerated.
    const Registers ratio = leaf(0x15);
    if (ratio.eax != 0 && ratio.ebx != 0 && ratio.ecx != 0) {
      facts.time_stamp_hz = static_cast<double>(ratio.ecx) * ratio.ebx / ratio.eax;
    }
  }
  if (highest >= 0x16) {
    const Registers frequencies = leaf(0x16);
    facts.base_hz = scaled(frequencies.eax & 0xffff, 1e6);
    facts.maximum_hz = scaled(frequencies.ebx & 0xffff, 1e6);
  }
  return facts;
}

// Run-time choice on x86-64: the CPU's flags and the register state that the operating system
// saves (the compiler's __builtin_cpu_supports checks both).

std::span<const ComputeIsa> compute_isas() {
  static const std::vector<ComputeIsa> isas = [] {
    __builtin_cpu_init();
    std::vector<ComputeIsa> found{compute_sse2()};
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2) found.push_back(compute_avx2());
    if (avx2 && __builtin_cpu_supports("avx512f")) found.push_back(compute_avx512());
    return found;
  }();
  return isas;
}

const StreamIsa& stream_isa() {
  static const StreamIsa isa = [] {
    const std::string_view widest = compute_isas().back().name;
    if (widest == "avx512") return stream_avx512();
    return widest == "avx2" ? stream_avx2() : stream_sse2();
  }();
  return isa;
}
}  // namespace scaleworth::probes::host
