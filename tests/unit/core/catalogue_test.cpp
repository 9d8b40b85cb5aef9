// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue.h"

#include "src/core/error.h"
#include "src/core/files/toml_table.h"
#include "tests/catch.h"
#include "tests/unit/core/refusal.h"

#include <algorithm>

#include <fmt/format.h>

using namespace scaleworth;
using namespace scaleworth::catalogue_tests;

namespace {
/// Operations per clock and multiprocessor. Sources: NVIDIA CUDA C++ Programming Guide, throughput
/// of native arithmetic instructions (CUDA cores), the architecture papers of V100 to Blackwell
/// (tensor cores, dense, fp32 accumulation), and AMD's of CDNA 3 and 4 (gfx942, gfx950).
struct Rate {
  int architecture;
  std::string format;
  double operations;
};

const std::vector<Rate>& tensor_rates() {
  static const std::vector<Rate> rates{
      {70, "fp16", 1024},      {75, "fp16", 1024},       {75, "int8", 2048},
      {80, "fp16", 2048},      {80, "bf16", 2048},       {80, "tf32", 1024},
      {80, "int8", 4096},      {80, "fp64", 128},        {86, "fp16", 1024},
      {86, "bf16", 1024},      {86, "tf32", 512},        {86, "int8", 2048},
      {89, "fp16", 1024},      {89, "bf16", 1024},       {89, "tf32", 512},
      {89, "fp8_e4m3", 2048},  {89, "fp8_e5m2", 2048},   {89, "int8", 2048},
      {90, "fp16", 4096},      {90, "bf16", 4096},       {90, "tf32", 2048},
      {90, "fp8_e4m3", 8192},  {90, "fp8_e5m2", 8192},   {90, "int8", 8192},
      {90, "fp64", 256},       {100, "fp16", 8192},      {100, "bf16", 8192},
      {100, "tf32", 4096},     {100, "fp8_e4m3", 16384}, {100, "fp8_e5m2", 16384},
      {100, "mxfp8", 16384},   {100, "int8", 16384},     {100, "nvfp4", 32768},
      {100, "fp64", 128},      {103, "fp16", 8192},      {103, "bf16", 8192},
      {103, "tf32", 4096},     {103, "fp8_e4m3", 16384}, {103, "fp8_e5m2", 16384},
      {103, "mxfp8", 16384},   {120, "fp16", 1024},      {120, "bf16", 1024},
      {120, "tf32", 512},      {120, "fp8_e4m3", 2048},  {120, "fp8_e5m2", 2048},
      {120, "int8", 2048},     {120, "nvfp4", 4096},     {942, "fp16", 2048},
      {942, "bf16", 2048},     {942, "tf32", 1024},      {942, "fp8_e4m3", 4096},
      {942, "fp8_e5m2", 4096}, {942, "int8", 4096},      {942, "fp64", 256},
      {950, "fp16", 4096},     {950, "bf16", 4096},      {950, "fp8_e4m3", 8192},
      {950, "fp8_e5m2", 8192}, {950, "mxfp8", 8192},     {950, "mxfp4", 16384},
      {950, "int8", 8192}};
  return rates;
}

const std::vector<Rate>& cuda_core_rates() {
  static const std::vector<Rate> rates{
      {70, "fp64", 64},   {70, "fp32", 128},  {70, "fp16", 256},  {75, "fp32", 128},
      {75, "fp16", 256},  {80, "fp64", 64},   {80, "fp32", 128},  {80, "fp16", 512},
      {80, "bf16", 256},  {86, "fp32", 256},  {89, "fp32", 256},  {90, "fp64", 128},
      {90, "fp32", 256},  {90, "fp16", 512},  {90, "bf16", 512},  {100, "fp64", 128},
      {100, "fp32", 256}, {103, "fp32", 256}, {120, "fp32", 256}, {942, "fp32", 256},
      {950, "fp64", 128}, {950, "fp32", 256}};
  return rates;
}

int architecture(const GpuDatasheet& gpu) {
  if (gpu.compute_capability > 0) return gpu.compute_capability;
  return gpu.id == "mi355x" ? 950 : 942;
}

/// GeForce boards multiply with fp32 accumulation at half the rate, the A10G in all formats.
double rate_factor(const GpuDatasheet& gpu, const std::string& format) {
  if (gpu.id == "a10g") return 0.5;
  const bool geforce = gpu.name.find("GeForce") != std::string::npos;
  return geforce && format != "int8" && format != "nvfp4" ? 0.5 : 1.0;
}

/// Largest |rate / (multiprocessors x operations x clock) - 1| of a GPU's peaks that have a clock;
/// 1 for a peak whose operations per clock are unknown.
double worst_deviation(const GpuDatasheet& gpu,
                       const std::map<std::string, DatasheetPeak>& peaks,
                       const std::vector<Rate>& rates,
                       bool tensor) {
  double worst = 0.0;
  for (const auto& [format, peak] : peaks) {
    if (!peak.clock_hz) continue;
    const auto rate = std::find_if(rates.begin(), rates.end(), [&, name = format](const Rate& r) {
      return r.architecture == architecture(gpu) && r.format == name;
    });
    if (rate == rates.end()) return 1.0;
    const double operations = rate->operations * (tensor ? rate_factor(gpu, format) : 1.0);
    const double expected = gpu.multiprocessors * operations * *peak.clock_hz;
    worst = std::max(worst, std::abs(peak.rate.value() / expected - 1.0));
  }
  return worst;
}

// Datasheets round to two or three digits: 9.7 stands for 9.746.
constexpr double rounding = 0.006;

const char* const minimal = R"([[gpu]]
id = "x1"
name = "X1"
pci_device_ids = [0x1234]
compute_capability = 90
multiprocessors = 100
memory_gib = 80
source = "a test"
date = "2026-01-31"
[gpu.tensor]
bf16 = { tflops = 409.6, clock_mhz = 1000 }
)";

