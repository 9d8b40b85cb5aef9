// SPDX-License-Identifier: Apache-2.0
/// MFU, HFU, counting conventions, peaks.
#pragma once

#include "src/core/catalogue.h"
#include "src/core/finding.h"
#include "src/core/units.h"
#include "src/model/gpu.h"
#include "src/model/transformer/transformer.h"

#include <cstdint>
#include <optional>
#include <span>

namespace scaleworth::model {
// Model FLOPs utilisation: the model's FLOPs over what the hardware could have done meanwhile.

/// MFU = model FLOPs / (step time x peak of all ranks). Above 1 means that the peak is not one.
/// Throws UserError when `step` or `peak` is not positive.
/// Source: Chowdhery et al., PaLM (arXiv 2204.02311), appendix B.
double model_flops_utilisation(Flops model_flops, Seconds step, FlopPerSecond peak);

/// A rate to hold a run against, and where it comes from.
struct Denominator {
  FlopPerSecond rate;
  Finding basis = FindingId::as_given;
};

/// The fp32 FMA ceiling of `ranks` single-threaded ranks, fastest instruction set: that of `ranks`
/// workers at once where measured, else `ranks` times one worker's.
std::optional<Denominator> measured_peak(const std::vector<ComputeCeiling>& ceilings, int ranks);
/// `ranks` times the steady rate of the slowest GPU's products in that format.
std::optional<Denominator> measured_peak(const std::vector<GpuResult>& gpus,
                                         std::string_view number_format,
                                         int ranks);

// Ways in which papers and frameworks count the operations of training.

/// Per trained token, with s the sequence, L layers, h hidden, V vocabulary, H heads of size Q:
///   full         products of the architecture, every token meets all s (latent attention, experts
///                and windows as they are)
///   causal       the same, every token meets those before it
///   palm         6 N + 12 L H Q s                       Chowdhery et al., arXiv 2204.02311, app. B
///   narayanan    96 L h^2 (1 + s/6h + V/16Lh)           Narayanan et al., arXiv 2104.04473, eq. 3:
///                counts the layers' recomputation, so that its utilisation is an HFU
///   korthikanti  72 L h^2 (1 + s/6h + V/12Lh)           Korthikanti et al., arXiv 2205.05198, app.
///   6nd          6 N, the published number where it is N within 2 %
///                                                       Kaplan et al., arXiv 2001.08361
///   torchtitan   6 (N - input embedding) + 12 L H Q s   pytorch/torchtitan
///   llm-foundry  6 N + 12 L h s                         mosaicml/llm-foundry
///   megatron     as causal without windows and router, V padded to a multiple of 128
///                NVIDIA/Megatron-LM, megatron/training/training.py (@ d98e8a64, 2026-08-22)
///   megatron-bridge  as megatron with windows           NVIDIA-NeMo/Megatron-Bridge,
///                src/megatron/bridge/training/utils/flop_utils.py (@ 067f987d, 2026-08-22)
/// N is active_parameter_count: without the input embedding (unless it is the head too) and
/// without the experts that a token does not take. The formulas of narayanan and korthikanti hold
/// for blocks of 4 h and as many keys as heads; other shapes take their products in place of
/// 24 h^2 per layer. full, causal and both of Megatron count multi-token prediction.
enum class Convention {
  full,
  causal,
  palm,
  narayanan,
  korthikanti,
  six_nd,
  torchtitan,
  llm_foundry,
  megatron,
  megatron_bridge
};

struct ConventionWords {
  Convention convention;
  const char* name;       // "palm"
  const char* counts;     // "6 N + 12 L H Q s"
  const char* attention;  // "full", "causal" or "none"
};

std::span<const ConventionWords> conventions();
const ConventionWords& words_of(Convention convention);
/// Throws UserError with the nearest names.
Convention parse_convention(std::string_view name);

/// The convention's own parts of a forward pass; a third of its model FLOPs.
ForwardFlops forward_flops(Convention convention,
                           const TransformerModel& model,
                           std::int64_t sequence);

/// Model FLOPs of one trained token: three times the forward pass, for the gradients of a product
/// are two more of its size. No recomputation, also by narayanan.
double model_flops(Convention convention, const TransformerModel& model, std::int64_t sequence);

/// Model FLOPs and what was computed again (selective: attention; full: layers + attention; the
/// logits only by llm-foundry, whose HFU is 4/3 of the MFU: scripts/train/benchmarking/
/// collect_results.py). Selective recomputation by korthikanti is as published, s/3h in place of
/// s/6h: three times what repeating the scores once takes.
double hardware_flops(Convention convention,
                      const TransformerModel& model,
                      std::int64_t sequence,
                      Recomputation recomputation);

/// What the convention itself prints: by narayanan hardware FLOPs with full recomputation.
double quoted_flops(Convention convention, const TransformerModel& model, std::int64_t sequence);

Finding datasheet_basis(const std::string& number_format, const DatasheetPeak& peak);

struct PeakRequest {
  const GpuDatasheet* gpu = nullptr;  // null: unknown
  std::string number_format;          // empty: bf16, fp16 where there is none
  std::optional<FlopPerSecond> given;
};

struct PeakChoice {
  std::string number_format;
  std::vector<Denominator> peaks;  // the first is the one to quote
  std::vector<Finding> remarks;
};

/// The given peak first, then the datasheet's dense one of the number format, for 8 and 4 bits also
/// that of bf16 (such runs have no agreed denominator). Remarks say when a given peak is the one
/// with 2:4 sparsity, which is twice the dense one. Throws UserError when no peak is known.
PeakChoice choose_peaks(const PeakRequest& request);

/// The slowest steady product of a number format over all GPUs, which sets the pace.
struct SlowestProduct {
  const GpuGemm* product = nullptr;  // of the argument; null where no GPU measured the format
  int ordinal = 0;
};
SlowestProduct slowest_steady(const std::vector<GpuResult>& gpus, NumberFormat precision);

enum class StatedAs { tokens, tokens_of_one_gpu, flops_of_one_gpu, utilisation };

struct TrainingRun {
  TransformerModel model;
  std::int64_t sequence = 0;  // tokens of one sequence; 0: the model's own
  std::int64_t gpus = 1;
  double tokens_per_second = 0.0;  // of all GPUs; 0: unknown, with a stated rate
  /// Of one GPU, in place of a model: utilisation follows from it, and from tokens their cost.
  std::optional<FlopPerSecond> stated_rate;
  StatedAs stated_as = StatedAs::tokens;  // from which the tokens of all GPUs follow
  Convention convention = Convention::full;
  Recomputation recomputation = Recomputation::none;  // by narayanan always full
  std::vector<Denominator> peaks;                     // of one GPU; the first is the one to quote
  std::optional<DollarsPerSecond> price;              // of one GPU
  std::optional<double> tokens;                       // to train on
};

/// The run against one peak. Above 1 means that the peak is not one, or the count is wrong.
struct Utilisation {
  Denominator peak;
  double mfu = 0.0;  // model FLOPs / (peak x time), without recomputation
  double hfu = 0.0;  // with it
};

/// The run by another convention.
struct ConventionRow {
  Convention convention = Convention::full;
  double quoted = 0.0;     // FLOPs of a token that its utilisation counts
  double ratio = 1.0;      // quoted / the chosen convention's
  double utilisation = 0;  // against the first peak
};

struct Campaign {
  double tokens = 0.0;
  Seconds time;
  double gpu_hours = 0.0;
  std::optional<Dollars> cost;
};

struct TrainingUse {
  std::int64_t sequence = 0;
  Recomputation recomputation = Recomputation::none;
  ForwardFlops forward;  // of one token, by the chosen convention
  Flops model_flops;     // of one trained token
  Flops hardware_flops;
  double tokens_per_second_per_gpu = 0.0;
  FlopPerSecond model_rate;  // of one GPU
  FlopPerSecond hardware_rate;
  std::vector<Utilisation> against;  // as `peaks`
  std::vector<ConventionRow> conventions;
  bool conventions_differ = false;   // by more than 1 %
  Campaign million;                  // tokens
  std::optional<Campaign> campaign;  // the tokens to train on
  /// MFU with causal attention alone, where the first peak is exceeded.
  std::optional<double> above_peak;
  std::vector<Finding> remarks;
};

/// Throws UserError unless gpus, tokens per second, peaks, price and tokens are positive and
/// finite, there is a peak, and the sequence is no longer than the model has positions for.
TrainingUse use_of_training(const TrainingRun& run);

// Memory of a training step, in which each GPU holds all layers: data parallelism with ZeRO.

struct MemoryQuestion {
  TransformerModel model;
  std::int64_t sequence = 0;  // tokens, of one on each GPU; 0: the model's own
  std::int64_t gpus = 1;
  Bytes memory;  // of a GPU
  /// In place of the model, whose shapes activations need: states alone are asked for.
  std::optional<double> parameters{};
};

/// Of each GPU.
struct MemoryNeed {
  int zero = 0;  // ZeRO stage
  Recomputation recomputation = Recomputation::none;
  Bytes states;
  Bytes activations;
  bool fits = false;
  std::optional<std::int64_t> smallest;  // count with which it fits; absent: with none

