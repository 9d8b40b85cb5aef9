// SPDX-License-Identifier: Apache-2.0
/// How many weights a transformer has, by what they do.
#pragma once

#include "src/core/catalogue/model_catalogue.h"

namespace scaleworth::model {

/// Weights of all layers together, without biases. Held as double: exact up to 2^53.
///   attention     layers ((2 heads + 2 kv_heads) head_size hidden); latent: queries and key-values
///                 through their ranks, and the output
///   feed_forward  blocks that every token takes: (2 or 3) ffn hidden in each layer without
///                 experts, and the shared experts
///   experts       all experts that tokens choose from
struct Weights {
  double attention = 0.0;
  double relative_positions = 0.0;  // projections of positions (Transformer-XL)
  double feed_forward = 0.0;
  double experts = 0.0;
  double router = 0.0;
  double norms = 0.0;
  double input_embedding = 0.0;  // vocabulary x hidden
  double positions = 0.0;        // learned position embeddings
  double head = 0.0;             // vocabulary x hidden; 0 where it is the input embedding's array
};

Weights weights(const TransformerModel& model);

/// All weights.
double parameter_count(const TransformerModel& model);
/// All but the experts that one token does not take.
double active_parameter_count(const TransformerModel& model);
/// The weights that one token meets in matrix products, forward: attention, the blocks and experts
/// that it takes, the router, and the head (also where that is the input embedding's array).
/// The projections of relative positions are not among them: they are computed once for all tokens.
double product_weight_count(const TransformerModel& model);
/// The head's part of those.
double head_weight_count(const TransformerModel& model);

}  // namespace scaleworth::model
