// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/micro_batch_remarks.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

bool starved(const DecisionRow& row) {
  const auto& facts = row.facts;
  return facts.microbatches && facts.layout.pipeline &&
         *facts.microbatches < *facts.layout.pipeline;
}

}  // namespace

std::vector<std::string> micro_batch_remarks(const std::vector<DecisionRow>& rows,
                                             Scaling scaling) {
  std::vector<std::string> remarks;
  const auto first = std::find_if(rows.begin(), rows.end(), starved);
  if (first != rows.end()) {
    remarks.push_back(fmt::format(
        "at {} a replica has {:g} micro-batches for {} pipeline stages: memory and overlap change "
        "there, and no law of the smaller counts need hold",
        first->count,
        *first->facts.microbatches,
        *first->facts.layout.pipeline));
  }
  const auto& last = rows.back();
  if (scaling == Scaling::strong && last.facts.microbatches) {
    remarks.push_back(
        fmt::format("with this batch and layout of the replica {:.0f} ranks are the most: each "
                    "replica has one micro-batch left there",
                    last.count * *last.facts.microbatches));
  }
  return remarks;
}

}  // namespace scaleworth::decide
