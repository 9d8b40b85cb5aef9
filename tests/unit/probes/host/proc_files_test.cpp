// SPDX-License-Identifier: Apache-2.0
#include "probes/host/proc_files.h"

#include "tests/catch.h"

using namespace scaleworth::probes::host;

TEST_CASE("cpuinfo of an x86 machine gives vendor, model, flags and a frequency per CPU",
          "[facts]") {
  const CpuInfo info = parse_cpuinfo(
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\n"
      "cpu MHz\t\t: 2700.000\nflags\t\t: fpu avx2 avx\n\n"
      "processor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\n"
      "cpu MHz\t\t: 3100.5\nflags\t\t: fpu avx2 avx\n");
  CHECK(info.vendor == "GenuineIntel");
  CHECK(info.model_name == "Intel(R) Xeon(R) Processor");
  CHECK(info.flags == std::vector<std::string>{"avx", "avx2", "fpu"});
  CHECK(info.frequency_mhz == std::vector<double>{2700.0, 3100.5});
  CHECK(info.has_all({"avx", "fpu"}));
  CHECK_FALSE(info.has("avx512f"));
}

TEST_CASE("cpuinfo of an aarch64 machine has an implementer and features", "[facts]") {
  const CpuInfo info = parse_cpuinfo(
      "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n");
  CHECK(info.vendor == "0x41");
  CHECK(info.has("sve"));
  CHECK(info.model_name.empty());
}

TEST_CASE("malformed cpuinfo leaves fields empty", "[facts]") {
  const CpuInfo info = parse_cpuinfo("no colon here\ncpu MHz : fast\ncpu MHz : -3\nflags :\n: x\n");
  CHECK(info.flags.empty());
  CHECK(info.frequency_mhz.empty());
  CHECK(info.vendor.empty());
  CHECK(parse_cpuinfo("").vendor.empty());
}

TEST_CASE("an integer must be the whole text", "[facts]") {
  CHECK(parse_integer(" 42\n") == 42);
  CHECK(parse_integer("-7") == -7);
  CHECK_FALSE(parse_integer("").has_value());
  CHECK_FALSE(parse_integer("12 kB").has_value());
  CHECK_FALSE(parse_integer("99999999999999999999").has_value());
}

TEST_CASE("a file that cannot be read is absent, a long one is cut", "[facts]") {
  CHECK_FALSE(read_text("/nonexistent/file").has_value());
  CHECK_FALSE(read_text("/proc").has_value());  // a folder
  CHECK(read_text("/dev/zero", 10000)->size() == 10000);
}
