// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/sim_device.h"

#include "probes/gpu/gemm.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::sim {

using namespace probes;

namespace {

constexpr double allocation_s = 1e-3;
constexpr double shuffled_node_s = 20e-9;
constexpr double prepared_host_byte_s = 0.8e-9;
constexpr double shortest_launch_s = 0.5e-3;
constexpr std::int64_t power_cap_reason = 0x4;
constexpr double telemetry_interval_s = 0.02;
constexpr std::size_t most_readings = 500;

/// Readings over a window in which the multiprocessors ran at `clock_hz`.
Telemetry telemetry_of(const GpuTruth& truth, double window_s, double clock_hz) {
  Telemetry telemetry;
  const auto readings = std::min(
      most_readings, static_cast<std::size_t>(std::ceil(window_s / telemetry_interval_s)) + 1);
  for (std::size_t i = 0; i < readings; ++i) {
    telemetry.time_s.push_back(telemetry_interval_s * static_cast<double>(i));
  }
  const double power_w = truth.power_w;
  telemetry.sm_clock_hz.assign(readings, clock_hz);
  telemetry.power_w.assign(readings, power_w);
  telemetry.temperature_c.assign(readings, truth.temperature_c);
  const bool capped = truth.fault.slow_factor < 1.0;
  telemetry.clock_event_reasons.assign(readings, capped ? power_cap_reason : 0);
  telemetry.energy_j = power_w * window_s;
  telemetry.window_s = window_s;
  return telemetry;
}

void require_present(const GpuTruth& truth, const GpuUse& use) {
  if (!truth.fault.lost_after || use.questions < *truth.fault.lost_after) return;
  throw GpuLost(fmt::format("GPU {} is lost (Xid 79): reset it or reboot the node",
                            truth.description.ordinal));
}

/// Adds what the driver would have read to the samples of a product; each timing is a question.
class ObservedSession final : public GemmSession {
 public:
  ObservedSession(std::unique_ptr<GemmSession> session,
                  const GpuTruth& truth,
                  std::shared_ptr<GpuUse> use)
      : session_(std::move(session)), truth_(truth), use_(std::move(use)) {}

  std::vector<GemmCandidate> candidates(int wanted, Bytes workspace) override {
    return session_->candidates(wanted, workspace);
  }
  void verify(const GemmCandidate& candidate) override {
    require_present(truth_, *use_);
    session_->verify(candidate);
  }
  void fill(OperandData data) override { session_->fill(data); }
  DeviceMeasured time(const GemmCandidate& candidate, const GemmPace& pace) override {
    require_present(truth_, *use_);
    ++use_->questions;
    const double before = use_->elapsed_s;
    DeviceMeasured measured = session_->time(candidate, pace);
    const double clock = measured.clock_hz.empty() ? truth_.clock_hz : measured.clock_hz.back();
    measured.telemetry = telemetry_of(truth_, use_->elapsed_s - before, clock);
    return measured;
  }

 private:
  std::unique_ptr<GemmSession> session_;
  GpuTruth truth_;
  std::shared_ptr<GpuUse> use_;
};

/// The library's products reach the peak of the format that they multiply in.
double gemm_flops_per_clock(const GpuTruth& truth, NumberFormat format) {
  double best = 0.0;
  for (const auto* rates : {&truth.cuda_cores, &truth.tensor_cores}) {
    const auto found = rates->find(format);
    if (found != rates->end()) best = std::max(best, found->second);
  }
  return best;
}

/// Share of accesses that hit a capacity.
double hits(Bytes working_set, Bytes capacity) {
  return std::clamp(2.0 - working_set / capacity, 0.0, 1.0);
}

double combined(double share, double fast, double slow) {
  return 1.0 / (share / fast + (1.0 - share) / slow);
}

}  // namespace

Bytes SimDevice::available_memory() const {
  require_present(truth_, *use_);
  return capacity();
}

void SimDevice::begin_question(Bytes buffers) {
  require_present(truth_, *use_);
  ++use_->questions;
  const int gpu = truth_.description.ordinal;
  if (truth_.fault.wrong_results.contains(use_->questions)) {
    throw WrongResult("GPU {}: element 5 is 12.5 instead of 12.25", gpu);
  }
  const Bytes most = std::min(capacity(), truth_.fault.out_of_memory_above.value_or(capacity()));
  if (buffers > most) {
    throw OutOfMemory(fmt::format(
        "GPU {}: out of memory: {:.0f} MiB do not fit", gpu, buffers.value() / (1024.0 * 1024.0)));
  }
  use_->elapsed_s += allocation_s + buffers.value() / truth_.memory_bytes_per_s;
}

DeviceMeasured SimDevice::timed(double operation_s, const Target& target, double operations) {
  const double before = use_->elapsed_s;
  // Repetitions that take as long as the truth and the noise say.
  const auto run = [&, clock = clock_hz()](int repetitions) {
    const double seconds = repetitions * (operation_s * operations) * noise_.factor();
    use_->elapsed_s += seconds;
    return BatchTiming{Seconds(seconds), clock, false};
  };
  BatchOptions options;
  options.operations = operations;
  DeviceMeasured measured = sample_batches(run, target, options);
  measured.telemetry = telemetry_of(truth_, use_->elapsed_s - before, clock_hz());
  return measured;
}

double SimDevice::peak(NumberFormat format, bool tensor) const {
  const auto& rates = tensor ? truth_.tensor_cores : truth_.cuda_cores;
  const auto found = rates.find(format);
  if (found == rates.end()) {
    throw NothingToMeasure(FindingId::no_multiply_add, key_of(format));
  }
  return found->second * truth_.description.multiprocessors * clock_hz();
}

