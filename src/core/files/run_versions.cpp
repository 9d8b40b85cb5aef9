// SPDX-License-Identifier: Apache-2.0
#include "src/core/figures/setting.h"
#include "src/core/files/run_directory.h"

#include <charconv>
#include <cmath>
#include <regex>

#include <nlohmann/json.hpp>

namespace scaleworth {
namespace {
using nlohmann::json;

/// The groups of `pattern` where all of `text` matches it; else empty. Longer texts are no words of
/// ours, and std::regex recurses over its input.
std::vector<std::string> groups_of(const std::string& text, const char* pattern) {
  constexpr std::size_t longest = 200;  // ours are shorter: one line
  std::smatch match;
  if (text.size() > longest || !std::regex_match(text, match, std::regex(pattern))) return {};
  return {match.begin() + 1, match.end()};
}

/// Digits as a number; null where there are none or too many.
json number_of(const std::string& digits) {
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || read.ec != std::errc()) return nullptr;
  return number;
}

/// A word as the key that version 2 has for it: "copy engine" is copy_engine.
std::string as_key(std::string word) {
  std::ranges::replace(word, ' ', '_');
  std::ranges::replace(word, '-', '_');
  return word;
}

/// "persistent, 512 threads, 4 at once, streaming"
void split_variant(const std::string& text, json& setting) {
  const auto parts =
      groups_of(text, "(persistent|one shot)(?:, (\\d+) threads, (\\d+) at once(?:, streaming)?)?");
  if (parts.empty()) return;
  setting["grid"] = as_key(parts[0]);
  if (parts[1].empty()) return;
  setting["block_threads"] = number_of(parts[1]);
  setting["loads_at_once"] = number_of(parts[2]);
}

/// "gpu 0", "host (pinned)", "host (pageable, node 1)"
void split_place(const std::string& text, const std::string& key, json& setting) {
  if (const auto gpu = groups_of(text, "gpu (\\d+)"); !gpu.empty()) {
    setting[key] = "gpu";
    setting[key + "_index"] = number_of(gpu[0]);
  } else if (const auto host = groups_of(text, "host \\((pinned|pageable)(?:, node (\\d+))?\\)");
             !host.empty()) {
    setting[key] = "host_" + host[0];
    if (!host[1].empty()) setting[key + "_index"] = number_of(host[1]);
  } else {
    setting[key] = text;
  }
}

/// "all ranks", "first 4 ranks", "one node", "pair, NVLink of rank 1, across NUMA nodes", "NVLink
/// island of 4", "NUMA node 1"
void split_topology(const std::string& text, json& setting) {
  const auto pair = groups_of(text, "pair, (.*?)(?: of rank (\\d+))?(?:, (across|within) .*)?");
  if (!pair.empty()) {
    setting["selection"] = "pair";
    const auto link = std::ranges::find(word_list<LinkKind>, pair[0], &Word::word);
    setting["link"] = link == word_list<LinkKind>.end() ? pair[0] : link->key;
    if (!pair[1].empty()) setting["link_rank"] = number_of(pair[1]);
    if (!pair[2].empty()) setting["across_numa_nodes"] = pair[2] == "across";
  } else if (const auto numa = groups_of(text, "NUMA node (\\d+)"); !numa.empty()) {
    setting["selection"] = "numa_node";
    setting["numa_node"] = number_of(numa[0]);
  } else if (text.starts_with("first ")) {
    setting["selection"] = "first";
  } else if (text.starts_with("NVLink island")) {
    setting["selection"] = "nvlink_island";
  } else {
    setting["selection"] = text == "all ranks" ? "all" : text == "one node" ? "node" : text;
  }
}

/// "algorithm 66, tile 128x256, cluster 2x1"
void split_recipe(const std::string& text, json& setting) {
  setting["recipe"] = text;
  const auto tile = groups_of(text, "(?:.*, )?tile (\\d+)x(\\d+)(?:, .*)?");
  if (tile.empty()) return;
  setting["tile_m"] = number_of(tile[0]);
  setting["tile_n"] = number_of(tile[1]);
}

json setting_of(const json& parameters, const std::string& probe) {
  if (!parameters.is_object()) return parameters;
  const bool of_steps = probe.starts_with("step.");
  json setting = json::object();
  for (const auto& [key, value] : parameters.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto parameter = parameter_of_key(key);
    if (key == "mode" && of_steps) {
      setting[from_key<BatchScaling>(text) ? "scaling" : "step_variant"] = value;
    } else if (key == "straggler_factor" && value.is_number()) {
      setting["straggler_per_mille"] =
          std::llround(std::clamp(value.get<double>(), 0.0, 1e9) * 1e3);
    } else if (key == "variant" && of_steps) {
      setting["step_variant"] = value;
    } else if (key == "variant" && value.is_string()) {
      split_variant(text, setting);
    } else if ((key == "source" || key == "target") && value.is_string()) {
      split_place(text, key, setting);
    } else if (key == "topology" && value.is_string()) {
      split_topology(text, setting);
    } else if (key == "algorithm" && probe.starts_with("roofline.") && value.is_string()) {
      split_recipe(text, setting);
    } else if (parameter && info(*parameter).type == ParameterType::symbol && value.is_string()) {
      setting[key] = as_key(text);
    } else {
      setting[key] = value;
    }
  }
  return setting;
}

json new_point(const json& setting) {
  return {{"setting", setting},
          {"amounts", json::object()},
          {"samples", json::object()},
          {"stop_reason", nullptr},
          {"warnings", json::array()}};
}

/// Takes the members of `point[from]` whose key begins with `prefix` and adds a point for each, as
/// `fill(point, rest of the key, value)` makes it.
template <class Fill>
void take_out(json& point,
              const char* from,
              std::string_view prefix,
              std::vector<json>& added,
              const Fill& fill) {
  const auto members = point.find(from);
  if (members == point.end() || !members->is_object()) return;
  for (auto at = members->begin(); at != members->end();) {
    if (!at.key().starts_with(prefix)) {
      ++at;
      continue;
    }
    json made = new_point(point.value("setting", json::object()));
    fill(made, at.key().substr(prefix.size()), at.value());
    added.push_back(std::move(made));
    at = members->erase(at);
  }
}

void upgrade_point(json& point, const std::string& probe, std::vector<json>& added) {
  if (!point.is_object()) return;
  const auto parameters = point.find("parameters");
  if (parameters != point.end()) {
    point["setting"] = setting_of(*parameters, probe);
    point.erase("parameters");
  }
  take_out(
      point, "amounts", "predicted_s.", added, [](json& made, const std::string& way, json& at) {
        const std::size_t slash = way.find('/');
        made["setting"]["predicted_algorithm"] = way.substr(0, slash);
        made["setting"]["predicted_protocol"] =
            slash == std::string::npos ? "" : way.substr(slash + 1);
        made["amounts"]["predicted_s"] = at;
      });
  take_out(
      point, "samples", "waited_for_ns.", added, [](json& made, const std::string& rank, json& at) {
        const json late = number_of(rank);
        made["setting"]["waited_for"] = late.is_null() ? json(rank) : late;
        made["samples"]["wait_ns"] = at;
      });
}

/// "2 ranks on 1 node, shared memory", "8 GPUs on 2 nodes"
void add_placement(const std::string& text, json& document) {
  const auto parts = groups_of(text, "(\\d+) (\\D*)(\\d+) node.*");
  if (parts.empty()) return;
  document["placement"] = {{"ranks", number_of(parts[0])},
                           {"nodes", number_of(parts[2])},
                           {"on_gpus", parts[1].find("GPU") != std::string::npos}};
}

/// gpu_0_gpu_1: "peer access, 18 NVLinks through switches", "peer access over PCIe", ...
void add_gpu_link(const std::string& name, const std::string& text, json& document) {
  const auto pair = groups_of(name, "gpu_(\\d+)_gpu_(\\d+)");
  if (pair.empty()) return;
  const auto nvlinks = groups_of(text, "peer access, (\\d+) NVLinks?.*");
  const char* kind = !nvlinks.empty()                              ? "nvlink"
                     : text.find("over PCIe") != std::string::npos ? "pcie_peer"
                     : text.starts_with("no peer")                 ? "through_host"
                                                                   : "unknown";
  document["gpu_links"].push_back({{"first", number_of(pair[0])},
                                   {"second", number_of(pair[1])},
                                   {"kind", kind},
                                   {"links", nvlinks.empty() ? json(0) : number_of(nvlinks[0])}});
}

/// Calls `use(element)` for the elements of an array member; none where it is not there.
template <class Use>
void for_each(json& parent, const char* key, const Use& use) {
  if (!parent.is_object()) return;
  const auto found = parent.find(key);
  if (found == parent.end() || !found->is_array()) return;
  for (json& one : *found) use(one);
}

std::string text_member(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void upgrade_run_version_1(json& document) {
  document["placement"] = nullptr;
  document["gpu_links"] = json::array();
  for_each(document, "environment", [&](json& section) {
    const std::string name = text_member(section, "name");
    for_each(section, "facts", [&](json& fact) {
      const std::string value = text_member(fact, "value");
      if (name == "ranks" && text_member(fact, "name") == "placement") {
        add_placement(value, document);
      } else if (name == "gpu links" && !value.empty()) {
        add_gpu_link(text_member(fact, "name"), value, document);
      }
    });
  });
  for_each(document, "probes", [](json& probe) {
    const std::string name = text_member(probe, "name");
    std::vector<json> added;
    for_each(probe, "points", [&](json& point) { upgrade_point(point, name, added); });
    for (json& point : added) probe["points"].push_back(std::move(point));
  });
}

/// A sentence of versions 1 and 2 as the finding that only states it; none is null.
json stated(const json& text) {
  if (!text.is_string()) return text;
  if (text == "") return nullptr;
  return {{"id", "stated"}, {"arguments", json::array({text})}};
}

void state_sentences(json& of) {
  if (!of.is_object()) return;
  for (const char* key : {"interruption", "reason", "stop_reason"})
    if (const auto text = of.find(key); text != of.end()) *text = stated(*text);
  for_each(of, "warnings", [](json& warning) { warning = stated(warning); });
}
}  // namespace

void upgrade_run(json& document, int version) {
  if (version == 1) upgrade_run_version_1(document);
  if (version > 2) return;
  state_sentences(document);
  for_each(document, "probes", [](json& probe) {
    state_sentences(probe);
    for_each(probe, "points", [](json& point) {
      state_sentences(point);
      if (!point.is_object() || !point.contains("stop_reason")) return;
      json list = json::array();
      if (json& reason = point["stop_reason"]; !reason.is_null()) list.push_back(reason);
      point["stop_reason"] = list;
    });
  });
}
}  // namespace scaleworth
