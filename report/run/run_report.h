// SPDX-License-Identifier: Apache-2.0
/// Run and `Analysis` -> `Document`, in order.
#pragma once

#include "report/document.h"
#include "report/table.h"
#include "src/core/files/fields.h"
#include "src/model/analysis.h"

namespace scaleworth::report {
// The report's sections, one function each; an empty section (no tables, no text) is not shown.

/// What was measured on: facts with their sources.
Section machine_section(const Run& run);
/// Ceilings, memory and latency levels, library kernels under the roof.
Section roofline_section(const model::RooflineResult& roofline);
/// Alpha-beta per collective; isolated latency against back-to-back throughput.
/// Of GPUs: NCCL's choice, the fastest way by size.
Section collectives_section(const std::vector<model::CollectiveResult>& collectives,
                            const std::vector<model::AlgorithmResult>& algorithms,
                            const std::vector<model::LinkLevel>& levels = {},
                            const model::CommunicationModel& communication = {});
/// Of rows by scaling result the last of strong scaling, which heads the page; absent without one.
template <class Row>
std::optional<std::size_t> last_strong(const std::vector<Row>& rows) {
  return last_row(
      rows, [](const Row& row) { return std::get<0>(row.levels)->mode == BatchScaling::strong; });
}
/// An all-reduce by stated latency and bandwidth, in the report's formats.
std::string render_price(const model::AllReduceQuestion& question, const RenderOptions& options);
std::string price_schema();
/// Step time, speed-up, efficiency, where the step went, MFU.
Section training_section(const std::vector<model::ScalingResult>& scaling, Audience audience);
/// The laws and predictions by count; what `decide` says of the run beside them is its own.
Section forecast_section(const model::Analysis& analysis, Audience audience);
/// What each GPU can do and loses, transfers, and how evenly all run; empty without GPUs.
Section gpu_section(const model::Analysis& analysis);
/// The results among `run_findings()`, and of weak scaling the cause, a sentence each.
std::vector<std::string> results_of(const Run& run, const model::Analysis& analysis);
/// What makes it unreliable, then warnings, a sentence each.
std::vector<std::string> warnings_of(const model::RunFindings& findings,
                                     Audience audience = Audience::terminal);

Section warnings_section(const Run& run,
                         const model::Analysis& analysis,
                         const model::RunFindings& findings,
                         Audience audience);
Section unmeasured_section(const Run& run);

/// What a machine is and what else it did, in one sentence.
std::string machine_line(const Run& run);

using Gpus = std::vector<model::GpuResult>;

inline constexpr const char* gpu_section_id = "gpus";

/// "4 ranks [2, 8]", the law's count of least cost with its range, where that is one.
std::string cost_optimal_text(const model::ScalingLaw& law);

// The members of each result's JSON: base units with the unit in the key, null for absent.

void put_roofline(Fields& json, const model::RooflineResult& roofline);
void put_shape(Fields& json, const model::GemmShape& shape);
void put_conditions(Fields& json, const model::GpuConditions& conditions);
void put_against(Fields& json, const model::AgainstPeak& against);
void put_format(Fields& json, const model::GpuFormat& format);
void put_gpu(Fields& json, const model::GpuResult& gpu);
void put_gpus_together(Fields& json, const model::GpusTogether& together);
void put_collective(Fields& json, const model::CollectiveResult& collective);
void put_algorithms(Fields& json, const model::AlgorithmResult& result);
void put_scaling(Fields& json, const model::ScalingResult& scaling);

/// A value of a result, listed once: a column of its table, and a member of its JSON in the same
/// words, under the column's id with the ending of the unit or under a key of its own.
template <class T>
struct FieldOf {
  ColumnOf<T> column;
  std::function<void(Fields&, const T&)> put;

  template <class Project>
  FieldOf(const Column& of, Project project, const std::string& key = "")
      : column(of, project), put([=, id = of.id](Fields& json, const T& one) {
          const auto& value = std::invoke(project, one);
          const std::string_view ending = unit_ending<std::remove_cvref_t<decltype(value)>>;
          std::string name = id.ends_with(ending) ? id : id + std::string(ending);
          if (!key.empty()) name = key;
          if constexpr (requires { word_of(value); }) {
            json(name, std::string(word_of(value)));
          } else if constexpr (requires { word_of(*value); }) {
            json(name, value ? std::optional<std::string>(word_of(*value)) : std::nullopt);
          } else {
            json(name, value);
          }
        }) {}
  /// Of the table only.
  FieldOf(ColumnOf<T> of_table) : column(std::move(of_table)), put([](Fields&, const T&) {}) {}
};

/// The columns of a table whose rows are of type T or nested with it, after `columns`.
template <class Row, class T>
std::vector<ColumnOf<Row>> columns_of(const std::vector<FieldOf<T>>& fields,
                                      std::vector<ColumnOf<Row>> columns = {}) {
  for (const FieldOf<T>& field : fields) {
    columns.emplace_back(field.column.column, field.column.cell);
  }
  return columns;
}

template <class T>
void put_fields(Fields& json, const T& one, const std::vector<FieldOf<T>>& fields) {
  for (const FieldOf<T>& field : fields) field.put(json, one);
}
template <class T>
void put_array(Fields& json,
               std::string_view key,
               const std::vector<T>& list,
               const std::vector<FieldOf<T>>& fields) {
  json.array(key, list, [&](Fields& of, const T& one) { put_fields(of, one, fields); });
}

/// Column and value that name a GPU.
Column gpu_column();
int gpu_ordinal(const model::GpuResult& gpu);

/// Rows of a result of each GPU.
template <class T>
Table gpu_table(std::string id,
                std::string title,
                const std::vector<Nested<model::GpuResult, T>>& rows,
                const std::vector<FieldOf<T>>& fields) {
  using Row = Nested<model::GpuResult, T>;
  return make_table(std::move(id),
                    std::move(title),
                    rows,
                    columns_of<Row>(fields, {{gpu_column(), gpu_ordinal}}));
}
/// "rank-k"; empty where the product is of no family.
std::string family_of(const model::PlacedGemm& gemm);
/// "8192x8192x8192", with the batch where it is not 1.
std::string shape_text(const model::GemmShape& shape);

/// Whose ceilings, levels, roofs and products a table has: the cores, or one of the GPUs.
struct RooflineOwner {
  std::optional<int> gpu;
  const model::RooflineResult* of = nullptr;
  bool shown = true;  // in the summary
};
/// Ceilings, memory and latency levels, products under the roof, then every point of their sweeps.
std::vector<Table> roofline_tables(const std::vector<RooflineOwner>& owners);
/// Of one model, by default the first one's, the GPU that was measured most; null without GPUs.
const model::GpuResult* shown_gpu(const Gpus& gpus,
                                  const std::optional<std::string>& name = std::nullopt);
/// Of products: rates with their conditions and losses.
std::vector<Table> gpu_product_tables(const Gpus& gpus);
}  // namespace scaleworth::report
