// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"
#include "probes/host/host_facts.h"
#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/memory.h"
#include "src/core/error.h"

#include <algorithm>

namespace scaleworth::probes::host {
namespace {
using BlasOutcome = Outcome<std::shared_ptr<const Blas>>;

/// What so many workers can keep in the caches of one level together, of the level that keeps most
/// (many second-level caches can hold more than the last one). A machine that hides its caches is
/// taken to have one as large as common server CPUs have, so that working sets meant for memory
/// still leave it.
Bytes largest_caches(int workers) {
  constexpr Bytes assumed{512.0 * mebibyte};
  const Outcome<Topology> topology = read_topology();
  Bytes most;
  if (const auto* known = std::get_if<Topology>(&topology)) {
    for (const Cache& cache : known->caches) {
      most = std::max(most, cache.size * static_cast<double>(std::min(cache.count, workers)));
    }
  }
  return most > Bytes() ? most : assumed;
}

class HostMachine final : public Machine {
 public:
  explicit HostMachine(const std::string& blas_path)
      : blas_path_(blas_path),
        workers_(current_worker_limit().workers),
        last_cache_(largest_caches(workers_)) {}

  std::string name() const override { return "host"; }
  std::vector<FactSection> facts() const override { return host_facts(); }
  int workers() const override { return workers_; }
  Bytes last_cache() const override { return last_cache_; }
  std::vector<std::string> isas() const override { return host_isas(); }

  Bytes available_memory() const override {
    const Limit<Bytes> left = current_memory_left();
    if (!left.value) throw ProbeFailure("free memory is unknown: " + left.source);
    return *left.value;
  }

  Measured time_fma(const FmaWork& work, const Target& target) override {
    return host::time_fma(work, target);
  }
  Measured time_memory(const MemoryWork& work, const Target& target) override {
    return host::time_memory(work, target, arrays_);
  }
  Measured time_latency(const LatencyWork& work, const Target& target) override {
    return host::time_latency(work, target, arrays_);
  }

  Outcome<std::string> gemm_library() override {
    return and_then(blas(), [](const auto& library) -> Outcome<std::string> {
      if (library->warning().empty()) return library->description();
      return fmt::format("{} ({})", library->description(), library->warning());
    });
  }

  Measured time_gemm(const GemmWork& work, const Target& target) override {
    const auto* library = std::get_if<std::shared_ptr<const Blas>>(&blas());
    if (library == nullptr) throw ProbeFailure("no BLAS library could be opened");
    return host::time_gemm(**library, work, target);
  }
  void release_memory() override { arrays_.release(); }

 private:
  const BlasOutcome& blas() {
    if (!blas_) blas_ = open_blas(blas_path_);
    return *blas_;
  }

  std::string blas_path_;
  int workers_;
  Bytes last_cache_;
  ArrayPool arrays_;
  std::optional<BlasOutcome> blas_;
};
}  // namespace

std::unique_ptr<Machine> open_host_machine(const std::string& blas_path) {
  return std::make_unique<HostMachine>(blas_path);
}
}  // namespace scaleworth::probes::host
