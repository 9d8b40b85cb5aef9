// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/gemm_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

/// The sum and the sum of absolute values of one element.
struct Reference {
  double sum = 0.0;
  double magnitude = 0.0;
  void add(double term) {
    sum += term;
    magnitude += std::abs(term);
  }
};

double gamma(std::int64_t k, double unit_roundoff) {
  const double ku = static_cast<double>(k) * unit_roundoff;
  if (ku >= 1.0) throw std::invalid_argument("GEMM too deep for a rounding bound");
  return ku / (1.0 - ku);
}

template <class T>
double relative_bound(std::int64_t k) {
  return gamma(k, std::numeric_limits<T>::epsilon() / 2.0) +
         gamma(k, std::numeric_limits<double>::epsilon() / 2.0);
}

std::vector<std::int64_t> sampled(std::int64_t count, std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> any(0, count - 1);
  std::vector<std::int64_t> picked{0, count - 1, any(random), any(random)};
  std::sort(picked.begin(), picked.end());
  picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
  return picked;
}

template <class T>
std::optional<GemmMismatch> compare(const GemmArguments<T>& x,
                                    std::int64_t row,
                                    std::int64_t column,
                                    const Reference& reference) {
  const double value = static_cast<double>(x.c[row * x.ldc + column]);
  const double bound = relative_bound<T>(x.k) * reference.magnitude;
  // Written so that a NaN anywhere fails.
  if (std::abs(value - reference.sum) <= bound) return std::nullopt;
  return GemmMismatch{row, column, value, reference.sum, bound};
}

template <class T>
std::optional<GemmMismatch> check_row(const GemmArguments<T>& x, std::int64_t row) {
  std::vector<Reference> references(static_cast<std::size_t>(x.n));
  for (std::int64_t p = 0; p < x.k; ++p) {
    const double a = static_cast<double>(x.a[row * x.lda + p]);
    const T* b = x.b + p * x.ldb;
    for (std::size_t j = 0; j < references.size(); ++j) {
      references[j].add(a * static_cast<double>(b[j]));
    }
  }
  for (std::int64_t j = 0; j < x.n; ++j) {
    const auto mismatch = compare(x, row, j, references[static_cast<std::size_t>(j)]);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

template <class T>
std::optional<GemmMismatch> check_column(const GemmArguments<T>& x, std::int64_t column) {
  std::vector<double> b(static_cast<std::size_t>(x.k));
  for (std::int64_t p = 0; p < x.k; ++p) {
    b[static_cast<std::size_t>(p)] = static_cast<double>(x.b[p * x.ldb + column]);
  }
  for (std::int64_t i = 0; i < x.m; ++i) {
    Reference reference;
    const T* a = x.a + i * x.lda;
    for (std::size_t p = 0; p < b.size(); ++p) reference.add(static_cast<double>(a[p]) * b[p]);
    const auto mismatch = compare(x, i, column, reference);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

}  // namespace

template <class T>
std::optional<GemmMismatch> find_mismatch(const GemmArguments<T>& product, std::uint64_t seed) {
  if (product.transpose_a || product.transpose_b || product.alpha != T{1} || product.beta != T{0}) {
    throw std::invalid_argument("only plain products can be checked");
  }
  if (product.m < 1 || product.n < 1) return std::nullopt;
  std::mt19937_64 random(seed);
  for (const std::int64_t row : sampled(product.m, random)) {
    const auto mismatch = check_row(product, row);
    if (mismatch) return mismatch;
  }
  for (const std::int64_t column : sampled(product.n, random)) {
    const auto mismatch = check_column(product, column);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

std::string describe(const GemmMismatch& mismatch) {
  return fmt::format("C[{}, {}] = {:.9g}, the reference is {:.9g} and rounding allows {:.2g}",
                     mismatch.row,
                     mismatch.column,
                     mismatch.value,
                     mismatch.reference,
                     mismatch.bound);
}

template std::optional<GemmMismatch> find_mismatch(const GemmArguments<float>&, std::uint64_t);
template std::optional<GemmMismatch> find_mismatch(const GemmArguments<double>&, std::uint64_t);

}  // namespace scaleworth::probes::host