std::string refusal(const std::string& text) {
  return refusal_of([&] { parse_gpu_catalogue(text, "gpus.toml"); });
}
}  // namespace

TEST_CASE("each tensor peak is multiprocessors x rate x its clock basis", "[catalogue]") {
  for (const GpuDatasheet& gpu : gpu_catalogue()) {
    INFO(gpu.id);
    REQUIRE(worst_deviation(gpu, gpu.tensor, tensor_rates(), true) < rounding);
  }
}

TEST_CASE("each CUDA-core peak is multiprocessors x rate x its clock basis", "[catalogue]") {
  for (const GpuDatasheet& gpu : gpu_catalogue()) {
    INFO(gpu.id);
    REQUIRE(worst_deviation(gpu, gpu.cuda_cores, cuda_core_rates(), false) < rounding);
  }
}

TEST_CASE("the clock rule finds a peak that is taken with sparsity", "[catalogue]") {
  GpuDatasheet gpu = gpu_catalogue().front();
  for (auto& [format, peak] : gpu.tensor) peak.rate = peak.rate * 2.0;
  REQUIRE_THAT(worst_deviation(gpu, gpu.tensor, tensor_rates(), true), WithinAbs(1.0, 0.02));
}

TEST_CASE("the built-in catalogue has the GPUs that clouds rent", "[catalogue]") {
  struct Board {
    int device_id;
    int multiprocessors;
    const char* id;
  };
  // Device ids: pci.ids 2026.08.22.
  const auto board = GENERATE(Board{0x1db1, 80, "v100-sxm2-16gb"},
                              Board{0x20b2, 108, "a100-sxm-80gb"},
                              Board{0x20b5, 108, "a100-pcie-80gb"},
                              Board{0x2330, 132, "h100-sxm-80gb"},
                              Board{0x2331, 114, "h100-pcie-80gb"},
                              Board{0x2335, 132, "h200-sxm-141gb"},
                              Board{0x2901, 148, "b200-sxm-180gb"},
                              Board{0x2941, 152, "gb200-186gb"},
                              Board{0x27b8, 58, "l4"},
                              Board{0x26b9, 142, "l40s"},
                              Board{0x2684, 128, "rtx-4090"},
                              Board{0x2b85, 170, "rtx-5090"},
                              Board{0x2bb1, 188, "rtx-pro-6000-blackwell-workstation"},
                              Board{0x2bb5, 188, "rtx-pro-6000-blackwell-server"},
                              Board{0x2237, 80, "a10g"},
                              Board{0x26b1, 142, "rtx-6000-ada"},
                              Board{0x2324, 132, "h800-sxm-80gb"},
                              Board{0x2329, 78, "h20-sxm-96gb"},
                              Board{0x31c2, 152, "gb300-278gb"});
  const GpuDatasheet* gpu =
      find_datasheet(gpu_catalogue(), board.device_id, board.multiprocessors, Bytes(80e9));
  REQUIRE(gpu != nullptr);
  REQUIRE(gpu->id == board.id);
  REQUIRE(gpu->multiprocessors == board.multiprocessors);
}

