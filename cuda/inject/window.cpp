// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session.h"

namespace scaleworth::gpu {
bool WindowControl::conditions_hold() const {
  if (window_.profiler_api && !profiling_) return false;
  if (!window_.range.empty() && !range_) return false;
  if (!window_.steps) return true;
  return step_ && *step_ >= window_.steps->first && *step_ <= window_.steps->second;
}

std::optional<WindowControl::Time> WindowControl::end_of_duration() const {
  if (!window_.duration_s || !opened_) return std::nullopt;
  return *opened_ + std::chrono::duration_cast<Time::duration>(
                        std::chrono::duration<double>(*window_.duration_s));
}

bool WindowControl::open(Time now) {
  const std::scoped_lock lock(mutex_);
  if (!conditions_hold()) return false;
  if (!opened_) opened_ = now;
  const auto end = end_of_duration();
  return !end || now < *end;
}

void WindowControl::profiler(bool started) {
  const std::scoped_lock lock(mutex_);
  profiling_ = started;
}

void WindowControl::range_opened(std::string_view name, std::uint32_t range) {
  const std::scoped_lock lock(mutex_);
  if (!window_.range.empty() && name == window_.range && !range_) range_ = range;
  if (!window_.steps) return;
  const auto step = parse_step_name(name);
  if (!step) return;
  step_ = step->number ? *step->number : bare_steps_++;
  step_range_ = range;
}

void WindowControl::range_closed(std::uint32_t range) {
  const std::scoped_lock lock(mutex_);
  if (range_ == range) range_.reset();
  // A step lasts until the next one begins; only the last one ends with its range.
  if (step_range_ != range) return;
  step_range_.reset();
  if (window_.steps && step_ == window_.steps->second) step_.reset();
}

std::optional<WindowControl::Time> WindowControl::deadline() {
  const std::scoped_lock lock(mutex_);
  return end_of_duration();
}

std::string WindowControl::never_opened() {
  const std::scoped_lock lock(mutex_);
  if (opened_) return {};
  std::string missing;
  if (window_.profiler_api) missing += "cudaProfilerStart was not called; ";
  if (!window_.range.empty()) missing += "no NVTX range '" + window_.range + "' was seen; ";
  if (window_.steps) missing += "no NVTX range named such a step ('step 12', 'ProfilerStep#12'); ";
  if (missing.size() > 2) missing.resize(missing.size() - 2);
  return missing;
}
}  // namespace scaleworth::gpu
