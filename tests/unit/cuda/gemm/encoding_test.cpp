// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics.h"
#include "tests/catch.h"

#include <array>
#include <cmath>
#include <limits>

using namespace scaleworth::gpu;

namespace {

double code(OperandEncoding encoding, unsigned bits) {
  const std::array memory{static_cast<std::byte>(bits)};
  return decoded(encoding, memory, 0);
}

}  // namespace

// Values: OCP 8-bit floating point specification 1.0, table 2; OCP microscaling formats 1.0,
// table 5.
TEST_CASE("e4m3 has no infinities and one pattern that is no number", "[cuda gemm]") {
  CHECK(code(OperandEncoding::e4m3, 0x01) == std::ldexp(1.0, -9));
  CHECK(code(OperandEncoding::e4m3, 0x07) == 7.0 * std::ldexp(1.0, -9));
  CHECK(code(OperandEncoding::e4m3, 0x08) == std::ldexp(1.0, -6));
  CHECK(code(OperandEncoding::e4m3, 0xB8) == -1.0);
  CHECK(code(OperandEncoding::e4m3, 0x7E) == 448.0);
  CHECK(std::isnan(code(OperandEncoding::e4m3, 0x7F)));
  CHECK(std::isnan(code(OperandEncoding::e4m3, 0xFF)));
}

TEST_CASE("e5m2 has infinities", "[cuda gemm]") {
  CHECK(code(OperandEncoding::e5m2, 0x01) == std::ldexp(1.0, -16));
  CHECK(code(OperandEncoding::e5m2, 0x04) == std::ldexp(1.0, -14));
  CHECK(code(OperandEncoding::e5m2, 0x3C) == 1.0);
  CHECK(code(OperandEncoding::e5m2, 0x7B) == 57344.0);
  CHECK(code(OperandEncoding::e5m2, 0xFC) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(code(OperandEncoding::e5m2, 0x7D)));
}

TEST_CASE("e2m1 has sixteen numbers", "[cuda gemm]") {
  constexpr std::array values{0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  for (unsigned bits = 0; bits < values.size(); ++bits) {
    CHECK(code(OperandEncoding::e2m1, bits) == values.at(bits));
    CHECK(code(OperandEncoding::e2m1, bits + 8) == -values.at(bits));
  }
}

TEST_CASE("two numbers of fp4 share a byte, the first in the low half", "[cuda gemm]") {
  // 0x7 = 6, 0x9 = -0.5.
  const std::array memory{std::byte{0x97}};
  CHECK(decoded(OperandEncoding::e2m1, memory, 0) == 6.0);
  CHECK(decoded(OperandEncoding::e2m1, memory, 1) == -0.5);
}

TEST_CASE("wide encodings and scales are read exactly", "[cuda gemm]") {
  CHECK(code(OperandEncoding::int8, 0x81) == -127.0);
  CHECK(code(OperandEncoding::scale_ue8m0, 127) == 1.0);
  CHECK(code(OperandEncoding::scale_ue8m0, 124) == 0.125);
  CHECK(std::isnan(code(OperandEncoding::scale_ue8m0, 255)));
  // 0x38 = exponent 7, mantissa 0.
  CHECK(code(OperandEncoding::scale_ue4m3, 0x38) == 1.0);
}
