// SPDX-License-Identifier: Apache-2.0
/// Charts as Vega-Lite specifications: data and grammar, no drawing.
#pragma once

#include "report/json/parts.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace scaleworth::report {

struct Chart {
  std::string id;
  std::string section;      // whose tables it stands beside
  std::string title;        // states what the picture says
  std::string how_to_read;  // axes and marks in one or two sentences
  Json spec;                // null: no picture, `missing` says why
  std::string missing;
};

/// Soft roofs, ceilings of the memory levels, measured ladder, placed matrix products.
Chart roofline_chart(const model::Analysis& analysis);
/// The same of one GPU, with a roof for each format of its products.
Chart gpu_roofline_chart(const model::GpuResult& gpu);
/// From the datasheet's peak to the measured rate of the GPU's leading format, a bar per step.
Chart waterfall_chart(const model::GpuResult& gpu);
/// Soft roofs with ceilings, ladders and products as one chart; no picture without a soft roof.
Chart chart_of(const model::RooflineResult& roofline, const std::string& section);
/// Bus bandwidth against message size with the chosen fit, per collective at the largest count.
Chart collectives_chart(const model::Analysis& analysis);
/// Time against message size of each way that NCCL was forced to take, with its line, the curve of
/// the fastest and what NCCL chose, per collective at the largest count.
Chart nccl_chart(const model::Analysis& analysis);
/// Step time of each rank at each count, split by the ledger's parts.
Chart steps_chart(const model::Analysis& analysis);
/// Strong-scaling speed-up with the ideal line and each law's curve and band.
Chart speedup_chart(const model::Analysis& analysis);
/// Cost per million tokens by count; says how to give a price when there is none.
Chart cost_chart(const model::Analysis& analysis, const RenderOptions& options);

/// All of them in page order, those of GPUs for the first of each model that has products, those of
/// the cores' and of NCCL's collectives for what was measured. A chart
/// without data has a reason instead of a specification.
std::vector<Chart> make_charts(const model::Analysis& analysis, const RenderOptions& options);

}  // namespace scaleworth::report
