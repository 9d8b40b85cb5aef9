// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"
#include "tests/catch.h"

using namespace scaleworth::gpu;

TEST_CASE("fp64 has one wide instruction from 9.0 on, where the code was compiled for it",
          "[gpu]") {
  CHECK_FALSE(has_tensor_instruction(TensorFormat::fp64_wide, 89));
  CHECK(has_tensor_instruction(TensorFormat::fp64_wide, 90));
  CHECK(has_tensor_code(TensorFormat::fp64_wide, {90, 90}));
  CHECK_FALSE(has_tensor_code(TensorFormat::fp64_wide, {90, 80}));  // 9.0 from older PTX
  CHECK_FALSE(has_tensor_code(TensorFormat::fp64_wide, {80, 80}));
  const TensorShape wide = tensor_shape(TensorFormat::fp64_wide);
  const TensorShape narrow = tensor_shape(TensorFormat::fp64);
  CHECK(wide.m * wide.n * wide.k == 8 * narrow.m * narrow.n * narrow.k);
}

TEST_CASE("only formats that wgmma or tcgen05 have are faster by them", "[gpu]") {
  for (const int capability : {90, 100, 103, 110}) {
    CHECK(has_faster_instruction(TensorFormat::bf16, capability));
    CHECK_FALSE(has_faster_instruction(TensorFormat::fp64, capability));
    CHECK_FALSE(has_faster_instruction(TensorFormat::fp64_wide, capability));
  }
  for (const int capability : {80, 89, 120})
    CHECK_FALSE(has_faster_instruction(TensorFormat::bf16, capability));
}
