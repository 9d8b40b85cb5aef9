// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/pacer.h"

#include "src/core/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double batch_s = 0.02;
constexpr int most_repetitions = 50;
constexpr double block_s = 1e-3;
constexpr int least_operations = 2;
constexpr int most_operations = 100;

int clamp_count(double count, int low, int high) {
  return static_cast<int>(
      std::clamp(std::ceil(count), static_cast<double>(low), static_cast<double>(high)));
}

}  // namespace

std::string CollectiveBatch::text() const {
  return fmt::format("{} {}", repetitions, operations);
}

CollectiveBatch CollectiveBatch::of(const std::string& text) {
  CollectiveBatch batch;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, batch.repetitions);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ' ') {
    const auto second = std::from_chars(first.ptr + 1, end, batch.operations);
    if (second.ec == std::errc() && second.ptr == end && batch.repetitions >= 0 &&
        batch.repetitions <= most_repetitions && batch.operations >= 1 &&
        batch.operations <= most_operations) {
      return batch;
    }
  }
  throw ProbeFailure(fmt::format("rank 0 asks for '{}', which is no batch", text));
}

CollectivePacer::CollectivePacer(CollectiveMode mode,
                                 const StoppingTarget& target,
                                 Seconds operation)
    : target_(target), rule_(target) {
  const double operation_s = std::max(1e-7, operation.value());
  if (mode != CollectiveMode::isolated) {
    operations_ = clamp_count(block_s / operation_s, least_operations, most_operations);
  }
  repetition_s_ = operation_s * operations_;
}

CollectiveBatch CollectivePacer::next() const {
  const std::size_t taken = rule_.samples().size();
  if (rule_.finished() || taken >= target_.maximum_samples) return {0, operations_};
  const auto left = std::min<std::size_t>(target_.maximum_samples - taken, most_repetitions);
  return {clamp_count(batch_s / repetition_s_, 1, static_cast<int>(left)), operations_};
}

void CollectivePacer::add(const std::vector<double>& slowest) {
  double sum_s = 0.0;
  for (const double time_s : slowest) {
    rule_.add(Seconds(time_s), Seconds(time_s * operations_));
    sum_s += time_s;
  }
  if (!slowest.empty()) {
    repetition_s_ = std::max(1e-7, sum_s / static_cast<double>(slowest.size()) * operations_);
  }
}

}  // namespace scaleworth::probes
