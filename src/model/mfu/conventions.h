// SPDX-License-Identifier: Apache-2.0
/// Ways in which papers and frameworks count the operations of training: an MFU means nothing
/// without the one that it was computed by.
#pragma once

#include "src/model/transformer/flops.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace scaleworth::model {

/// Per trained token, with s the sequence, L layers, h hidden, V vocabulary, H heads of size Q:
///   full         products of the architecture, every token meets all s (latent attention, experts
///                and windows as they are)
///   causal       the same, every token meets those before it
///   palm         6 N + 12 L H Q s                       Chowdhery et al., arXiv 2204.02311, app. B
///   narayanan    96 L h^2 (1 + s/6h + V/16Lh)           Narayanan et al., arXiv 2104.04473, eq. 3:
///                counts the layers' recomputation, so that its utilisation is an HFU
///   korthikanti  72 L h^2 (1 + s/6h + V/12Lh)           Korthikanti et al., arXiv 2205.05198, app.
///   6nd          6 N, N as published (or counted)       Kaplan et al., arXiv 2001.08361
///   torchtitan   6 (N - input embedding) + 12 L H Q s   pytorch/torchtitan
///   llm-foundry  6 N + 12 L h s                         mosaicml/llm-foundry
///   megatron     as causal without windows, V padded to a multiple of 128
///                                                       NVIDIA/Megatron-LM, training.py
/// N are all parameters, of a model with experts those that one token takes. The formulas of
/// narayanan and korthikanti hold for blocks of 4 h and as many keys as heads; other shapes take
/// their products in place of 24 h^2 per layer. Models of the catalogue have no second head
/// (multi-token prediction), which megatron would count.
enum class Convention {
  full,
  causal,
  palm,
  narayanan,
  korthikanti,
  six_nd,
  torchtitan,
  llm_foundry,
  megatron
};

/// A convention for the reader.
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

/// Model FLOPs of one trained token, no recomputation, also by narayanan.
double model_flops(Convention convention, const TransformerModel& model, std::int64_t sequence);

/// Model FLOPs and what was computed again. Selective recomputation by korthikanti is as published,
/// s/3h in place of s/6h: three times what repeating the scores once takes.
double hardware_flops(Convention convention,
                      const TransformerModel& model,
                      std::int64_t sequence,
                      Recomputation recomputation);

/// What the convention itself prints for a run: model FLOPs, by narayanan hardware FLOPs with full
/// recomputation.
double quoted_flops(Convention convention, const TransformerModel& model, std::int64_t sequence);

}  // namespace scaleworth::model
