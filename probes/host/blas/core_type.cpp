// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/core_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

/// x86 vector widths in the order in which a wider one replaces a narrower one.
enum class Width { sse, avx, avx2, avx512 };
constexpr std::array width_names{"SSE", "AVX", "AVX2", "AVX-512"};

struct KernelSet {
  std::string_view name;  // lower case
  Width width;
};
/// Kernel sets of OpenBLAS's x86-64 DYNAMIC_ARCH builds that use more than SSE (driver/others/
/// dynamic.c and the KERNEL.* files of 0.3.21).
constexpr std::array wide_sets{KernelSet{"sapphirerapids", Width::avx512},
                               KernelSet{"cooperlake", Width::avx512},
                               KernelSet{"skylakex", Width::avx512},
                               KernelSet{"haswell", Width::avx2},
                               KernelSet{"zen", Width::avx2},
                               KernelSet{"excavator", Width::avx},
                               KernelSet{"steamroller", Width::avx},
                               KernelSet{"piledriver", Width::avx},
                               KernelSet{"bulldozer", Width::avx},
                               KernelSet{"sandybridge", Width::avx}};

Width width_of(const CpuInfo& cpu) {
  if (cpu.has_all({"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"})) {
    return Width::avx512;
  }
  if (cpu.has_all({"avx2", "fma"})) return Width::avx2;
  return cpu.has("avx") ? Width::avx : Width::sse;
}

Width width_of(const std::string& core_name) {
  const auto* set =
      std::find_if(wide_sets.begin(), wide_sets.end(), [&](const KernelSet& candidate) {
        return candidate.name == core_name;
      });
  return set == wide_sets.end() ? Width::sse : set->width;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return text;
}

}  // namespace

std::string preferred_core_type(const CpuInfo& cpu) {
  switch (width_of(cpu)) {
    case Width::avx512:
      return cpu.has("avx512_bf16") ? "Cooperlake" : "SkylakeX";
    case Width::avx2:
      return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine" ? "Zen" : "Haswell";
    case Width::avx:
    case Width::sse:
      return {};
  }
  return {};
}

std::string core_type_doubt(const std::string& core_name, const CpuInfo& cpu) {
  const std::string name = lower(core_name);
  // aarch64 has one vector width before SVE; "armv8" is the set for CPUs that it does not know.
  if (cpu.has("asimd")) {
    return name == "armv8" && cpu.has("sve") ? "generic ARMv8 kernels on an SVE machine" : "";
  }
  const Width kernels = width_of(name);
  const Width machine = width_of(cpu);
  if (kernels >= machine) return {};
  return fmt::format("{} kernels on an {} machine",
                     width_names[static_cast<std::size_t>(kernels)],
                     width_names[static_cast<std::size_t>(machine)]);
}

}  // namespace scaleworth::probes::host
