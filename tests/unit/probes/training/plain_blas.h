// SPDX-License-Identifier: Apache-2.0
/// Matrix products by definition, in double: the reference that needs no library.
#pragma once

#include "probes/host/blas.h"

namespace scaleworth::testing {

class PlainBlas : public probes::host::Blas {
 public:
  void gemm(const probes::host::GemmArguments<float>& arguments) const override {
    multiply(arguments);
  }
  void gemm(const probes::host::GemmArguments<double>& arguments) const override {
    multiply(arguments);
  }
  int set_threads(int) const override { return 1; }
  std::string description() const override { return "plain"; }
  std::string warning() const override { return {}; }

 private:
  template <class T>
  static void multiply(const probes::host::GemmArguments<T>& g) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        double sum = 0.0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          const T a = g.a.transposed ? g.a.data[p * g.a.stride + i] : g.a.data[i * g.a.stride + p];
          const T b = g.b.transposed ? g.b.data[j * g.b.stride + p] : g.b.data[p * g.b.stride + j];
          sum += static_cast<double>(a) * static_cast<double>(b);
        }
        T& c = g.c.data[i * g.c.stride + j];
        const double old = g.c.keep == T{0} ? 0.0 : static_cast<double>(g.c.keep) * c;
        c = static_cast<T>(sum + old);
      }
    }
  }
};

}  // namespace scaleworth::testing
