// SPDX-License-Identifier: Apache-2.0
/// Datasheets of GPUs (data/gpus.toml): peaks that a percentage may be taken of, each with its
/// clock basis and source.
#pragma once

#include "src/core/units.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

/// A dense peak and the clock that the vendor computed it at (absent: not stated and not implied).
struct DatasheetPeak {
  FlopPerSecond rate;
  std::optional<double> clock_hz;
};

struct GpuDatasheet {
  std::string id;                    // "h100-sxm-80gb"
  std::string name;                  // "NVIDIA H100 SXM 80 GB"
  std::vector<std::string> aliases;  // other names that mean this board: "a100-80gb"
  std::vector<int> pci_device_ids;
  int compute_capability = 0;
  int multiprocessors = 0;
  std::map<std::string, DatasheetPeak>
      tensor;  // dense; by number format ("bf16"); fp32 accumulation
  std::map<std::string, DatasheetPeak> cuda_cores;  // "fp32", "fp64", "fp16"
  std::optional<double> maximum_clock_hz;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<Bytes> memory;
  std::optional<Bytes> l2_cache;
  std::optional<BytesPerSecond> nvlink;  // both directions together
  std::optional<int> pcie_generation;    // of a x16 link
  std::optional<double> power_limit_w;
  std::string source;
  std::string date;  // when the source was read, ISO 8601
  std::vector<std::string> notes;
};

/// Parses the text of a gpus.toml. Throws UserError naming `file`, line and remedy.
std::vector<GpuDatasheet> parse_gpu_catalogue(std::string_view text, const std::string& file);

/// Reads a file that replaces the built-in catalogue. Throws UserError.
std::vector<GpuDatasheet> load_gpu_catalogue(const std::string& path);

/// The catalogue compiled into the program from data/gpus.toml.
const std::vector<GpuDatasheet>& gpu_catalogue();

/// By id or alias. Throws UserError naming the GPUs whose ids are nearest to `name`.
const GpuDatasheet& find_gpu(const std::vector<GpuDatasheet>& catalogue, std::string_view name);

/// By PCI device id; where several boards share an id, the one with that many multiprocessors and
/// the nearest memory size. Null when there is none: the caller asks for --peak.
const GpuDatasheet* find_datasheet(const std::vector<GpuDatasheet>& catalogue,
                                   std::optional<int> pci_device_id,
                                   int multiprocessors,
                                   Bytes memory);

}  // namespace scaleworth