DeviceMeasured SimDevice::time_fma(NumberFormat format, const Target& target) {
  const double rate = peak(format, false);
  begin_question(Bytes(0.0));
  const double flops = 1e-3 * rate;
  DeviceMeasured measured = timed(flops / rate, target);
  measured.flops = Flops(flops);
  return measured;
}

double SimDevice::variant_share(const StreamWork& work) const {
  const bool cached = work.working_set <= truth_.description.l2_cache;
  const VariantTruth& truth = cached ? truth_.in_cache : truth_.in_memory;
  const int differences = static_cast<int>(work.variant.grid != truth.best.grid) +
                          static_cast<int>(work.variant.block_threads != truth.best.block_threads) +
                          static_cast<int>(work.variant.unroll != truth.best.unroll) +
                          static_cast<int>(work.variant.streaming != truth.best.streaming);
  return 1.0 - truth.loss_per_difference * differences;
}

double SimDevice::bandwidth(const StreamWork& work) const {
  const double l2 = truth_.l2_bytes_per_clock * clock_hz();
  return truth_.kernel_share.at(work.kernel) *
         combined(
             hits(work.working_set, truth_.description.l2_cache), l2, truth_.memory_bytes_per_s);
}

DeviceMeasured SimDevice::time_stream(const StreamWork& work, const Target& target) {
  begin_question(work.working_set);
  const double pass_s = work.working_set.value() / (bandwidth(work) * variant_share(work));
  // A launch makes as many passes as last half a millisecond; of a streaming kernel, one.
  const double passes =
      work.variant.streaming ? 1.0 : std::max(1.0, std::ceil(shortest_launch_s / pass_s));
  DeviceMeasured measured = timed(pass_s, target, passes);
  measured.bytes = work.working_set;
  return measured;
}

double SimDevice::latency(const ChaseWork& work) const {
  const DeviceDescription& gpu = truth_.description;
  const double l1 = truth_.l1_clocks / clock_hz();
  const double l2 = truth_.l2_clocks / clock_hz();
  const double in_l1 = hits(work.working_set, gpu.shared_per_multiprocessor);
  const double in_l2 = (1.0 - in_l1) * hits(work.working_set, gpu.l2_cache);
  return in_l1 * l1 + in_l2 * l2 + (1.0 - in_l1 - in_l2) * truth_.memory_latency_s;
}

DeviceMeasured SimDevice::time_chase(const ChaseWork& work, const Target& target) {
  begin_question(work.working_set);
  const double nodes = work.working_set / probes::chase_stride;
  use_->elapsed_s += nodes * shuffled_node_s;
  return timed(latency(work), target, 4096.0);
}

double SimDevice::transfer_rate(const TransferWork& work) const {
  const LinkRates& link = truth_.link;
  const double engine = work.engine == TransferEngine::kernel ? link.kernel_share : 1.0;
  const double ways = work.both_directions ? link.both_directions : 1.0;
  if (work.source == work.target) return engine * truth_.memory_bytes_per_s / 2.0;
  if (work.source.device && work.target.device) {
    // Without peer access the copy passes the host's memory: down one link and up the other.
    return ways * (link.peer_access ? engine * link.peer : link.pinned / 2.0);
  }
  const Endpoint& host = work.source.device ? work.target : work.source;
  if (!host.pinned) return ways * link.pageable;
  const int own_node = truth_.description.numa_node.value_or(0);
  const double distance = host.numa_node.value_or(own_node) == own_node ? 1.0 : link.far_node_share;
  return ways * engine * distance * link.pinned;
}

DeviceMeasured SimDevice::time_transfer(const TransferWork& work, const Target& target) {
  const bool peers = work.source.device && work.target.device && !(work.source == work.target);
  if (peers && work.engine == TransferEngine::kernel && !truth_.link.peer_access) {
    throw NothingToMeasure(FindingId::kernels_cannot_reach, 0, 1);
  }
  const double directions = work.both_directions ? 2.0 : 1.0;
  begin_question(2.0 * directions * work.bytes);
  const double host_ends =
      static_cast<double>(!work.source.device) + static_cast<double>(!work.target.device);
  use_->elapsed_s += prepared_host_byte_s * host_ends * directions * work.bytes.value();
  const Bytes moved = directions * work.bytes;
  DeviceMeasured measured =
      timed(truth_.link.alpha_s + moved.value() / transfer_rate(work), target);
  measured.bytes = moved;
  return measured;
}

DeviceMeasured SimDevice::time_launch(LaunchKind kind, const Target& target) {
  begin_question(Bytes(0.0));
  return timed(truth_.launch_s.at(kind), target);
}

Outcome<std::string> SimDevice::gemm_library() {
  return std::string("simulated library 1.0");
}

std::unique_ptr<GemmSession> SimDevice::open_gemm(const GemmProblem& problem) {
  begin_question(gemm_footprint(problem));
  GemmTruth gemm = truth_.gemm;
  gemm.flops_per_clock = gemm_flops_per_clock(truth_, problem.input);
  if (gemm.flops_per_clock == 0.0) gemm.unsupported.insert(problem.input);
  // What slows the clock slows every phase of it.
  gemm.clock.settled_hz = clock_hz();
  gemm.clock.burst_hz =
      truth_.description.maximum_clock_hz.value_or(truth_.clock_hz) * truth_.fault.slow_factor;
  auto session = std::make_unique<SimGemmSession>(truth_.description, problem, gemm, use_);
  return std::make_unique<ObservedSession>(std::move(session), truth_, use_);
}

bool SimDevice::can_access_peer(int ordinal) const {
  return ordinal != truth_.description.ordinal && truth_.link.peer_access;
}

}  // namespace scaleworth::sim
