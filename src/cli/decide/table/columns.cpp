// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/columns.h"

#include "src/cli/decide/table/header_words.h"
#include "src/core/error.h"
#include "src/core/toml/node.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

struct Known {
  std::string_view name;
  ColumnMeaning meaning;
  Dimension dimension = Dimension::none;
};

constexpr std::array known{
    // Counts, in the order in which one is taken where a table has several.
    Known{"p", ColumnMeaning::count},
    Known{"k", ColumnMeaning::count},
    Known{"n", ColumnMeaning::count},
    Known{"count", ColumnMeaning::count},
    Known{"gpus", ColumnMeaning::count},
    Known{"num_gpus", ColumnMeaning::count},
    Known{"chips", ColumnMeaning::count},
    Known{"chips_total", ColumnMeaning::count},
    Known{"ranks", ColumnMeaning::count},
    Known{"workers", ColumnMeaning::count},
    Known{"processors", ColumnMeaning::count},
    Known{"nodes", ColumnMeaning::count},
    Known{"slices", ColumnMeaning::count},
    Known{"load", ColumnMeaning::count},
    Known{"users", ColumnMeaning::count},
    Known{"concurrency", ColumnMeaning::count},
    Known{"repeat", ColumnMeaning::repeat},
    Known{"run", ColumnMeaning::repeat},
    Known{"trial", ColumnMeaning::repeat},
    Known{"seed", ColumnMeaning::repeat},
    Known{"time", ColumnMeaning::time, Dimension::time},
    Known{"t", ColumnMeaning::time, Dimension::time},
    Known{"wall", ColumnMeaning::time, Dimension::time},
    Known{"wall_time", ColumnMeaning::time, Dimension::time},
    Known{"run_time", ColumnMeaning::time, Dimension::time},
    Known{"runtime", ColumnMeaning::time, Dimension::time},
    Known{"elapsed", ColumnMeaning::time, Dimension::time},
    Known{"duration", ColumnMeaning::time, Dimension::time},
    Known{"step", ColumnMeaning::time, Dimension::time},
    Known{"step_time", ColumnMeaning::time, Dimension::time},
    Known{"iter", ColumnMeaning::time, Dimension::time},
    Known{"iter_time", ColumnMeaning::time, Dimension::time},
    Known{"iteration", ColumnMeaning::time, Dimension::time},
    Known{"iteration_time", ColumnMeaning::time, Dimension::time},
    Known{"compute", ColumnMeaning::compute, Dimension::time},
    Known{"comp", ColumnMeaning::compute, Dimension::time},
    Known{"comm", ColumnMeaning::communication, Dimension::time},
    Known{"communication", ColumnMeaning::communication, Dimension::time},
    Known{"idle", ColumnMeaning::idle, Dimension::time},
    Known{"host", ColumnMeaning::host, Dimension::time},
    Known{"io", ColumnMeaning::io, Dimension::time},
    Known{"quality", ColumnMeaning::quality},
    Known{"accuracy", ColumnMeaning::quality},
    Known{"work", ColumnMeaning::work},
    Known{"items", ColumnMeaning::work},
    Known{"tokens", ColumnMeaning::work},
    Known{"samples", ColumnMeaning::work},
    Known{"throughput", ColumnMeaning::throughput},
    Known{"energy", ColumnMeaning::energy, Dimension::energy},
    Known{"power", ColumnMeaning::power, Dimension::power},
    Known{"rate_usd_per_hour", ColumnMeaning::price},
    Known{"price_usd_per_hour", ColumnMeaning::price},
    Known{"usd_per_hour", ColumnMeaning::price},
    Known{"usd_per_gpu_hour", ColumnMeaning::price},
    Known{"tp", ColumnMeaning::tensor},
    Known{"tensor_parallel", ColumnMeaning::tensor},
    Known{"tensor_parallelism", ColumnMeaning::tensor},
    Known{"pp", ColumnMeaning::pipeline},
    Known{"pipeline_parallel", ColumnMeaning::pipeline},
    Known{"pipeline_parallelism", ColumnMeaning::pipeline},
    Known{"cp", ColumnMeaning::context},
    Known{"context_parallel", ColumnMeaning::context},
    Known{"context_parallelism", ColumnMeaning::context},
    Known{"dp", ColumnMeaning::data},
    Known{"data_parallel", ColumnMeaning::data},
    Known{"data_parallelism", ColumnMeaning::data},
    Known{"ep", ColumnMeaning::expert},
    Known{"expert_parallel", ColumnMeaning::expert},
    Known{"expert_parallelism", ColumnMeaning::expert},
    Known{"batch", ColumnMeaning::batch},
    Known{"global_batch", ColumnMeaning::batch},
    Known{"global_batch_size", ColumnMeaning::batch},
    Known{"batch_size", ColumnMeaning::batch},
    Known{"gbs", ColumnMeaning::batch},
    Known{"batch_per_dp", ColumnMeaning::replica_batch},
    Known{"micro_batch", ColumnMeaning::micro_batch},
    Known{"micro_batch_size", ColumnMeaning::micro_batch},
    Known{"mbs", ColumnMeaning::micro_batch},
    Known{"microbatches", ColumnMeaning::microbatches},
    Known{"micro_batches", ColumnMeaning::microbatches},
    Known{"gas", ColumnMeaning::microbatches},
    Known{"accumulation_steps", ColumnMeaning::microbatches},
    Known{"gradient_accumulation_steps", ColumnMeaning::microbatches},
    Known{"seq", ColumnMeaning::sequence_length},
    Known{"seq_len", ColumnMeaning::sequence_length},
    Known{"sequence_length", ColumnMeaning::sequence_length},
    Known{"steps", ColumnMeaning::steps},
    Known{"model", ColumnMeaning::identity},
    Known{"params", ColumnMeaning::identity},
    Known{"params_b", ColumnMeaning::identity},
    Known{"hidden", ColumnMeaning::identity},
    Known{"hidden_size", ColumnMeaning::identity},
    Known{"layers", ColumnMeaning::identity},
    Known{"scheme", ColumnMeaning::identity},
    Known{"system", ColumnMeaning::identity},
    Known{"benchmark", ColumnMeaning::identity},
    Known{"submitter", ColumnMeaning::identity},
    Known{"chip", ColumnMeaning::identity},
    Known{"gpu", ColumnMeaning::identity},
    Known{"accelerator", ColumnMeaning::identity},
};

