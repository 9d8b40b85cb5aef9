// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/laws/published_tables.h"

#include "src/core/statistics/sample_statistics.h"
#include "tests/unit/model/public_tables.h"

#include <functional>
#include <map>
#include <optional>

namespace scaleworth::model::published {
namespace {

using tests::public_rows;
using Cells = tests::PublicRow;
using Text = std::function<std::string(const Cells&)>;
using Value = std::function<double(const Cells&)>;

double number(const Cells& row, const std::string& column) {
  return std::stod(row.at(column));
}

Text column(const std::string& name) {
  return [=](const Cells& row) { return row.at(name); };
}

std::string alone(const Cells&) {
  return "all";
}

Value seconds(const std::string& name) {
  return [=](const Cells& row) { return number(row, name); };
}

/// The time of the same work is 1 / rate of all ranks,
Value rate(const std::string& name) {
  return [=](const Cells& row) { return 1.0 / number(row, name); };
}

/// or 1 / (count x rate per rank).
Value rate_per_rank(const std::string& name, const std::string& count) {
  return [=](const Cells& row) { return 1.0 / (number(row, name) * number(row, count)); };
}

/// What a table's rows are read as. A row without a group is left out.
struct Reading {
  std::string file;
  Text group = alone;
  std::string count = "gpus";
  Value time;
};

/// Groups of three counts or more; of runs at one count the median.
std::vector<std::vector<TimePoint>> series_of(const Reading& reading) {
  std::map<std::string, std::map<int, std::vector<double>>> groups;
  for (const Cells& row : public_rows(reading.file)) {
    const std::string group = reading.group(row);
    if (group.empty()) continue;
    const int count = std::stoi(row.at(reading.count));
    groups[group][count].push_back(reading.time(row));
  }
  std::vector<std::vector<TimePoint>> series;
  for (const auto& [group, counts] : groups) {
    if (counts.size() < 3) continue;
    std::vector<TimePoint>& points = series.emplace_back();
    for (const auto& [count, times] : counts) {
      points.push_back({static_cast<double>(count), median(times).value()});
    }
  }
  return series;
}

/// One system per row, a column per count.
std::vector<std::vector<TimePoint>> columns_of(const std::string& file,
                                               const std::map<int, std::string>& columns) {
  std::vector<std::vector<TimePoint>> series;
  for (const Cells& row : public_rows(file)) {
    std::vector<TimePoint>& points = series.emplace_back();
    for (const auto& [count, name] : columns)
      points.push_back({static_cast<double>(count), 1.0 / number(row, name)});
  }
  return series;
}

/// vTrain's models that are split in one way only.
Text split_by(const std::string& kept) {
  return [=](const Cells& row) -> std::string {
    for (const std::string split : {"tensor", "data", "pipeline"}) {
      if (split != kept && row.at(split + " parallelism") != "1") return {};
    }
    std::string key;
    for (const char* name : {"global batch", "micro batch", "hidden size", "# layers"}) {
      key += row.at(name) + "/";
    }
    return key;
  };
}

std::string lora(const Cells& row) {
  const bool kept =
      row.at("benchmark") == "llama2_70b_lora" && row.at("submitter") == "smc-ac-power";
  return kept ? "lora" : "";
}

std::vector<DataSet> weak_sets() {
  const auto of_slices = rate_per_rank("tflops_per_chip", "slices");
  return {{"MaxText v5e",
           true,
           series_of({"maxtext_v5e_multislice_weak.csv", column("params"), "slices", of_slices})},
          {"MaxText v4",
           true,
           series_of({"maxtext_v4_multislice_weak.csv", column("params"), "slices", of_slices})},
          {"Megatron 2021, weak",
           true,
           series_of({"megatron_sc21_table1.csv",
                      alone,
                      "gpus",
                      rate_per_rank("achieved_tflops_per_gpu_incl_recompute", "gpus")})},
          {"Megatron Core, weak",
           true,
           series_of({"megatron_core_r08_h100_weak.csv",
                      alone,
                      "gpus",
                      rate_per_rank("tflops_per_gpu", "gpus")})}};
}

std::vector<DataSet> training_sets() {
  const std::string vtrain = "vtrain_ground_truth_single.csv";
  const auto step = seconds("iteration time (ms)");
  // The MFU of the three counts that the table's notes give: 47, 44 and 42 %.
  const std::vector<TimePoint> core{{96, 1.0 / (96 * 47.0), std::nullopt},
                                    {2304, 1.0 / (2304 * 44.0), std::nullopt},
                                    {4608, 1.0 / (4608 * 42.0), std::nullopt}};
  const auto scheme = [](const Cells& row) { return row.at("scheme") + row.at("params_B"); };
  return {{"Megatron 2021, strong",
           false,
           series_of({"megatron_sc21_table2_zero3.csv",
                      scheme,
                      "gpus",
                      rate_per_rank("tflops_per_gpu", "gpus")})},
          {"Megatron Core, strong", false, {core}},
          {"MT-NLG", false, series_of({"mtnlg_530b_strong.csv", alone, "gpus", seconds("iter_s")})},
          {"nanotron",
           false,
           series_of({"nanotron_best_configs_h100.csv",
                      column("params_B"),
                      "nodes",
                      rate_per_rank("mfu_pct", "nodes")})},
          {"MLPerf LoRA",
           false,
           series_of({"mlperf_power_runs.csv", lora, "system", seconds("time_s")})},
          {"vTrain, data", false, series_of({vtrain, split_by("data"), "GPUs", step})},
          {"vTrain, tensor", false, series_of({vtrain, split_by("tensor"), "GPUs", step})}};
}

std::vector<DataSet> throughput_sets() {
  return {{"ray tracer",
           false,
           series_of({"usl_raytracer.csv", alone, "processors", rate("throughput")})},
          {"SDM91", false, series_of({"usl_specsdm91.csv", alone, "load", rate("throughput")})},
          {"TensorRT-LLM",
           false,
           columns_of("trtllm_llama33_70b_throughput.csv",
                      {{1, "RTX6000Pro 1GPU TP1PP1 FP4"},
                       {2, "RTX6000Pro 2GPU PP2"},
                       {4, "RTX6000Pro 4GPU PP4"},
                       {8, "RTX6000Pro 8GPU PP8"}})},
          {"vLLM on an H100",
           false,
           series_of({"yobitel_vllm_h100_llama31_8b_concurrency.csv",
                      alone,
                      "concurrency",
                      rate("tok_per_s")})},
          {"vLLM on a 4090",
           false,
           series_of({"mushfiq_vllm_4090_mistral7b_concurrency.csv",
                      alone,
                      "concurrency",
                      rate("out_tok_per_s")})}};
}

}  // namespace

std::vector<DataSet> data_sets() {
  if (public_rows("usl_raytracer.csv").empty()) return {};
  std::vector<DataSet> sets = weak_sets();
  for (auto& set : training_sets()) sets.push_back(std::move(set));
  for (auto& set : throughput_sets()) sets.push_back(std::move(set));
  return sets;
}

DataSet data_set(const std::string& name) {
  for (DataSet& set : data_sets()) {
    if (set.name == name) return set;
  }
  return {};
}

}  // namespace scaleworth::model::published
