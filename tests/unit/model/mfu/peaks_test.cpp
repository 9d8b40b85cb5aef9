// SPDX-License-Identifier: Apache-2.0
#include "src/model/mfu/peaks.h"

#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

PeakRequest request(const char* gpu, const char* format = "") {
  PeakRequest wanted;
  wanted.gpu = &find_gpu(gpu_catalogue(), gpu);
  wanted.number_format = format;
  return wanted;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a datasheet's peak states number format, density and clock", "[mfu]") {
  const PeakChoice choice = choose_peaks(request("a100-80gb"));
  REQUIRE(choice.peaks.size() == 1);
  CHECK(choice.peaks[0].rate.value() == 312e12);
  CHECK(choice.peaks[0].basis == "datasheet bf16, dense, at 1410 MHz");
  CHECK(choice.remarks.empty());
}

TEST_CASE("a GPU without bf16 is held against fp16", "[mfu]") {
  const PeakChoice choice = choose_peaks(request("v100-sxm2-32gb"));
  CHECK(choice.number_format == "fp16");
  CHECK(choice.peaks[0].rate.value() == 125e12);
}

TEST_CASE("runs in 8 bits are held against both peaks in use", "[mfu]") {
  const PeakChoice choice = choose_peaks(request("h100-sxm-80gb", "fp8"));
  REQUIRE(choice.peaks.size() == 2);
  CHECK_THAT(choice.peaks[0].rate.value(), WithinRel(1979e12, 0.001));
  CHECK_THAT(choice.peaks[1].rate.value(), WithinRel(989e12, 0.001));
  REQUIRE(choice.remarks.size() == 1);
  CHECK(contains(choice.remarks[0], "no agreed peak"));
}

TEST_CASE("a given peak that is the one with sparsity is called so", "[mfu]") {
  PeakRequest wanted = request("h100-sxm-80gb");
  wanted.given = FlopPerSecond(1979e12);
  const PeakChoice choice = choose_peaks(wanted);
  REQUIRE(choice.peaks.size() == 2);
  CHECK(choice.peaks[0].basis == "--peak");
  REQUIRE(choice.remarks.size() == 1);
  CHECK(contains(choice.remarks[0], "2:4 structured sparsity"));
  CHECK(contains(choice.remarks[0], "dense fp8"));
  wanted.given = FlopPerSecond(800e12);
  CHECK(choose_peaks(wanted).remarks.empty());
}

TEST_CASE("without a GPU the given peak stands alone, and without both there is none", "[mfu]") {
  PeakRequest wanted;
  CHECK_THROWS_AS(choose_peaks(wanted), UserError);
  wanted.given = FlopPerSecond(275e12);
  CHECK(choose_peaks(wanted).peaks.size() == 1);
  CHECK_THROWS_AS(choose_peaks(request("v100-sxm2-32gb", "fp8")), UserError);
}

TEST_CASE("the slowest GPU's steady products are the measured ceiling", "[mfu]") {
  GpuFormat slow;
  slow.precision = "bf16";
  slow.steady = GpuGemm{};
  slow.steady->rate.value = FlopPerSecond(600e12);
  GpuFormat fast = slow;
  fast.steady->rate.value = FlopPerSecond(700e12);
  std::vector<GpuResult> gpus(2);
  gpus[0].formats = {fast};
  GpuFormat unmeasured;
  unmeasured.precision = "fp16";
  gpus[1].formats = {slow, unmeasured};
  CHECK(slowest_steady_rate(gpus, "bf16").value().value() == 600e12);
  CHECK_FALSE(slowest_steady_rate(gpus, "fp16"));
  CHECK_FALSE(slowest_steady_rate({}, "bf16"));
}
