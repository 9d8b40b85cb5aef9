// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/plugins/plugin_desk.h"

#include "cuda/nccl/plugins/profiler_interface.h"

#include <algorithm>
#include <array>
#include <utility>

namespace scaleworth::gpu {
namespace {

struct Word {
  const char* ours;
  std::string_view profiler;
};
constexpr std::array<Word, nccl_algorithms> algorithms{{{"Tree", "TREE"},
                                                        {"Ring", "RING"},
                                                        {"CollNetDirect", "COLLNET_DIRECT"},
                                                        {"CollNetChain", "COLLNET_CHAIN"},
                                                        {"NVLS", "NVLS"},
                                                        {"NVLSTree", "NVLS_TREE"},
                                                        {"PAT", "PAT"}}};
constexpr std::array<Word, nccl_protocols> protocols{
    {{"LL", "LL"}, {"LL128", "LL128"}, {"Simple", "SIMPLE"}}};

std::vector<probes::PredictedTime> usable(const float* costs, int rows, int columns) {
  std::vector<probes::PredictedTime> times;
  for (int a = 0; a < rows; ++a) {
    for (int p = 0; p < columns; ++p) {
      const float cost = costs[a * columns + p];
      if (cost < 0.0F) continue;
      times.push_back({{algorithm_word(a), protocol_word(p)}, Seconds(1e-6 * cost)});
    }
  }
  std::stable_sort(
      times.begin(), times.end(), [](const auto& x, const auto& y) { return x.time < y.time; });
  return times;
}

/// Makes the way the cheapest one; false when it is not usable.
bool prefer(const probes::CollectiveAlgorithm& way, float* costs, int rows, int columns) {
  for (int a = 0; a < rows; ++a) {
    for (int p = 0; p < columns; ++p) {
      float& cost = costs[a * columns + p];
      if (way.algorithm != algorithm_word(a) || way.protocol != protocol_word(p)) continue;
      if (cost < 0.0F) return false;
      cost = 0.0F;
      return true;
    }
  }
  return false;
}

}  // namespace

const char* algorithm_word(int index) {
  return algorithms.at(static_cast<std::size_t>(index)).ours;
}

const char* protocol_word(int index) {
  return protocols.at(static_cast<std::size_t>(index)).ours;
}

std::string word_of_profiler(std::string_view word) {
  for (const Word& entry : algorithms) {
    if (entry.profiler == word) return entry.ours;
  }
  for (const Word& entry : protocols) {
    if (entry.profiler == word) return entry.ours;
  }
  return std::string(word);
}

void PluginDesk::force(const std::optional<probes::CollectiveAlgorithm>& way) {
  const std::scoped_lock lock(mutex_);
  forced_ = way;
  busy_ = watching_ || forced_.has_value();
}

void PluginDesk::listen(bool on) {
  watching_ = on;
  busy_ = watching_ || forced_.has_value();
  if (mask_ != nullptr) {
    std::atomic_ref<int>(*mask_).store(on ? static_cast<int>(nccl_event_collective) : 0,
                                       std::memory_order_relaxed);
  }
}

void PluginDesk::start_watching() {
  const std::scoped_lock lock(mutex_);
  said_ = {};
  listen(true);
}

NcclSaid PluginDesk::stop_watching() {
  const std::scoped_lock lock(mutex_);
  listen(false);
  return std::exchange(said_, {});
}

void PluginDesk::tune(std::size_t bytes, float* costs, int rows, int columns) {
  if (!busy_ || bytes <= own_bytes || rows > nccl_algorithms || columns > nccl_protocols) return;
  const std::scoped_lock lock(mutex_);
  if (watching_) {
    said_.asked = true;
    said_.predictions = usable(costs, rows, columns);
  }
  if (forced_ && !prefer(*forced_, costs, rows, columns)) said_.refused = true;
}

void PluginDesk::started(std::string_view algorithm, std::string_view protocol, int channels) {
  const std::scoped_lock lock(mutex_);
  if (!watching_) return;
  said_.ran =
      probes::RanAlgorithm{{word_of_profiler(algorithm), word_of_profiler(protocol)}, channels};
}

void PluginDesk::offer_mask(int* mask) {
  const std::scoped_lock lock(mutex_);
  mask_ = mask;
  listen(watching_);
}

PluginDesk& plugin_desk() {
  static PluginDesk desk;
  return desk;
}

}  // namespace scaleworth::gpu
