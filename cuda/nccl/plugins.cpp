// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/plugins.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <utility>

namespace scaleworth::gpu {
using namespace probes;

namespace {

constexpr const char* in_this_program = "STATIC_PLUGIN";

static_assert(probes::nccl_algorithm_words.size() == nccl_algorithms);
static_assert(probes::nccl_protocol_words.size() == nccl_protocols);

CollectiveAlgorithm way_at(int row, int column) {
  return {std::string(probes::nccl_algorithm_words.at(row)),
          std::string(probes::nccl_protocol_words.at(column))};
}

/// Of a word of the profiler, "NVLS_TREE"; others come back as they are.
std::string own_word(std::span<const std::string_view> words, std::string_view word) {
  return probes::nccl_word(words, word).value_or(std::string(word));
}

std::vector<CollectiveAlgorithm> usable(const float* costs, int rows, int columns) {
  std::vector<CollectiveAlgorithm> ways;
  for (int a = 0; a < rows; ++a)
    for (int p = 0; p < columns; ++p)
      if (costs[a * columns + p] >= 0.0F) ways.push_back(way_at(a, p));
  return ways;
}

/// Makes the way the cheapest one; false when it is not usable.
bool prefer(const CollectiveAlgorithm& way, float* costs, int rows, int columns) {
  for (int a = 0; a < rows; ++a) {
    for (int p = 0; p < columns; ++p) {
      float& cost = costs[a * columns + p];
      if (way != way_at(a, p)) continue;
      if (cost < 0.0F) return false;
      cost = 0.0F;
      return true;
    }
  }
  return false;
}

ncclResult_t start_tuning(void** context,
                          std::uint64_t /*communicator*/,
                          std::size_t /*ranks*/,
                          std::size_t /*nodes*/,
                          NcclLogger /*logger*/,
                          NcclNvlinkDomains* /*domains*/,
                          NcclTunerConstants* /*constants*/) {
  *context = &plugin_state();
  return ncclSuccess;
}

ncclResult_t start_tuning_v4(std::size_t /*ranks*/,
                             std::size_t /*nodes*/,
                             NcclLogger /*logger*/,
                             void** context) {
  *context = &plugin_state();
  return ncclSuccess;
}

// Always success: another return fails the collective instead of falling back (2.28.9).
ncclResult_t tune(void* /*context*/,
                  NcclFunction /*function*/,
                  std::size_t bytes,
                  int /*operations*/,
                  float** costs,
                  int rows,
                  int columns,
                  int /*registered*/,
                  int* /*channels*/) {
  plugin_state().tune(bytes, reinterpret_cast<float*>(costs), rows, columns);
  return ncclSuccess;
}

ncclResult_t accept_end(void* /*context or handle*/) {
  return ncclSuccess;
}

ncclResult_t start_profiling(void** context,
                             std::uint64_t /*communicator*/,
                             int* wanted_events,
                             const char* /*communicator_name*/,
                             int /*nodes*/,
                             int /*ranks*/,
                             int /*rank*/,
                             NcclLogger /*logger*/) {
  *context = &plugin_state();
  plugin_state().offer_mask(wanted_events);
  return ncclSuccess;
}

ncclResult_t start_event(void* /*context*/, void** handle, NcclEvent* event) {
  *handle = nullptr;  // no stop, no states
  const NcclCollectiveEvent& collective = event->collective;
  if (event->kind == nccl_event_collective && collective.algorithm != nullptr &&
      collective.protocol != nullptr) {
    plugin_state().started(collective.algorithm, collective.protocol, collective.channels);
  }
  return ncclSuccess;
}

ncclResult_t record_event_state(void* /*handle*/, int /*state*/, void* /*arguments*/) {
  return ncclSuccess;
}

constexpr NcclTunerV5 tuner{"scaleworth", &start_tuning, &tune, &accept_end};
constexpr NcclProfilerV5 profiler{
    "scaleworth", &start_profiling, &start_event, &accept_end, &record_event_state, &accept_end};

void offer(const char* variable, FindingId lost, std::vector<Finding>& findings) {
  const char* value = std::getenv(variable);
  if (value == nullptr)
    ::setenv(variable, in_this_program, 1);
  else if (std::string_view(value) != in_this_program)
    findings.emplace_back(lost, variable, value);
}
}  // namespace

std::vector<Finding> offer_plugins() {
  std::vector<Finding> lost;
  offer("NCCL_TUNER_PLUGIN", FindingId::no_algorithm_forced, lost);
  offer("NCCL_PROFILER_PLUGIN", FindingId::ran_algorithm_unknown, lost);
  return lost;
}

void PluginState::force(const std::optional<CollectiveAlgorithm>& way) {
  const std::scoped_lock lock(mutex_);
  forced_ = way;
  busy_ = watching_ || forced_.has_value();
}

void PluginState::listen(bool on) {
  watching_ = on;
  busy_ = watching_ || forced_.has_value();
  if (mask_ != nullptr) {
    std::atomic_ref<int>(*mask_).store(on ? static_cast<int>(nccl_event_collective) : 0,
                                       std::memory_order_relaxed);
  }
}

void PluginState::start_watching() {
  const std::scoped_lock lock(mutex_);
  report_ = {};
  listen(true);
}

NcclReport PluginState::stop_watching() {
  const std::scoped_lock lock(mutex_);
  listen(false);
  return std::exchange(report_, {});
}

void PluginState::tune(std::size_t bytes, float* costs, int rows, int columns) {
  if (!busy_ || bytes <= own_bytes || rows > nccl_algorithms || columns > nccl_protocols) return;
  const std::scoped_lock lock(mutex_);
  if (watching_) {
    report_.tuner_called = true;
    report_.offered = usable(costs, rows, columns);
  }
  if (forced_ && !prefer(*forced_, costs, rows, columns)) report_.refused = true;
}

void PluginState::started(std::string_view algorithm, std::string_view protocol, int channels) {
  const std::scoped_lock lock(mutex_);
  if (!watching_) return;
  report_.ran = RanAlgorithm{{own_word(probes::nccl_algorithm_words, algorithm),
                              own_word(probes::nccl_protocol_words, protocol)},
                             channels};
}

void PluginState::offer_mask(int* mask) {
  const std::scoped_lock lock(mutex_);
  mask_ = mask;
  listen(watching_);
}

PluginState& plugin_state() {
  static PluginState state;
  return state;
}

void take_slowest(std::vector<double>& slowest, const std::vector<double>& other) {
  if (other.empty()) return;
  if (slowest.empty()) {
    slowest = other;
    return;
  }
  if (slowest.size() != other.size()) {
    throw ProbeFailure("ranks report different numbers of repetitions");
  }
  for (std::size_t i = 0; i < slowest.size(); ++i) slowest[i] = std::max(slowest[i], other[i]);
}
}  // namespace scaleworth::gpu

// Constant, as the library that captures other programs has the same names (cuda/inject).
extern "C" {

[[gnu::visibility("default"),
  gnu::used]] constinit scaleworth::gpu::NcclTunerV5 ncclTunerPlugin_v5 = scaleworth::gpu::tuner;

[[gnu::visibility("default"), gnu::used]] constinit scaleworth::gpu::NcclTunerV6 ncclTunerPlugin_v6{
    scaleworth::gpu::tuner};

[[gnu::visibility("default"), gnu::used]] constinit scaleworth::gpu::NcclTunerV4 ncclTunerPlugin_v4{
    "scaleworth",
    &scaleworth::gpu::start_tuning_v4,
    &scaleworth::gpu::tune,
    &scaleworth::gpu::accept_end};

[[gnu::visibility("default"),
  gnu::used]] constinit scaleworth::gpu::NcclProfilerV5 ncclProfiler_v5 = scaleworth::gpu::profiler;

[[gnu::visibility("default"),
  gnu::used]] constinit scaleworth::gpu::NcclProfilerV4 ncclProfiler_v4 =
    scaleworth::gpu::as_version_4<&scaleworth::gpu::start_profiling, &scaleworth::gpu::start_event>(
        scaleworth::gpu::profiler);
}