  Bytes total() const { return states + activations; }
};

struct MemoryAnswer {
  std::int64_t sequence = 0;
  double parameters = 0.0;
  Bytes usable;                   // `usable_memory` of a GPU
  std::vector<MemoryNeed> needs;  // recomputing least first, then by stage; states alone: by stage
  /// Where none fits: the fewest GPUs of a server among which tensor and sequence parallelism must
  /// divide the activations of the last need, so that it does.
  std::optional<int> tensor{};
};

/// Part of a GPU's memory for states and activations; the rest is for buffers of libraries,
/// gathered weights and fragmentation.
inline constexpr double usable_memory = 0.9;

/// States of Adam in mixed precision, P parameters on N GPUs: 2 P of weights and 2 P of gradients
/// in 16 bits, 12 P of master weights and moments. ZeRO divides by N from stage 1 on the 12 P, from
/// 2 on the gradients, with 3 the weights (Rajbhandari et al., arXiv 1910.02054, section 3.1).
/// Activations in 16 bits, of a token and layer with h hidden, a heads of size d, kv of them with
/// keys, s tokens in a sequence, f the inner width of the blocks that it takes:
///   11 h + 5 a s of attention: 3 h + 4 a d + 4 kv d + 5 a s; selective recomputation and fused
///   attention keep no scores (5 a s)
///   19 h of the block: 3 h + 4 f, gated 6 f;    4 h of norms
/// which is 34 h + 5 a s where f = 4 h and a d = kv d = h; full recomputation keeps 2 h and one
/// layer at a time in full. The logits add 4 h + 4 vocabulary once. (Korthikanti et al.,
/// arXiv 2205.05198, section 4; the dropout masks that it counts are kept.)
MemoryAnswer training_memory(const MemoryQuestion& question);
}  // namespace scaleworth::model