constexpr std::array nodes{std::string_view("nodes"), std::string_view("slices")};
constexpr std::array loads{
    std::string_view("load"), std::string_view("users"), std::string_view("concurrency")};
constexpr std::array step_times{std::string_view("step"),
                                std::string_view("step_time"),
                                std::string_view("iter"),
                                std::string_view("iter_time"),
                                std::string_view("iteration"),
                                std::string_view("iteration_time")};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const char* example_unit(Dimension dimension) {
  return dimension == Dimension::time ? "s" : dimension == Dimension::energy ? "j" : "w";
}

/// The factor of the column's unit.
double factor_of(const HeaderWords& words,
                 Dimension dimension,
                 const std::string& header,
                 const std::string& place) {
  if (dimension == Dimension::none) return 1.0;
  if (dimension == Dimension::energy && words.unit == "mj") {
    throw UserError(fmt::format("{}: column '{}' may be mega- or millijoules; write it in kj or j",
                                place,
                                toml_file::printable(header)));
  }
  if (const auto factor = unit_factor(words.unit, dimension)) return *factor;
  throw UserError(
      fmt::format("{}: column '{}' has no unit; write it into the header, as {}_{} "
                  "(known: {})",
                  place,
                  toml_file::printable(header),
                  toml_file::printable(words.name),
                  example_unit(dimension),
                  unit_names(dimension)));
}

Per per_of(const HeaderWords& words) {
  if (words.per_step || among(step_times, words.name)) return Per::step;
  return words.per_run ? Per::run : Per::unstated;
}

}  // namespace

std::optional<TableColumn> table_column(const std::string& header, const std::string& place) {
  const HeaderWords words = header_words(header);
  TableColumn column;
  column.name = header;
  column.unit = words.unit;
  const auto name = std::find_if(
      known.begin(), known.end(), [&](const Known& one) { return one.name == words.name; });
  // A host without a unit is a machine's name.
  const bool machine =
      name != known.end() && name->meaning == ColumnMeaning::host && words.unit.empty();
  if (name != known.end() && !machine) {
    column.meaning = name->meaning;
    column.choice = static_cast<std::size_t>(name - known.begin());
    column.factor = factor_of(words, name->dimension, header, place);
    column.per = per_of(words);
    column.nodes = among(nodes, words.name);
    column.load = among(loads, words.name);
    return column;
  }
  if (const auto rate = rate_words(words)) {
    column.meaning = rate->energy ? ColumnMeaning::energy_per_work : ColumnMeaning::throughput;
    // After a plain "throughput": rates of what users want, then FLOP/s, then parts of a peak.
    column.choice = known.size() + (rate->relative ? 2 : rate->flops ? 1 : 0);
    column.factor = rate->factor;
    column.per_rank = rate->per_rank;
    column.flops = rate->flops;
    column.relative = rate->relative;
    return column;
  }
  if (auto latency = latency_words(words)) {
    column.meaning = ColumnMeaning::latency;
    column.latency = std::move(*latency);
    column.factor = factor_of(words, Dimension::time, header, place);
    return column;
  }
  return std::nullopt;
}

bool may_choose(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::count || meaning == ColumnMeaning::throughput;
}

std::string known_columns() {
  return "p (or gpus, ranks, nodes, workers), time_s (step_s for one step), compute_s, comm_s, "
         "idle_s, host_s, io_s, repeat, quality, work (or items, tokens), tokens_per_s or another "
         "rate, "
         "rate_usd_per_hour, energy_j, power_w, p99_ms or ttft_p99_ms, tp, pp, cp, dp, batch, "
         "microbatches; times in us, ms, s, min, h or days";
}

}  // namespace scaleworth::cli
