// SPDX-License-Identifier: Apache-2.0
/// Laws on published tables: what the larger counts were, from the smaller ones alone.
#include "src/model/scaling/forecast/bake_off.h"
#include "tests/catch.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const std::filesystem::path tables =
    std::filesystem::path(SCALEWORTH_SOURCE_DIR) / ".." / "shared" / "data" / "models";

using Cells = std::map<std::string, std::string>;
using Series = std::vector<std::vector<LawPoint>>;

std::vector<std::string> split(std::string line) {
  std::erase(line, '\r');
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Rows by column name; empty, with the reason on the output (ctest then shows the case as
/// skipped), without the table.
std::vector<Cells> rows_of(const std::string& name) {
  std::ifstream file(tables / name);
  if (!file) std::cout << "skipped: no published table at " << tables / name << "\n";
  std::vector<Cells> rows;
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = split(line);
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    Cells row;
    for (std::size_t i = 0; i < cells.size() && i < header.size(); ++i) row[header[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

/// One series per value of `group`; the time of the same work is 1 / (count x rate per rank).
Series series_of(const std::string& name,
                 const std::string& group,
                 const std::string& count,
                 const std::string& rate,
                 const std::function<bool(const Cells&)>& kept) {
  std::map<std::string, std::vector<LawPoint>> groups;
  for (const Cells& row : rows_of(name)) {
    if (!kept(row)) continue;
    const int ranks = std::stoi(row.at(count));
    const std::string key = group.empty() ? "" : row.at(group);
    groups[key].push_back({ranks, 1.0 / (ranks * std::stod(row.at(rate))), std::nullopt});
  }
  Series series;
  for (auto& [key, points] : groups) {
    std::sort(points.begin(), points.end(), [](const LawPoint& a, const LawPoint& b) {
      return a.ranks < b.ranks;
    });
    series.push_back(points);
  }
  return series;
}

/// Strong scaling of one model under one scheme.
Series megatron_series(const std::string& scheme, const std::string& parameters) {
  return series_of("megatron_sc21_table2_zero3.csv",
                   "params_B",
                   "gpus",
                   "tflops_per_gpu",
                   [&](const Cells& row) {
                     return row.at("scheme") == scheme && row.at("params_B") == parameters;
                   });
}

bool any(const Cells&) {
  return true;
}

Series up_to(const Series& series, int largest) {
  Series kept = series;
  for (auto& points : kept) {
    std::erase_if(points, [&](const LawPoint& at) { return at.ranks > largest; });
  }
  return kept;
}

/// Mean |relative error| of the time beyond `largest`, by the fits to what is not.
double held_out_error(const LawFamily& family, const Series& series, int largest) {
  const Series known = up_to(series, largest);
  double sum = 0.0;
  int errors = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const FittedLaw law = family.fit(known[i]);
    for (const LawPoint& at : series[i]) {
      if (at.ranks <= largest) continue;
      sum += std::abs(law.time(at.ranks) / at.time - 1.0);
      ++errors;
    }
  }
  return sum / errors;
}

double least_error(const Series& series, int largest) {
  double least = 1e300;
  for (const LawFamily& family : short_families()) {
    least = std::min(least, held_out_error(family, series, largest));
  }
  return least;
}

/// The law chosen by the counts up to `largest` alone is no worse beyond them than the law that
/// turns out best, but for one percentage point. Nothing without the table.
void check_choice(const Series& series, int largest, bool weak) {
  if (series.empty()) return;
  const LawChoice choice = choose_law(up_to(series, largest), weak);
  INFO(choice.family.name);
  CHECK(held_out_error(choice.family, series, largest) <= least_error(series, largest) + 0.01);
}

}  // namespace

TEST_CASE("MaxText on up to 32 slices is predicted from four by a logarithmic loss", "[scaling]") {
  const Series series =
      series_of("maxtext_v5e_multislice_weak.csv", "params", "slices", "mfu_pct", any);
  if (series.empty()) return;
  const LawChoice choice = choose_law(up_to(series, 4), true);
  CHECK(choice.family.name == logarithmic_family);
  CHECK(held_out_error(choice.family, series, 4) <= 0.031);
  check_choice(series, 4, true);
  check_choice(
      series_of("maxtext_v5e_multislice_weak.csv", "params", "slices", "tflops_per_chip", any),
      4,
      true);
  check_choice(series_of("maxtext_v4_multislice_weak.csv",
                         "params",
                         "slices",
                         "tflops_per_chip",
                         [](const Cells& row) { return row.at("params") == "22B"; }),
               2,
               true);
}

TEST_CASE("published strong scaling is predicted by the first guess", "[scaling]") {
  check_choice(megatron_series("PTD-P", "174.6"), 768, false);
  check_choice(megatron_series("PTD-P", "529.6"), 1120, false);
  check_choice(megatron_series("ZeRO-3", "174.6"), 768, false);
  Series mtnlg = series_of("mtnlg_530b_strong.csv", "", "gpus", "iter_s", any);
  for (auto& points : mtnlg) {
    for (LawPoint& at : points) at.time = 1.0 / (at.time * at.ranks);  // the column is the time
  }
  check_choice(mtnlg, 2800, false);
}

TEST_CASE("published weak scaling over several models is predicted as well as by any law",
          "[scaling]") {
  check_choice(
      series_of(
          "megatron_sc21_table1.csv", "", "gpus", "achieved_tflops_per_gpu_incl_recompute", any),
      512,
      true);
  check_choice(
      series_of("megatron_core_r08_h100_weak.csv", "", "gpus", "tflops_per_gpu", any), 768, true);
}

TEST_CASE("the cliff of the best layouts at 64 nodes is beyond every law and flagged",
          "[scaling]") {
  const Series series = series_of(
      "nanotron_best_configs_h100.csv", "params_B", "nodes", "mfu_pct", [](const Cells& row) {
        return row.at("params_B") != "80.0";
      });
  for (const auto& points : series) {
    const auto result = bake_off(points);
    REQUIRE(result);
    CHECK(result->laws.front().worst > cliff_error);
  }
}

TEST_CASE("weak scaling without a cliff is not flagged", "[scaling]") {
  for (const auto& points :
       series_of("maxtext_v5e_multislice_weak.csv", "params", "slices", "mfu_pct", any)) {
    const auto result = bake_off(points);
    REQUIRE(result);
    CHECK(result->laws.front().held_out < 0.04);
    CHECK(result->laws.front().worst < cliff_error);
  }
}