TEST_CASE("H200: 989.4 TFLOP/s bf16 at 1830 MHz, 66.9 fp32 at 1980 MHz", "[catalogue]") {
  const GpuDatasheet* gpu = find_datasheet(gpu_catalogue(), 0x2335, 132, Bytes(150e9));
  REQUIRE(gpu != nullptr);
  REQUIRE_THAT(gpu->tensor.at("bf16").rate.value(), WithinRel(989.4e12, 1e-12));
  REQUIRE_THAT(gpu->tensor.at("bf16").clock_hz.value(), WithinRel(1.83e9, 1e-12));
  REQUIRE_THAT(gpu->cuda_cores.at("fp32").clock_hz.value(), WithinRel(1.98e9, 1e-12));
  REQUIRE_THAT(gpu->memory_bandwidth.value().value(), WithinRel(4.8e12, 1e-12));
  REQUIRE_THAT(gpu->memory.value().value(), WithinRel(141.0 * 1073741824.0, 1e-12));
  REQUIRE(gpu->compute_capability == 90);
}

TEST_CASE("memory of boards with GDDR6 is what ECC leaves: fifteen sixteenths of the nominal size",
          "[catalogue]") {
  struct Board {
    const char* id;
    double nominal_gib;
    double reported_mib;  // memory.total of nvidia-smi with ECC on
  };
  const auto board = GENERATE(Board{"t4", 16, 15360},
                              Board{"a10", 24, 23028},
                              Board{"a10g", 24, 23028},
                              Board{"l4", 24, 23034},
                              Board{"l40s", 48, 46068},
                              Board{"rtx-6000-ada", 48, 46068});
  CAPTURE(board.id);
  const double memory = find_gpu(gpu_catalogue(), board.id).memory.value().value();
  CHECK_THAT(memory, WithinRel(board.reported_mib * 1048576.0, 1e-3));
  CHECK_THAT(memory, WithinRel(board.nominal_gib * 1073741824.0 * 15.0 / 16.0, 2e-3));
}

TEST_CASE("accelerators of other vendors have dense peaks, and no CUDA device finds them",
          "[catalogue]") {
  struct Chip {
    const char* id;
    double bf16;
    double memory_gib;
  };
  const auto chip = GENERATE(Chip{"mi300x", 1307.4e12, 192},
                             Chip{"mi325x", 1307.4e12, 256},
                             Chip{"mi355x", 2516.6e12, 288},
                             Chip{"trainium2", 667e12, 96},
                             Chip{"tpu-v5p", 459e12, 95},
                             Chip{"tpu-v6e", 918e12, 32});
  CAPTURE(chip.id);
  const GpuDatasheet& gpu = find_gpu(gpu_catalogue(), chip.id);
  CHECK_THAT(gpu.tensor.at("bf16").rate.value(), WithinRel(chip.bf16, 1e-12));
  CHECK_THAT(gpu.memory.value().value(), WithinRel(chip.memory_gib * 1073741824.0, 1e-12));
  CHECK(gpu.memory_bandwidth.has_value());
  CHECK(gpu.compute_capability == 0);
  CHECK(gpu.pci_device_ids.empty());
}

TEST_CASE("a board that is found by its id needs its architecture, another does not",
          "[catalogue]") {
  const std::string without = replaced(minimal, "multiprocessors = 100\n", "");
  CHECK(contains(refusal(without), "'multiprocessors' is missing"));
  CHECK(contains(refusal(replaced(minimal, "compute_capability = 90\n", "")),
                 "'compute_capability' is missing"));
  const auto rows =
      parse_gpu_catalogue(replaced(without, "pci_device_ids = [0x1234]\n", ""), "gpus.toml");
  CHECK(rows[0].multiprocessors == 0);
  CHECK(rows[0].compute_capability == 90);
}

