// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/node/transfers.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"
#include "src/model/collectives/communication_fit.h"
#include "src/model/gpu/reading/point_reading.h"
#include "src/model/roofline/samples.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr const char* together_pass = "together";

/// Sizes of one direction with the median time and the rate of all directions.
struct Sizes {
  std::vector<TimedSize> times;
  std::vector<TransferPoint> points;
};
using Key = std::tuple<std::string, std::string, std::string, bool, bool>;

std::optional<int> ordinal_of(const std::string& end) {
  int ordinal = 0;
  int length = 0;
  if (std::sscanf(end.c_str(), "gpu %d%n", &ordinal, &length) != 1) return std::nullopt;
  return static_cast<std::size_t>(length) == end.size() ? std::optional(ordinal) : std::nullopt;
}

std::string text_fact(const Run& run, const std::string& section, const std::string& name) {
  const Fact* fact = find_fact(run, section, name);
  if (fact == nullptr || !fact->value) return "";
  const auto* text = std::get_if<std::string>(&*fact->value);
  return text == nullptr ? "" : *text;
}

std::optional<double> number_fact(const Run& run,
                                  const std::string& section,
                                  const std::string& name) {
  const Fact* fact = find_fact(run, section, name);
  if (fact == nullptr || !fact->value) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&*fact->value)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&*fact->value);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

/// "peer access, 18 NVLinks through switches": 18; 0 for other paths.
int nvlinks_of(const std::string& path) {
  const auto word = path.find(" NVLink");
  if (word == std::string::npos) return 0;
  const auto before = path.find_last_not_of("0123456789", word - 1);
  int links = 0;
  return std::sscanf(path.c_str() + (before == std::string::npos ? 0 : before + 1), "%d", &links) ==
                 1
             ? links
             : 0;
}

std::optional<RawLink> peer_link(const Run& run, int from, int to, const GpuIdentity& gpu) {
  const std::string path = text_fact(
      run, "gpu links", fmt::format("gpu_{}_gpu_{}", std::min(from, to), std::max(from, to)));
  const int links = nvlinks_of(path);
  if (links > 0) {
    const std::string name = fmt::format("{} NVLink{}", links, links == 1 ? "" : "s");
    const auto each = number_fact(run, fmt::format("gpu {}", from), "nvlink_bytes_per_s");
    if (each) return RawLink{BytesPerSecond(links * *each), name};
    if (gpu.datasheet && gpu.datasheet->nvlink) {
      return RawLink{*gpu.datasheet->nvlink / 2.0, "NVLink of the datasheet"};
    }
    return std::nullopt;
  }
  const bool over_pcie = path.find("over PCIe") != std::string::npos;
  if (!over_pcie || !gpu.pcie_bandwidth) return std::nullopt;
  return RawLink{*gpu.pcie_bandwidth, "PCIe"};
}

void add_fit(const Sizes& sizes, GpuTransfer& transfer) {
  const std::vector<CommunicationFit> fits = fit_communication(sizes.times);
  if (fits.empty() || fits.front().form != form_alpha_beta) return;
  const CommunicationSegment& line = fits.front().segments.front();
  transfer.alpha = line.alpha;
  transfer.beta = line.beta;
  if (line.beta.value.value() > 0.0) {
    transfer.half_size = line.alpha.value / line.beta.value;
  }
}

/// The highest value of a series over all points.
std::optional<double> highest(const ProbeRecord& probe, const char* name) {
  std::optional<double> result;
  for (const Point& point : probe.points) {
    const auto found = point.samples.find(name);
    if (found == point.samples.end()) continue;
    for (const double value : found->second) result = std::max(result.value_or(value), value);
  }
  return result;
}

GpuTransfer transfer_of(const Key& key, Sizes sizes, const Run& run, const GpuIdentity& gpu) {
  GpuTransfer transfer;
  std::tie(transfer.source,
           transfer.target,
           transfer.engine,
           transfer.both_directions,
           transfer.together) = key;
  const double directions = transfer.both_directions ? 2.0 : 1.0;
  transfer.plateau = sizes.points.back().rate;
  add_fit(sizes, transfer);
  transfer.points = std::move(sizes.points);
  if (const auto link = link_between(run, transfer.source, transfer.target, gpu)) {
    transfer.of_link = transfer.plateau.value / (link->rate * directions);
    transfer.link = link->name;
  }
  return transfer;
}

}  // namespace

std::optional<RawLink> link_between(const Run& run,
                                    const std::string& source,
                                    const std::string& target,
                                    const GpuIdentity& gpu) {
  const auto from = ordinal_of(source);
  const auto to = ordinal_of(target);
  if (from && to) return *from == *to ? std::nullopt : peer_link(run, *from, *to, gpu);
  if (!gpu.pcie_bandwidth) return std::nullopt;
  return RawLink{*gpu.pcie_bandwidth, "PCIe"};
}

std::optional<std::string> lowered_pcie_link(const Run& run,
                                             const ProbeRecord& probe,
                                             int ordinal) {
  const std::string section = fmt::format("gpu {}", ordinal);
  const auto generation = highest(probe, fields::telemetry_pcie_generation);
  const auto width = highest(probe, fields::telemetry_pcie_width);
  const auto possible_generation = number_fact(run, section, "pcie_generation");
  const auto possible_width = number_fact(run, section, "pcie_width");
  if (!generation || !width || !possible_generation || !possible_width) return std::nullopt;
  if (*generation >= *possible_generation && *width >= *possible_width) return std::nullopt;
  return fmt::format(
      "the PCIe link was never seen above generation {:.0f} x{:.0f} while bytes moved; GPU and "
      "slot "
      "can do generation {:.0f} x{:.0f}: look at the slot, its riser and the BIOS's link settings",
      *generation,
      *width,
      *possible_generation,
      *possible_width);
}

std::vector<GpuTransfer> transfers_of(const Run& run,
                                      const ProbeRecord& probe,
                                      const GpuIdentity& gpu) {
  std::vector<Key> order;
  std::map<Key, std::map<double, const Point*>> groups;
  for (const Point& point : probe.points) {
    if (!byte_rate_of(point)) continue;
    const Key key{text_parameter(point, fields::source),
                  text_parameter(point, fields::target),
                  text_parameter(point, fields::engine),
                  flag_parameter(point, fields::both_directions),
                  text_of(point, fields::pass).value_or("") == together_pass};
    if (!groups.contains(key)) order.push_back(key);
    groups[key][static_cast<double>(integer_parameter(point, fields::transfer_bytes))] = &point;
  }
  // Measured in random order; told by engine, then by ends.
  std::sort(order.begin(), order.end(), [](const Key& a, const Key& b) {
    const auto rank = [](const Key& key) {
      const auto& [source, target, engine, both, together] = key;
      return std::tie(engine, together, both, target, source);
    };
    return rank(a) < rank(b);
  });
  std::vector<GpuTransfer> transfers;
  for (const Key& key : order) {
    Sizes sizes;
    for (const auto& [size, point] : groups.at(key)) {
      const std::vector<double> times = usable_times(*point, fields::wall_s);
      sizes.times.push_back({Bytes(size), Seconds(*median(times))});
      sizes.points.push_back({Bytes(size), *byte_rate_of(*point)});
    }
    transfers.push_back(transfer_of(key, std::move(sizes), run, gpu));
  }
  return transfers;
}

}  // namespace scaleworth::model
