// SPDX-License-Identifier: Apache-2.0
/// Trainings that end badly on one rank and therefore on all.
#include "src/core/error.h"
#include "src/core/process.h"
#include "tests/catch.h"
#include "tests/mpi/training/training_group.h"

#include <csignal>
#include <limits>
#include <string>

using namespace scaleworth;
using namespace scaleworth::probes::host;
using namespace scaleworth::testing;

namespace {

/// The real library until the last rank's 1500th product, which it spoils.
class SpoiledBlas : public Blas {
 public:
  void gemm(const GemmArguments<float>& arguments) const override {
    blas().gemm(arguments);
    const bool last_rank = mpi().rank(mpi().world()) == ranks() - 1;
    if (++products_ == 1500 && last_rank) {
      arguments.c.data[0] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  void gemm(const GemmArguments<double>& arguments) const override { blas().gemm(arguments); }
  int set_threads(int threads) const override { return blas().set_threads(threads); }
  std::string description() const override { return blas().description(); }
  std::string warning() const override { return blas().warning(); }

 private:
  mutable int products_ = 0;
};

}  // namespace

TEST_CASE("a not-a-number on one rank ends the training on all, naming the step", "[training]") {
  std::string failure;
  try {
    train(small_work(ranks()), SpoiledBlas());
  } catch (const ProbeFailure& error) {
    failure = error.what();
  }
  REQUIRE(failure.substr(0, 28) == "the loss became NaN at step ");
}

// Last: a received signal stays received.
TEST_CASE("a signal to one rank ends the training on all of them", "[training]") {
  install_interrupt_handlers();
  if (mpi().rank(mpi().world()) == ranks() - 1) std::raise(SIGINT);
  REQUIRE_THROWS_AS(train(small_work(ranks())), Interrupted);
}
