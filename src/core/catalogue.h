// SPDX-License-Identifier: Apache-2.0
/// GPUs, transformer models, prices and the carbon of electricity, from data/*.toml. `parse_...`
/// reads the text of such a file and throws UserError naming file, line and remedy;
/// `..._catalogue()` is the one compiled into the program.
#pragma once

#include "src/core/units.h"

#include <cstdint>
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

/// Peaks that a percentage may be taken of, each with its clock basis and source.
struct GpuDatasheet {
  std::string id;                    // "h100-sxm-80gb"
  std::string name;                  // "NVIDIA H100 SXM 80 GB"
  std::vector<std::string> aliases;  // other names that mean this board: "a100-80gb"
  std::vector<int> pci_device_ids;
  int compute_capability = 0;                       // 0: not NVIDIA's
  int multiprocessors = 0;                          // of AMD: compute units; 0: unknown
  std::map<std::string, DatasheetPeak> tensor;      // by number format ("bf16"); fp32 accumulation
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

std::vector<GpuDatasheet> parse_gpu_catalogue(std::string_view text, const std::string& file);
const std::vector<GpuDatasheet>& gpu_catalogue();

/// By words of id, name or alias. Throws UserError naming those that it may be, or the nearest ids.
const GpuDatasheet& find_gpu(const std::vector<GpuDatasheet>& catalogue, std::string_view name);

/// By PCI device id; of several boards with one id that with as many multiprocessors and the
/// nearest memory size. Null when there is none: the caller asks for --peak.
const GpuDatasheet* find_datasheet(const std::vector<GpuDatasheet>& catalogue,
                                   std::optional<int> pci_device_id,
                                   int multiprocessors,
                                   Bytes memory);

/// Carbon intensity of public electricity of a country.
struct GridRegion {
  std::string id;              // "USA": ISO 3166-1 alpha-3, or "WORLD"
  std::string name;            // "United States"
  double grams_per_kwh = 0.0;  // CO2 equivalent, yearly average
  int year = 0;                // of the average
  std::string source;
  std::string date;  // when the row was checked, ISO 8601
};

std::vector<GridRegion> parse_grid_catalogue(std::string_view text, const std::string& file);
const std::vector<GridRegion>& grid_catalogue();

/// By id in any case. Throws UserError naming the regions that are known.
const GridRegion& find_region(const std::vector<GridRegion>& catalogue, std::string_view id);

/// What an hour of an instance costs in one region, list price.
struct InstancePrice {
  std::string id;   // "p5.48xlarge"
  std::string gpu;  // "H100"
  int gpus = 0;     // 0: its GPUs are sold apart
  double usd_per_hour = 0.0;
  std::string region;
  std::string source;       // and the day when the row was read from it
  std::size_t regions = 1;  // that have this instance; this is the cheapest of them
};

/// TOML as data/prices.toml, or a vms.csv of SkyPilot's catalogue: that is CSV.
std::vector<InstancePrice> parse_price_catalogue(std::string_view text, const std::string& file);
const std::vector<InstancePrice>& price_catalogue();

/// By id in any case, in the region where it is cheapest. Throws UserError with the nearest ids.
InstancePrice find_instance(const std::vector<InstancePrice>& catalogue, std::string_view id);

/// Attention that keeps one compressed vector for each token instead of keys and values (MLA, arXiv
/// 2405.04434): `key_value_rank` values, and `rope_size` more for the position, for all heads.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries are not compressed
  std::int64_t key_value_rank = 0;
  std::int64_t rope_size = 0;   // of a query and a key, beside the head size
  std::int64_t value_size = 0;  // of one head
};

/// A decoder: in each layer attention with shared keys and values (kv_heads of them), then a
/// feed-forward block, or several of which each token takes some (experts).
struct TransformerModel {
  std::string id;  // "llama-3.1-8b"
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // width of the residual stream
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;  // of a query and a key; latent: without the position's part
  std::optional<LatentAttention> latent;
  std::int64_t window = 0;               // keys that a token sees at most; 0: all before it
  std::int64_t window_layers = 0;        // layers that have the window
  std::int64_t further_projections = 0;  // columns of attention's other products, mean of layers
  std::int64_t ffn = 0;                  // inner width of one feed-forward block, of one expert
  bool gated = false;                    // two products into the block (SwiGLU) instead of one
  std::int64_t experts = 1;
  std::int64_t active_experts = 1;  // that each token takes
  std::int64_t shared_experts = 0;  // that every token takes besides
  std::int64_t dense_layers = 0;  // first layers, with one block of `dense_ffn` instead of experts
  std::int64_t dense_ffn = 0;
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;     // input and output embeddings are one array
  std::int64_t positions = 0;       // learned position embeddings; 0: none
  std::int64_t mtp_layers = 0;      // more layers that predict further tokens, each with the head
  bool relative_positions = false;  // each layer projects positions too, as wide as the queries
  std::int64_t sequence = 0;        // tokens of one sequence in training
  std::int64_t context = 0;         // the longest served
  double published_parameters = 0.0;
  std::optional<double> published_active_parameters;  // of one token, where experts are
  std::string source;
  std::string date;  // when the row was checked, ISO 8601
};

std::vector<TransformerModel> parse_model_catalogue(std::string_view text, const std::string& file);
const std::vector<TransformerModel>& model_catalogue();

/// Throws UserError naming the models whose ids are nearest to `id`, and where all are listed.
const TransformerModel& find_model(const std::vector<TransformerModel>& catalogue,
                                   std::string_view id);
}  // namespace scaleworth
