// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/blas.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {

std::shared_ptr<const Blas> opened() {
  auto outcome = open_blas();
  REQUIRE(std::holds_alternative<std::shared_ptr<const Blas>>(outcome));
  return std::get<std::shared_ptr<const Blas>>(outcome);
}

}  // namespace

TEST_CASE("a library that is not there is skipped with the package to install", "[blas]") {
  const auto outcome = open_blas("/nonexistent/libopenblas.so.0");
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  const std::string reason = std::get<Skipped>(outcome).reason;
  CHECK(reason.find("/nonexistent/libopenblas.so.0") != std::string::npos);
  CHECK(reason.find("libopenblas0-pthread") != std::string::npos);
}

TEST_CASE("a library without the functions is skipped with the name of the first", "[blas]") {
  const auto outcome = open_blas("libc.so.6");
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  CHECK(std::get<Skipped>(outcome).reason.find("cblas_sgemm") != std::string::npos);
}

TEST_CASE("loading leaves the environment as it was", "[blas]") {
  const bool had_core_type = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  setenv("OPENBLAS_NUM_THREADS", "3", 1);
  opened();
  CHECK(std::string(std::getenv("OPENBLAS_NUM_THREADS")) == "3");
  CHECK((std::getenv("OPENBLAS_CORETYPE") != nullptr) == had_core_type);
  unsetenv("OPENBLAS_NUM_THREADS");
}

TEST_CASE("a row-major product with transposes and beta is the one on paper", "[blas]") {
  const auto blas = opened();
  // A = [1 2; 3 4; 5 6] (3 x 2), B^T stored as [1 0; 2 1] so B = [1 2; 0 1].
  // A B = [1 4; 3 10; 5 16]; with beta = 1 and C = 10: [11 14; 13 20; 15 26].
  const std::vector<double> a{1, 2, 3, 4, 5, 6};
  const std::vector<double> b_transposed{1, 0, 2, 1};
  std::vector<double> c(6, 10.0);
  blas->gemm(GemmArguments<double>{.transpose_b = true,
                                   .m = 3,
                                   .n = 2,
                                   .k = 2,
                                   .a = a.data(),
                                   .lda = 2,
                                   .b = b_transposed.data(),
                                   .ldb = 2,
                                   .beta = 1.0,
                                   .c = c.data(),
                                   .ldc = 2});
  CHECK(c == std::vector<double>{11, 14, 13, 20, 15, 26});
}

TEST_CASE("impossible dimensions are refused before the library sees them", "[blas]") {
  const auto blas = opened();
  std::vector<float> x(4, 1.0F);
  GemmArguments<float> arguments{.m = 1,
                                 .n = 1,
                                 .k = std::int64_t{1} << 31,
                                 .a = x.data(),
                                 .lda = std::int64_t{1} << 31,
                                 .b = x.data(),
                                 .ldb = 1,
                                 .c = x.data(),
                                 .ldc = 1};
  CHECK_THROWS_AS(blas->gemm(arguments), UserError);
  arguments.k = 2;
  arguments.lda = 1;  // a row of A has two elements
  CHECK_THROWS_AS(blas->gemm(arguments), std::invalid_argument);
}

TEST_CASE("the library names its version and kernels", "[blas]") {
  const std::string description = opened()->description();
  CHECK(description.rfind("OpenBLAS ", 0) == 0);
  CHECK(description.find(" kernels, ") != std::string::npos);
}

TEST_CASE("the library starts with one thread and says how many it takes", "[blas]") {
  const auto blas = opened();
  CHECK(blas->set_threads(1) == 1);
  CHECK_THROWS_AS(blas->set_threads(0), std::invalid_argument);
}