TEST_CASE("no device id belongs to two rows", "[catalogue]") {
  std::vector<int> ids;
  for (const GpuDatasheet& gpu : gpu_catalogue()) {
    ids.insert(ids.end(), gpu.pci_device_ids.begin(), gpu.pci_device_ids.end());
  }
  std::sort(ids.begin(), ids.end());
  REQUIRE(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("an unknown GPU has no datasheet", "[catalogue]") {
  REQUIRE(find_datasheet(gpu_catalogue(), 0x0001, 132, Bytes(80e9)) == nullptr);
  REQUIRE(find_datasheet(gpu_catalogue(), std::nullopt, 132, Bytes(80e9)) == nullptr);
}

TEST_CASE("boards with one device id differ by multiprocessors, then by memory", "[catalogue]") {
  const auto row = [](const char* id, int multiprocessors, double memory) {
    GpuDatasheet gpu;
    gpu.id = id;
    gpu.pci_device_ids = {7};
    gpu.multiprocessors = multiprocessors;
    gpu.memory = Bytes(memory);
    return gpu;
  };
  const std::vector<GpuDatasheet> rows{
      row("a", 100, 40e9), row("b", 100, 80e9), row("c", 120, 79e9)};
  REQUIRE(find_datasheet(rows, 7, 100, Bytes(79e9))->id == "b");
  REQUIRE(find_datasheet(rows, 7, 100, Bytes(50e9))->id == "a");
  REQUIRE(find_datasheet(rows, 7, 120, Bytes(10e9))->id == "c");
  REQUIRE(find_datasheet(rows, 7, 28, Bytes(10e9))->id == "a");
}

TEST_CASE("a minimal row is read with its units", "[catalogue]") {
  const auto rows = parse_gpu_catalogue(minimal, "gpus.toml");
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].pci_device_ids == std::vector<int>{0x1234});
  REQUIRE_THAT(rows[0].tensor.at("bf16").rate.value(), WithinRel(409.6e12, 1e-12));
  REQUIRE_THAT(rows[0].memory.value().value(), WithinRel(80.0 * 1073741824.0, 1e-12));
  REQUIRE(!rows[0].power_limit_w);
  REQUIRE(rows[0].cuda_cores.empty());
}

TEST_CASE("a key without its unit is unknown, with line and the keys that are known",
          "[catalogue]") {
  const std::string message = refusal(replaced(minimal, "memory_gib", "memory"));
  REQUIRE(contains(message, "gpus.toml:7: unknown key 'memory'"));
  REQUIRE(contains(message, "memory_gib"));
}

TEST_CASE("mistakes in a row are refused with line and remedy", "[catalogue]") {
  REQUIRE(contains(refusal(replaced(minimal, "80", "\"80 GB\"")), "gpus.toml:7"));
  REQUIRE(contains(refusal(replaced(minimal, "409.6", "nan")), "must be a positive number"));
  REQUIRE(contains(refusal(replaced(minimal, "409.6", "-1.0")), "must be a positive number"));
  REQUIRE(contains(refusal(replaced(minimal, "bf16 =", "bf17 =")), "unknown number format"));
  REQUIRE(contains(refusal(replaced(minimal, "0x1234", "0x12345")), "16 bits"));
  REQUIRE(contains(refusal(replaced(minimal, "2026-01-31", "31.1.26")), "2026-01-31"));
  REQUIRE(contains(refusal(replaced(minimal, "name = \"X1\"\n", "")), "'name' is missing"));
  REQUIRE(contains(refusal(replaced(minimal, "id = \"x1\"\n", "id = \"x1\"\nid = \"x1\"\n")),
                   "gpus.toml:3"));
  REQUIRE(contains(refusal(std::string(minimal) + minimal), "occurs twice"));
  REQUIRE(contains(refusal("gpu = 3\n"), "[[gpu]]"));
  REQUIRE(contains(refusal(""), "no GPU"));
}

TEST_CASE("a GPU is found by id and by alias, and an unknown one brings a suggestion",
          "[catalogue]") {
  REQUIRE(find_gpu(gpu_catalogue(), "a100-sxm-80gb").name == "NVIDIA A100 SXM 80 GB");
  REQUIRE(find_gpu(gpu_catalogue(), "a100-80gb").id == "a100-sxm-80gb");
  const std::string message = refusal_of([] { find_gpu(gpu_catalogue(), "h100"); });
  REQUIRE(message ==
          "which GPU is 'h100'? Name one of h100-sxm-80gb, h100-pcie-80gb, h100-nvl-94gb");
  REQUIRE(contains(refusal_of([] { find_gpu(gpu_catalogue(), "rtx 4080"); }),
                   "is known here; did you mean rtx-4090"));
  REQUIRE(contains(refusal_of([] { find_gpu(gpu_catalogue(), "foo"); }), "is known here (all: "));
  const std::string taken = replaced(minimal, "name = ", "aliases = [\"x1\"]\nname = ");
  REQUIRE(contains(refusal(taken), "an alias is taken"));
}

