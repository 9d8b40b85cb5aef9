// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/questions.h"
#include "cuda/device/questions/transfer_ends.h"
#include "cuda/kernels/roofline/stream.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::TransferEngine;

std::string doing_of(const probes::TransferWork& work) {
  return fmt::format("moving {:.0f} bytes from {} to {} by {}",
                     work.bytes.value(),
                     endpoint_name(work.source),
                     endpoint_name(work.target),
                     transfer_engine_name(work.engine));
}

/// One direction: where from, where to, how.
struct Way {
  const TransferEnd* source;
  const TransferEnd* target;
  std::size_t bytes;
  TransferEngine engine;
  int blocks;  // of the kernel
};

cudaError_t move(const Way& way, cudaStream_t stream) {
  if (way.engine == TransferEngine::kernel) {
    constexpr StreamKernel kernel{StreamOperation::copy, 512, 4, false};
    StreamArrays arrays;
    arrays.a = static_cast<float*>(way.target->data());
    arrays.b = static_cast<const float*>(way.source->data());
    arrays.vectors = way.bytes / 16;
    return launch_stream(kernel, arrays, way.blocks, 1, stream);
  }
  const auto source = way.source->device();
  const auto target = way.target->device();
  if (source && target && *source != *target) {
    return cudaMemcpyPeerAsync(
        way.target->data(), *target, way.source->data(), *source, way.bytes, stream);
  }
  return cudaMemcpyAsync(
      way.target->data(), way.source->data(), way.bytes, cudaMemcpyDefault, stream);
}

/// Everything a transfer needs: its ends, for both directions where asked.
class Transfer {
 public:
  Transfer(Workbench& bench, const probes::TransferWork& work)
      : bench_(bench),
        work_(work),
        doing_(doing_of(work)),
        bytes_(static_cast<std::size_t>(work.bytes.value())) {
    require_possible();
    source_.emplace(bench, work.source, bytes_);
    target_.emplace(bench, work.target, bytes_);
    if (work.both_directions) {
      back_source_.emplace(bench, work.target, bytes_);
      back_target_.emplace(bench, work.source, bytes_);
    }
    find_path();
  }

  BatchWork batch() {
    BatchWork batch{.doing = doing_, .enqueue = [this](cudaStream_t stream, int) {
                      const cudaError_t status = move(way(*source_, *target_), stream);
                      if (status != cudaSuccess || !work_.both_directions) return status;
                      return move(way(*back_source_, *back_target_), bench_.second_stream());
                    }};
    if (work_.both_directions) {
      batch.second = bench_.second_stream();
      batch.second_device = bench_.description().ordinal;
    }
    // Pageable and staged copies wait for the GPU while they are queued.
    batch.blocked = !pageable() && !staged_;
    return batch;
  }

  void check_arrival() {
    source_->fill(pattern_there);
    target_->poison();
    if (work_.both_directions) {
      back_source_->fill(pattern_back);
      back_target_->poison();
    }
    bench_.timer().run_once(batch());
    target_->require(pattern_there, doing_);
    if (work_.both_directions) back_target_->require(pattern_back, doing_ + ", the way back");
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> remarks;
    for (const auto* end : {&*source_, &*target_}) {
      if (!end->remark().empty()) remarks.push_back(end->remark());
    }
    if (staged_) {
      remarks.push_back(
          fmt::format("{} to {} have no peer access: the copy goes through the host's "
                      "memory",
                      endpoint_name(work_.source),
                      endpoint_name(work_.target)));
    }
    return remarks;
  }

  double bytes() const { return static_cast<double>(bytes_) * (work_.both_directions ? 2.0 : 1.0); }

 private:
  static constexpr std::uint32_t pattern_there = 1;
  static constexpr std::uint32_t pattern_back = 2;

  bool pageable() const {
    return (!work_.source.device && !work_.source.pinned) ||
           (!work_.target.device && !work_.target.pinned);
  }

  std::optional<int> peer() const {
    for (const auto& end : {work_.source, work_.target}) {
      if (end.device && *end.device != bench_.description().ordinal) return end.device;
    }
    return std::nullopt;
  }

  void require_possible() const {
    const int own = bench_.description().ordinal;
    if (work_.source.device != own && work_.target.device != own) {
      throw ProbeFailure(fmt::format("GPU {}: {} does not concern this GPU", own, doing_));
    }
    if (bytes_ == 0 || bytes_ % 16 != 0) {
      throw ProbeFailure(
          fmt::format("GPU {}: {}: a positive multiple of 16 bytes is needed", own, doing_));
    }
    if (work_.engine == TransferEngine::kernel && pageable()) {
      throw NothingToMeasure(
          fmt::format("kernels of GPU {} are measured on page-locked host memory only", own));
    }
  }

  /// Between GPUs: directly where they can. Half of the multiprocessors work for each direction.
  void find_path() {
    const int blocks = 2 * bench_.description().multiprocessors;
    blocks_ = work_.both_directions ? std::max(1, blocks / 2) : blocks;
    const auto other = peer();
    if (!other) return;
    const int own = bench_.description().ordinal;
    const bool direct = enable_peer_access(own, *other) && enable_peer_access(*other, own);
    if (!direct && work_.engine == TransferEngine::kernel) {
      throw NothingToMeasure(fmt::format(
          "kernels of GPU {} cannot reach the memory of GPU {}: no peer access", own, *other));
    }
    staged_ = !direct;
  }

  Way way(const TransferEnd& source, const TransferEnd& target) const {
    return {&source, &target, bytes_, work_.engine, blocks_};
  }

  Workbench& bench_;
  const probes::TransferWork& work_;
  std::string doing_;
  std::size_t bytes_;
  std::optional<TransferEnd> source_;
  std::optional<TransferEnd> target_;
  std::optional<TransferEnd> back_source_;
  std::optional<TransferEnd> back_target_;
  bool staged_ = false;
  int blocks_ = 1;
};

}  // namespace

probes::DeviceMeasured time_transfer(Workbench& bench,
                                     const probes::TransferWork& work,
                                     const probes::Target& target) {
  Transfer transfer(bench, work);
  transfer.check_arrival();
  probes::DeviceMeasured measured = bench.time(transfer.batch(), target, bench.batch_options());
  measured.bytes = Bytes(transfer.bytes());
  for (std::string& remark : transfer.remarks()) measured.warnings.push_back(std::move(remark));
  return measured;
}

}  // namespace scaleworth::gpu
