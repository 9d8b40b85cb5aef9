// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/links/link_section.h"

#include <map>
#include <string>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr const char* pair_source = "cudaDeviceCanAccessPeer, NVML";

std::optional<bool> access(const LinkedGpu& from, const LinkedGpu& to) {
  const auto index = static_cast<std::size_t>(to.description.ordinal);
  return index < from.peer_access.size() ? from.peer_access[index] : std::nullopt;
}

std::string path(const LinkedGpu& first, const LinkedGpu& second) {
  const int links = links_between(
      first.nvlinks, first.description.bus_id, second.nvlinks, second.description.bus_id);
  if (links == 0) return "peer access over PCIe";
  const bool direct = first.nvlinks.to_gpus.count(second.description.bus_id) != 0;
  return fmt::format("peer access, {} NVLink{}{}",
                     links,
                     links == 1 ? "" : "s",
                     direct ? "" : " through switches");
}

Fact pair_fact(const LinkedGpu& first, const LinkedGpu& second) {
  const int low = first.description.ordinal;
  const int high = second.description.ordinal;
  const std::string name = fmt::format("gpu_{}_gpu_{}", low, high);
  const auto there = access(first, second);
  const auto back = access(second, first);
  if (!there || !back) return {name, std::nullopt, "cudaDeviceCanAccessPeer failed"};
  if (*there && *back) return {name, Value(path(first, second)), pair_source};
  if (*there != *back) {
    return {
        name, Value(fmt::format("peer access from gpu {} only", *there ? low : high)), pair_source};
  }
  return {
      name, Value(std::string("no peer access: bytes go through this node's memory")), pair_source};
}

std::vector<Fact> model_facts(const std::vector<LinkedGpu>& gpus) {
  std::map<std::string, int> models;
  for (const LinkedGpu& gpu : gpus) ++models[gpu.description.name];
  std::string text;
  for (const auto& [name, count] : models) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  std::vector<Fact> facts{{"models", Value(text), "cudaGetDeviceProperties"}};
  if (models.size() > 1) {
    facts.push_back({"mixed_models",
                     Value(true),
                     "GPUs of one node differ: the slowest sets the pace of a common step"});
  }
  return facts;
}

}  // namespace

FactSection link_section(const std::vector<LinkedGpu>& gpus) {
  FactSection section{"gpu links", model_facts(gpus)};
  for (std::size_t first = 0; first < gpus.size(); ++first) {
    for (std::size_t second = first + 1; second < gpus.size(); ++second) {
      section.facts.push_back(pair_fact(gpus[first], gpus[second]));
    }
  }
  return section;
}

}  // namespace scaleworth::gpu