TEST_CASE("a GPU is found by the name that nvidia-smi prints", "[catalogue]") {
  using Printed = std::pair<const char*, const char*>;
  for (const auto& [printed, id] : {Printed{"NVIDIA H100 80GB HBM3", "h100-sxm-80gb"},
                                    Printed{"NVIDIA H100 PCIe", "h100-pcie-80gb"},
                                    Printed{"NVIDIA H100 NVL", "h100-nvl-94gb"},
                                    Printed{"NVIDIA H200", "h200-sxm-141gb"},
                                    Printed{"NVIDIA H200 NVL", "h200-nvl-141gb"},
                                    Printed{"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
                                    Printed{"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
                                    Printed{"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                                    Printed{"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
                                    Printed{"Tesla V100-SXM2-32GB", "v100-sxm2-32gb"},
                                    Printed{"Tesla V100-PCIE-16GB", "v100-pcie-16gb"},
                                    Printed{"Tesla T4", "t4"},
                                    Printed{"NVIDIA A10", "a10"},
                                    Printed{"NVIDIA A10G", "a10g"},
                                    Printed{"NVIDIA L4", "l4"},
                                    Printed{"NVIDIA L40S", "l40s"},
                                    Printed{"NVIDIA GH200 480GB", "gh200-96gb"},
                                    Printed{"NVIDIA GH200 144G HBM3e", "gh200-144gb"},
                                    Printed{"NVIDIA B200", "b200-sxm-180gb"},
                                    Printed{"NVIDIA GB200", "gb200-186gb"},
                                    Printed{"NVIDIA GeForce RTX 4090", "rtx-4090"},
                                    Printed{"AMD Instinct MI300X", "mi300x"}}) {
    INFO(printed);
    CHECK(find_gpu(gpu_catalogue(), printed).id == id);
  }
  // A memory that no board of the table has.
  CHECK_THROWS_AS(find_gpu(gpu_catalogue(), "NVIDIA H100 64GB HBM2"), UserError);
}

TEST_CASE("a key of a hundred dots is refused before it is parsed", "[catalogue]") {
  std::string deep = "a";
  for (int i = 0; i < 200; ++i) deep += ".a";
  REQUIRE(contains(refusal(deep + " = 1\n"), "more than 100 dots"));
}

TEST_CASE("letters beyond ASCII are refused with their line", "[catalogue]") {
  REQUIRE(contains(refusal("# plain\n# caf\xc3\xa9\n"), "gpus.toml:2: a letter that is not ASCII"));
}

TEST_CASE("a catalogue that cannot be opened is a user's error", "[catalogue]") {
  REQUIRE_THROWS_AS(toml_file::read_small_file("/nonexistent/gpus.toml"), UserError);
}

TEST_CASE("grids have their published carbon intensity, by id in any case", "[catalogue]") {
  const auto grams = [](const char* id) { return find_region(grid_catalogue(), id).grams_per_kwh; };
  CHECK_THAT(grams("USA"), WithinAbs(369.5, 0.05));
  CHECK_THAT(grams("fra"), WithinAbs(56.0, 0.05));
  CHECK_THAT(grams("DEU"), WithinAbs(381.0, 0.5));
  CHECK_THAT(grams("CHN"), WithinAbs(582.0, 0.5));
  CHECK_THAT(grams("IND"), WithinAbs(713.0, 0.5));
  CHECK_THAT(grams("SWE"), WithinAbs(40.7, 0.05));
  CHECK(grams("world") == 475.0);
}

TEST_CASE("every grid has a plausible intensity, a year and a source", "[catalogue]") {
  for (const GridRegion& region : grid_catalogue()) {
    INFO(region.id);
    CHECK(region.grams_per_kwh > 10.0);
    CHECK(region.grams_per_kwh < 1000.0);
    CHECK(region.year >= 2018);
    CHECK_FALSE(region.source.empty());
  }
}

TEST_CASE("an unknown grid is refused with those that are known", "[catalogue]") {
  CHECK_THROWS_AS(find_region(grid_catalogue(), "ATLANTIS"), UserError);
  CHECK_THROWS_AS(parse_grid_catalogue("", "grid.toml"), UserError);
  CHECK_THROWS_AS(parse_grid_catalogue("[[region]]\nid = \"A\"\n", "grid.toml"), UserError);
}

namespace model_catalogue_test {
using namespace scaleworth;
using namespace scaleworth::catalogue_tests;

namespace {
const char* const minimal = R"([[model]]
id = "tiny"
name = "Tiny"
layers = 2
hidden = 64
heads = 4
kv_heads = 2
ffn = 256
vocabulary = 1000
sequence = 128
parameters = 1e5
source = "a test"
date = "2026-01-31"
)";

std::string refusal(const std::string& text) {
  return refusal_of([&] { parse_model_catalogue(text, "models.toml"); });
}
}  // namespace

TEST_CASE("what a row leaves out has the plain meaning", "[catalogue]") {
  const auto models = parse_model_catalogue(minimal, "models.toml");
  REQUIRE(models.size() == 1);
  REQUIRE(models[0].head_size == 16);
  REQUIRE(models[0].experts == 1);
  REQUIRE(models[0].active_experts == 1);
  REQUIRE(models[0].positions == 0);
  REQUIRE(!models[0].gated);
  REQUIRE(!models[0].tied_embeddings);
  REQUIRE(!models[0].latent);
  REQUIRE(models[0].window_layers == 0);
  REQUIRE(models[0].shared_experts == 0);
}

TEST_CASE("shapes that fit no model are refused with line and remedy", "[catalogue]") {
  REQUIRE(contains(refusal(replaced(minimal, "kv_heads = 2", "kv_heads = 3")), "models.toml:7"));
  REQUIRE(contains(refusal(replaced(minimal, "hidden = 64", "hidden = 66")), "'head_size'"));
  REQUIRE(contains(refusal(std::string(minimal) + "experts = 4\n"), "'active_experts'"));
  REQUIRE(contains(refusal(std::string(minimal) + "experts = 4\nactive_experts = 5\n"),
                   "at most 'experts'"));
  REQUIRE(contains(refusal(replaced(minimal, "layers = 2", "layers = 9999999")), "at most"));
  REQUIRE(contains(refusal(std::string(minimal) + "width = 3\n"), "unknown key 'width'"));
  REQUIRE(contains(refusal(std::string(minimal) + minimal), "occurs twice"));
  REQUIRE(contains(refusal(""), "[[model]]"));
}

TEST_CASE("experts, windows and latent attention are read together or not at all", "[catalogue]") {
  const std::string experts = std::string(minimal) + "experts = 4\nactive_experts = 2\n";
  const auto model =
      parse_model_catalogue(experts +
                                "shared_experts = 1\ndense_layers = 1\ndense_ffn = 512\n"
                                "key_value_rank = 32\nrope_head_size = 8\n",
                            "models.toml")[0];
  REQUIRE(model.shared_experts == 1);
  REQUIRE(model.dense_ffn == 512);
  REQUIRE(model.latent.value().query_rank == 0);
  REQUIRE(model.latent.value().value_size == 16);
  REQUIRE(contains(refusal(experts + "dense_layers = 1\n"), "'dense_ffn'"));
  REQUIRE(contains(refusal(experts + "dense_layers = 2\ndense_ffn = 8\n"), "below 'layers'"));
  REQUIRE(contains(refusal(std::string(minimal) + "shared_experts = 1\n"), "unknown key"));
  REQUIRE(contains(refusal(std::string(minimal) + "query_rank = 8\n"), "'key_value_rank'"));
  REQUIRE(contains(refusal(std::string(minimal) + "window_layers = 1\n"), "'window'"));
  REQUIRE(contains(refusal(std::string(minimal) + "window = 8\nwindow_layers = 3\n"), "at most"));
  REQUIRE(parse_model_catalogue(std::string(minimal) + "window = 8\n", "models.toml")[0]
              .window_layers == 2);
}

TEST_CASE("an unknown model is refused with the nearest that are known", "[catalogue]") {
  REQUIRE(find_model(model_catalogue(), "llama-3.1-8b").layers == 32);
  REQUIRE(find_model(model_catalogue(), "meta-llama/Meta-Llama-3.1-8B-Instruct").layers == 32);
  const std::string message =
      refusal_of([] { find_model(model_catalogue(), "llama-3.1-8B-coder"); });
  REQUIRE(contains(message, "did you mean llama-3.1-8b"));
  REQUIRE(contains(message, "list --known"));
}

}  // namespace model_catalogue_test
