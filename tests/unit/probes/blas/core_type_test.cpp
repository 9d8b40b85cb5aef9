// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/core_type.h"

#include "tests/catch.h"

using namespace scaleworth::probes::host;

namespace {

constexpr const char* avx2 = "fpu avx fma avx2";
constexpr const char* avx512 = "fpu avx fma avx2 avx512f avx512dq avx512cd avx512bw avx512vl";

CpuInfo cpu(const std::string& vendor, const std::string& flags) {
  return parse_cpuinfo("vendor_id : " + vendor + "\nflags : " + flags + "\n");
}

}  // namespace

TEST_CASE("the core type follows the CPU's flags", "[blas]") {
  CHECK(preferred_core_type(cpu("AuthenticAMD", std::string(avx512) + " avx512_bf16")) ==
        "Cooperlake");
  CHECK(preferred_core_type(cpu("GenuineIntel", avx512)) == "SkylakeX");
  CHECK(preferred_core_type(cpu("GenuineIntel", avx2)) == "Haswell");
  CHECK(preferred_core_type(cpu("AuthenticAMD", avx2)) == "Zen");
}

TEST_CASE("a CPU without AVX2 or with half of AVX-512 gets no kernels it cannot run", "[blas]") {
  CHECK(preferred_core_type(cpu("GenuineIntel", "fpu avx")).empty());
  CHECK(preferred_core_type(cpu("GenuineIntel", "fpu avx fma avx2 avx512f avx512cd")) == "Haswell");
  CHECK(preferred_core_type(CpuInfo{}).empty());
}

TEST_CASE("kernels narrower than the machine raise a doubt", "[blas]") {
  CHECK(core_type_doubt("Haswell", cpu("AuthenticAMD", avx512)) ==
        "AVX2 kernels on an AVX-512 machine");
  CHECK(core_type_doubt("Prescott", cpu("GenuineIntel", avx2)) == "SSE kernels on an AVX2 machine");
  CHECK(core_type_doubt("Zen", cpu("AuthenticAMD", avx2)).empty());
  CHECK(core_type_doubt("Cooperlake", cpu("GenuineIntel", avx512)).empty());
}

TEST_CASE("only the generic set is doubted on aarch64", "[blas]") {
  const CpuInfo graviton = parse_cpuinfo("Features : fp asimd sve\n");
  CHECK(core_type_doubt("armv8", graviton) == "generic ARMv8 kernels on an SVE machine");
  CHECK(core_type_doubt("neoversev1", graviton).empty());
}
