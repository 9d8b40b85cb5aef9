// SPDX-License-Identifier: Apache-2.0
/// The least time that a decode step or a prompt takes on a group of GPUs, and the batch it holds.
///
/// Roof of a phase = max(FLOPs / peak, bytes / bandwidth) + communication, sums over the whole
/// phase: compute and memory overlap perfectly, activations stay on the chip, every byte is read
/// once. Source of the method: Williams et al., CACM 52(4), 2009.
#pragma once

#include "src/core/units.h"
#include "src/model/inference/served_model.h"
#include "src/model/inference/serving_group.h"

#include <cstdint>
#include <optional>

namespace scaleworth::inference {

/// What a server is asked: a model in number formats on a group.
struct Server {
  ServedModel model;
  Formats formats;
  ServingGroup group;
};

/// FLOPs and bytes of one part of a phase, of the whole group.
struct PhaseWork {
  Flops flops;
  Bytes bytes;
};

enum class PhaseBound { compute, memory, communication };
const char* phase_bound_name(PhaseBound bound);

struct Phase {
  PhaseWork products;   // with weights: experts read once each
  PhaseWork attention;  // scores and values; bytes of the cache
  Seconds compute;
  Seconds memory;
  Seconds communication;  // two all-reduces of bf16 activations in each layer; 0 without a link
  Seconds time;           // max(compute, memory) + communication
  PhaseBound bound = PhaseBound::memory;
};

/// One decode step of `batch` sequences, each with `context` tokens in the cache (the new one
/// included): all active weights once, and each sequence's cache. Both >= 1, else UserError.
///   FLOPs = batch (2 active weights + context pair FLOPs)
///   bytes = weights_read(batch) + batch context cache
Phase decode_step(const Server& server, double batch, double context);

/// A pass over `prompts` prompts at once, each of `tokens` new tokens behind `cached` that are in
/// the cache already; logits of the last token only, causal attention, keys and values read and
/// written once, weights read once for all prompts.
///   FLOPs = prompts (2 tokens (active weights - head) + 2 head + pairs)
///   pairs = tokens (cached + (tokens + 1) / 2)
/// Throws UserError for no new token or no prompt.
Phase prefill(const Server& server, double tokens, double cached = 0.0, double prompts = 1.0);

/// The fewest prompts that make their pass bound by compute, but no more than `most`: beyond them a
/// group only delays its first tokens. Throws UserError as `prefill`.
double prompts_at_ridge(const Server& server, double tokens, double cached, double most);

/// Bytes of cached keys and values of a sequence of `context` tokens; windows keep no more than
/// they see.
Bytes cache_bytes(const Server& server, double context);

/// Bytes of all weights, of all experts.
Bytes weight_bytes(const Server& server);

/// The batch at which a decode step takes as long to compute as to read, all weights of the batch
/// read. `context` 0 leaves the cache out: the classic ridge. Absent where reading the cache of one
/// more sequence takes longer than computing with it: no batch is compute-bound.
std::optional<double> ridge_batch(const Server& server, double context);

/// Sequences of `context` tokens whose cache fits beside the weights; absent when the memory is
/// unknown, 0 when not even one fits.
std::optional<std::int64_t> batch_in_memory(const Server& server, double context);

}  // namespace scaleworth::inference
