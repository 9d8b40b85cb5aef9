// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue.h"

#include "assets/gpus.h"
#include "assets/grid.h"
#include "assets/models.h"
#include "assets/prices.h"
#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <cmath>
#include <set>

namespace scaleworth {
namespace {
/// The key "date", as "2026-01-31". Throws UserError for another form.
std::string iso_date(toml_file::Table& row) {
  const std::string date = row.text("date");
  constexpr std::string_view form = "0000-00-00";
  const bool right = std::ranges::equal(date, form, [](char letter, char place) {
    return place == '-' ? letter == '-' : letter >= '0' && letter <= '9';
  });
  if (!right) row.refuse("'date' must be written as \"2026-01-31\"", "date");
  return date;
}

/// The key "id", which no other row of `taken` may have; adds it. Throws UserError.
std::string unique_id(toml_file::Table& row, std::set<std::string>& taken) {
  const std::string id = row.text("id");
  if (!taken.insert(id).second) {
    row.refuse("this id occurs twice: give each row an id of its own", "id");
  }
  return id;
}

using toml_file::Table;

constexpr std::string_view formats =
    "fp64 fp32 tf32 bf16 fp16 fp8_e4m3 fp8_e5m2 fp8_block int8 mxfp8 mxfp4 nvfp4";

/// The number at `key` in units of `factor` of the base unit; absent where the key is.
template <class Unit>
std::optional<Unit> quantity(Table& table, const char* key, double factor) {
  const std::optional<double> value = table.optional_positive(key);
  return value ? std::optional(Unit(*value * factor)) : std::nullopt;
}

std::int64_t integer_up_to(Table& table, const char* key, std::int64_t most) {
  const std::int64_t value = table.positive_integer(key);
  if (value > most) table.refuse(fmt::format("'{}' must be at most {}", key, most), key);
  return value;
}

/// The rows [[key]] of a document, each by `read(row, names taken so far)`; `what` names one.
template <class Read>
auto parse_rows(std::string_view text,
                const std::string& file,
                const char* key,
                const char* what,
                const Read& read) {
  Table root = Table::parse(text, file);
  std::set<std::string> taken;
  std::vector<decltype(read(root, taken))> rows;
  for (Table& row : root.tables(key)) {
    rows.push_back(read(row, taken));
    row.finish();
  }
  root.finish();
  if (rows.empty()) {
    root.refuse(fmt::format("no {} in the file: write each as [[{}]]", what, key));
  }
  return rows;
}

std::map<std::string, DatasheetPeak> peaks(Table& gpu, const char* key) {
  std::map<std::string, DatasheetPeak> result;
  for (auto& [format, entry] : gpu.named_tables(key)) {
    if (std::ranges::count(split(formats, ' '), format) == 0) {
      entry.refuse(fmt::format("a peak of an unknown number format; known: {}",
                               fmt::join(split(formats, ' '), ", ")));
    }
    const FlopPerSecond rate(entry.positive("tflops") * 1e12);
    result[format] = {rate, quantity<double>(entry, "clock_mhz", 1e6)};
    entry.finish();
  }
  return result;
}

std::vector<int> device_ids(Table& table) {
  std::vector<int> ids;
  for (const std::int64_t id : table.positive_integers("pci_device_ids")) {
    if (id > 0xffff) table.refuse("a PCI device id has 16 bits: 0x2330", "pci_device_ids");
    ids.push_back(static_cast<int>(id));
  }
  return ids;
}

GpuDatasheet datasheet(Table& table, std::set<std::string>& taken) {
  GpuDatasheet gpu;
  gpu.id = unique_id(table, taken);
  gpu.name = table.text("name");
  gpu.aliases = table.texts("aliases");
  for (const std::string& alias : gpu.aliases) {
    if (taken.insert(alias).second) continue;
    table.refuse("an alias is taken by another row: each name means one board", "aliases");
  }
  gpu.pci_device_ids = device_ids(table);
  // A board that is found by its id is measured: what it does per clock needs both.
  const auto count = [&](const char* key, std::int64_t most) {
    const bool needed = !gpu.pci_device_ids.empty() || table.optional_positive(key);
    return needed ? static_cast<int>(integer_up_to(table, key, most)) : 0;
  };
  // Bounds that tell a typing error from a GPU: above any that is made, so that a wrong unit is
  // refused.
  gpu.compute_capability = count("compute_capability", 999);
  gpu.multiprocessors = count("multiprocessors", 100000);
  gpu.tensor = peaks(table, "tensor");
  gpu.cuda_cores = peaks(table, "cuda_cores");
  gpu.maximum_clock_hz = quantity<double>(table, "maximum_clock_mhz", 1e6);
  gpu.memory_bandwidth = quantity<BytesPerSecond>(table, "memory_bandwidth_gb_per_s", 1e9);
  gpu.memory = quantity<Bytes>(table, "memory_gib", gibibyte);
  gpu.l2_cache = quantity<Bytes>(table, "l2_mib", mebibyte);
  gpu.nvlink = quantity<BytesPerSecond>(table, "nvlink_gb_per_s", 1e9);
  if (table.has("pcie_generation")) {
    gpu.pcie_generation = static_cast<int>(integer_up_to(table, "pcie_generation", 99));
  }
  gpu.power_limit_w = table.optional_positive("power_limit_w");
  gpu.source = table.text("source");
  gpu.date = iso_date(table);
  gpu.notes = table.texts("notes");
  return gpu;
}

GridRegion region(Table& table, std::set<std::string>& taken) {
  GridRegion result;
  result.id = unique_id(table, taken);
  result.name = table.text("name");
  result.grams_per_kwh = table.positive("g_per_kwh");
  const std::int64_t year = table.positive_integer("year");
  // Two digits, or a whole date, are refused; any year of a grid passes.
  if (year < 1900 || year > 9999) table.refuse("the year has four digits: 2023", "year");
  result.year = static_cast<int>(year);
  result.source = table.text("source");
  result.date = iso_date(table);
  return result;
}

/// Products of three extents stay exact in 64 bits.
constexpr std::int64_t largest_extent = 1 << 20;

std::int64_t extent(Table& row, const char* key) {
  return integer_up_to(row, key, largest_extent);
}

std::int64_t extent_or(Table& row, const char* key, std::int64_t otherwise) {
  return row.has(key) ? extent(row, key) : otherwise;
}

void read_latent(Table& row, TransformerModel& model) {
  const std::int64_t key_value_rank = extent_or(row, "key_value_rank", 0);
  const std::int64_t query_rank = extent_or(row, "query_rank", 0);
  const std::int64_t rope_size = extent_or(row, "rope_head_size", 0);
  const std::int64_t value_size = extent_or(row, "value_head_size", model.head_size);
  if (key_value_rank == 0) {
    if (query_rank != 0 || rope_size != 0 || value_size != model.head_size) {
      row.refuse("sizes of latent attention need 'key_value_rank'");
    }
    return;
  }
  model.latent = LatentAttention{query_rank, key_value_rank, rope_size, value_size};
}

void read_window(Table& row, TransformerModel& model) {
  model.window = extent_or(row, "window", 0);
  model.window_layers = extent_or(row, "window_layers", model.window == 0 ? 0 : model.layers);
  if (model.window_layers > model.layers || (model.window == 0 && model.window_layers > 0)) {
    row.refuse("'window_layers' must be at most 'layers', and needs 'window'", "window_layers");
  }
}

void read_attention(Table& row, TransformerModel& model) {
  model.heads = extent(row, "heads");
  model.kv_heads = extent(row, "kv_heads");
  if (model.heads % model.kv_heads != 0) {
    row.refuse("'heads' must be a multiple of 'kv_heads'", "kv_heads");
  }
  model.head_size = model.hidden % model.heads == 0
                        ? extent_or(row, "head_size", model.hidden / model.heads)
                        : extent(row, "head_size");
  read_latent(row, model);
  read_window(row, model);
  model.further_projections = extent_or(row, "further_projections", 0);
  model.relative_positions = row.flag("relative_positions", false);
}

void read_experts(Table& row, TransformerModel& model) {
  model.experts = extent_or(row, "experts", 1);
  model.active_experts = model.experts == 1 ? 1 : extent(row, "active_experts");
  if (model.active_experts > model.experts) {
    row.refuse("'active_experts' must be at most 'experts'", "active_experts");
  }
  if (model.experts == 1) return;  // the keys below have no meaning, and are refused as unknown
  model.shared_experts = extent_or(row, "shared_experts", 0);
  model.dense_layers = extent_or(row, "dense_layers", 0);
  if (model.dense_layers > 0) model.dense_ffn = extent(row, "dense_ffn");
  if (model.dense_layers >= model.layers) {
    row.refuse("'dense_layers' must be below 'layers'", "dense_layers");
  }
  model.published_active_parameters = row.optional_positive("active_parameters");
}

TransformerModel read_model(Table& row, std::set<std::string>& taken) {
  TransformerModel model;
  model.id = unique_id(row, taken);
  model.name = row.text("name");
  model.layers = extent(row, "layers");
  model.hidden = extent(row, "hidden");
  read_attention(row, model);
  model.ffn = extent(row, "ffn");
  model.gated = row.flag("gated", false);
  read_experts(row, model);
  model.vocabulary = extent(row, "vocabulary");
  model.tied_embeddings = row.flag("tied_embeddings", false);
  model.positions = extent_or(row, "positions", 0);
  model.mtp_layers = extent_or(row, "mtp_layers", 0);
  model.sequence = extent(row, "sequence");
  model.context = extent_or(row, "context", model.sequence);
  model.published_parameters = row.positive("parameters");
  model.source = row.text("source");
  model.date = iso_date(row);
  return model;
}

InstancePrice instance_price(Table& row) {
  InstancePrice one;
  one.id = row.text("id");
  one.gpu = row.text("gpu");
  one.gpus = static_cast<int>(integer_up_to(row, "gpus", 1024));
  one.usd_per_hour = row.positive("usd_per_hour");
  one.region = row.text("region");
  one.source = row.text("source") + ", " + iso_date(row);
  return one;
}

/// A vms.csv of github.com/skypilot-org/skypilot-catalog: a row for each instance and zone. Rows
/// without a price are sold on spot alone.
std::vector<InstancePrice> skypilot_prices(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  const std::vector<std::string> header = csv.next().value_or(std::vector<std::string>{});
  const auto column = [&](const char* name) {
    const auto at = std::ranges::find(header, name);
    if (at == header.end())
      throw csv.error(fmt::format(
          "no column {}: prices are a vms.csv of SkyPilot's catalogue, or TOML as data/prices.toml",
          name));
    return static_cast<std::size_t>(at - header.begin());
  };
  const std::size_t id = column("InstanceType");
  const std::size_t gpu = column("AcceleratorName");
  const std::size_t gpus = column("AcceleratorCount");
  const std::size_t price = column("Price");
  const std::size_t region = column("Region");
  std::vector<InstancePrice> prices;
  while (const auto cells = csv.next()) {
    if (cells->size() != header.size())
      throw csv.error(fmt::format("{} cells under {} headers", cells->size(), header.size()));
    const auto number = [&](std::size_t at) -> std::optional<double> {
      if ((*cells)[at].empty()) return std::nullopt;
      const auto value = parse_number<double>((*cells)[at]);
      if (!value || *value < 0.0)
        throw csv.error(fmt::format("{} is no number of 0 or more", header[at]));
      return value;
    };
    if (number(price).value_or(0.0) == 0.0) continue;
    prices.push_back({(*cells)[id],
                      (*cells)[gpu],
                      saturated<int>(number(gpus).value_or(0.0)),  // a share of one: none
                      *number(price),
                      (*cells)[region],
                      file});
  }
  return prices;
}

/// "a100", "80gb" and "sxm" of "A100-SXM4-80GB": a socket's version is no other board.
std::set<std::string> words_of(std::string name) {
  for (char& letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    letter = std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : ' ';
  }
  std::set<std::string> words;
  for (const std::string_view word : split(name, ' '))
    words.emplace(word.starts_with("sxm") ? "sxm" : word);
  for (const char* unsaid : {"", "tesla"}) words.erase(unsaid);
  return words;
}

/// In any case.
bool same_letters(std::string_view a, std::string_view b) {
  const auto upper = [](char letter) { return std::toupper(static_cast<unsigned char>(letter)); };
  return std::ranges::equal(a, b, {}, upper, upper);
}

template <class Row>
[[noreturn]] void refuse_unknown(const std::vector<Row>& catalogue,
                                 const char* kind,
                                 std::string_view name) {
  throw UserError("no {} '{}' is known here{} (all: scaleworth list --known)",
                  kind,
                  name,
                  suggestion(name, mapped(catalogue, &Row::id)));
}
}  // namespace

std::vector<GpuDatasheet> parse_gpu_catalogue(std::string_view text, const std::string& file) {
  return parse_rows(text, file, "gpu", "GPU", datasheet);
}

const std::vector<GpuDatasheet>& gpu_catalogue() {
  static const auto catalogue = parse_gpu_catalogue(asset::gpus(), "data/gpus.toml (built in)");
  return catalogue;
}

const GpuDatasheet& find_gpu(const std::vector<GpuDatasheet>& catalogue, std::string_view name) {
  const std::set<std::string> asked = words_of(std::string(name));
  std::vector<std::string> candidates;
  const GpuDatasheet* last = nullptr;
  for (const GpuDatasheet& gpu : catalogue) {
    const auto same = [&](const std::string& known) { return words_of(known) == asked; };
    if (same(gpu.id) || std::ranges::any_of(gpu.aliases, same)) return gpu;
    if (asked.empty() || !std::ranges::includes(words_of(gpu.id + " " + gpu.name), asked)) continue;
    last = &gpu;
    candidates.push_back(gpu.id);
  }
  if (candidates.empty()) refuse_unknown(catalogue, "GPU", name);
  if (candidates.size() == 1) return *last;
  throw UserError("which GPU is '{}'? Name one of {}", name, fmt::join(candidates, ", "));
}

const GpuDatasheet* find_datasheet(const std::vector<GpuDatasheet>& catalogue,
                                   std::optional<int> pci_device_id,
                                   int multiprocessors,
                                   Bytes memory) {
  if (!pci_device_id) return nullptr;
  const auto distance = [&](const GpuDatasheet& gpu) {
    const Bytes known = gpu.memory.value_or(Bytes(0.0));
    return std::pair(gpu.multiprocessors != multiprocessors,
                     std::abs(known.value() - memory.value()));
  };
  const GpuDatasheet* best = nullptr;
  for (const GpuDatasheet& gpu : catalogue) {
    if (std::ranges::count(gpu.pci_device_ids, *pci_device_id) == 0) continue;
    if (best == nullptr || distance(gpu) < distance(*best)) best = &gpu;
  }
  return best;
}

std::vector<GridRegion> parse_grid_catalogue(std::string_view text, const std::string& file) {
  return parse_rows(text, file, "region", "region", region);
}

const std::vector<GridRegion>& grid_catalogue() {
  static const auto catalogue = parse_grid_catalogue(asset::grid(), "data/grid.toml (built in)");
  return catalogue;
}

std::vector<InstancePrice> parse_price_catalogue(std::string_view text, const std::string& file) {
  if (file.ends_with(".csv")) return skypilot_prices(text, file);
  return parse_rows(text, file, "instance", "instance", [](Table& row, std::set<std::string>&) {
    return instance_price(row);
  });
}

const std::vector<InstancePrice>& price_catalogue() {
  static const auto catalogue =
      parse_price_catalogue(asset::prices(), "data/prices.toml (built in)");
  return catalogue;
}

InstancePrice find_instance(const std::vector<InstancePrice>& catalogue, std::string_view id) {
  const InstancePrice* cheapest = nullptr;
  std::set<std::string> regions;
  std::set<std::string> ids;
  for (const InstancePrice& one : catalogue) {
    ids.insert(one.id);
    if (!same_letters(one.id, id)) continue;
    regions.insert(one.region);
    if (cheapest == nullptr || one.usd_per_hour < cheapest->usd_per_hour) cheapest = &one;
  }
  if (cheapest == nullptr)
    throw UserError(
        "no price of an instance '{}'{} (else --instance-price, or --prices FILE that has it)",
        toml_file::printable(id),
        suggestion(id, {ids.begin(), ids.end()}));
  InstancePrice found = *cheapest;
  found.regions = regions.size();
  return found;
}

const GridRegion& find_region(const std::vector<GridRegion>& catalogue, std::string_view id) {
  const auto found = std::ranges::find_if(
      catalogue, [&](const GridRegion& at) { return same_letters(at.id, id); });
  if (found != catalogue.end()) return *found;
  throw UserError(
      "no region '{}' in the catalogue; known: {}. Give another's carbon intensity by --g-per-kwh",
      toml_file::printable(id),
      listed(catalogue, &GridRegion::id));
}

std::vector<TransformerModel> parse_model_catalogue(std::string_view text,
                                                    const std::string& file) {
  return parse_rows(text, file, "model", "model", read_model);
}

const std::vector<TransformerModel>& model_catalogue() {
  static const auto catalogue =
      parse_model_catalogue(asset::models(), "data/models.toml (built in)");
  return catalogue;
}

const TransformerModel& find_model(const std::vector<TransformerModel>& catalogue,
                                   std::string_view id) {
  if (const auto* found = find_in(catalogue, id, &TransformerModel::id)) return *found;
  // Of "meta-llama/Meta-Llama-3.1-8B-Instruct" the size and family.
  std::set<std::string> asked = words_of(std::string(id.substr(id.find('/') + 1)));
  for (const char* unsaid : {"meta", "instruct", "chat", "base", "hf", "it"}) asked.erase(unsaid);
  for (const TransformerModel& model : catalogue)
    if (words_of(model.id) == asked || words_of(model.name) == asked) return model;
  refuse_unknown(catalogue, "model", id);
}
}  // namespace scaleworth
