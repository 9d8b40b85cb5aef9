// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/numbers.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::probes;

TEST_CASE("a chain in fp16 rounds each step to 11 bits", "[gpu][chain]") {
  // a = -2047/2048, x = 1: 21/64 - 2047/2048 = -1375/2048, 11 bits: exact.
  const ChainConstants constants = chain_constants(NumberFormat::fp16);
  CHECK(constants.a == -2047.0 / 2048.0);
  CHECK(rounded_chain(NumberFormat::fp16, 1.0, constants, 1) == -1375.0 / 2048.0);
  // 1375/2048 x 2047/2048 + 21/64 = (2814625 + 1376256) / 2^22 = 4190881 / 4194304, which lies
  // between 2046/2048 and 2047/2048 (4190208 and 4192256): the nearer one is the first.
  CHECK(rounded_chain(NumberFormat::fp16, 1.0, constants, 2) == 2046.0 / 2048.0);
}

TEST_CASE("a chain in bf16 rounds each step to 8 bits", "[gpu][chain]") {
  // a = -255/256, x = 1: 84/256 - 255/256 = -171/256, 8 bits: exact.
  const ChainConstants constants = chain_constants(NumberFormat::bf16);
  CHECK(rounded_chain(NumberFormat::bf16, 1.0, constants, 1) == -171.0 / 256.0);
  // 171/256 x 255/256 + 84/256 = (43605 + 21504) / 65536 = 65109 / 65536; neighbours 254/256 =
  // 65024 and 255/256 = 65280: the first.
  CHECK(rounded_chain(NumberFormat::bf16, 1.0, constants, 2) == 254.0 / 256.0);
}

TEST_CASE("a chain neither grows nor settles in a thousand steps", "[gpu][chain]") {
  for (const NumberFormat format :
       {NumberFormat::fp64, NumberFormat::fp32, NumberFormat::fp16, NumberFormat::bf16}) {
    const ChainConstants constants = chain_constants(format);
    const double late = rounded_chain(format, 0.75, constants, 1000);
    const double next = rounded_chain(format, late, constants, 1);
    CHECK(std::abs(late) < 2.0);
    CHECK(std::abs(late - next) > 0.1);
  }
}

TEST_CASE("a format without multiply-adds on the CUDA cores is not measured", "[gpu][chain]") {
  CHECK_THROWS_AS(chain_constants(NumberFormat::int8), NothingToMeasure);
}

TEST_CASE("16 bits are read as fp16 and as bf16", "[gpu][chain]") {
  CHECK(fp16_value(0x3c00) == 1.0);
  CHECK(fp16_value(0xc000) == -2.0);
  CHECK(fp16_value(0x0001) == std::ldexp(1.0, -24));
  CHECK(fp16_value(0x7bff) == 65504.0);
  CHECK(std::isnan(fp16_value(0x7e00)));
  CHECK(bf16_value(0x3f80) == 1.0);
  CHECK(bf16_value(0xbf00) == -0.5);
}
