// SPDX-License-Identifier: Apache-2.0
/// Energy and carbon of published runs.
#include "src/core/catalogue.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/cost.h"
#include "src/model/decision/scaling_row.h"
#include "tests/catch.h"
#include "tests/unit/model/public_tables.h"

#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// Runs of one benchmark on nodes metered at AC, as repeats of their number of nodes.
std::vector<TableRow> metered_runs(const std::string& benchmark) {
  std::vector<TableRow> rows;
  for (const auto& at : scaleworth::tests::public_rows("mlperf_power_runs.csv")) {
    if (at.at("submitter") != "smc-ac-power" || at.at("benchmark") != benchmark) continue;
    TableRow row;
    row.place = at.at("run");
    row.count = std::stoi(at.at("system"));
    row.time_s = std::stod(at.at("time_s"));
    row.energy_j = 1e3 * std::stod(at.at("energy_kJ"));
    if (!at.at("trained_samples").empty()) row.work = std::stod(at.at("trained_samples"));
    row.repeat = static_cast<int>(rows.size());
    rows.push_back(row);
  }
  return rows;
}

MetricsRequest in_the_usa() {
  MetricsRequest request;
  request.power.grams_per_kwh = find_region(grid_catalogue(), "USA").grams_per_kwh;
  return request;
}

}  // namespace

TEST_CASE("fine-tuning on 1, 8 and 64 metered nodes costs the published energy", "[energy]") {
  const auto runs = metered_runs("llama2_70b_lora");
  if (runs.empty()) return;
  const auto rows = decision_rows(assemble(runs), in_the_usa());
  REQUIRE(rows.size() == 3);
  const double times[] = {1686.7, 318.4, 117.1};
  const double speedups[] = {1.0, 5.30, 14.40};  // 1686.65/117.05 = 14.41
  const double efficiencies[] = {1.0, 0.662, 0.225};
  const double megajoules[] = {12.09, 14.72, 37.41};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK_THAT(rows[i].time.value.value(), WithinAbs(times[i], 0.06));
    CHECK_THAT(rows[i].speedup.value, WithinAbs(speedups[i], 0.011));
    CHECK_THAT(rows[i].efficiency.value, WithinAbs(efficiencies[i], 6e-4));
    CHECK_THAT(1e-6 * rows[i].energy->joules.value, WithinAbs(megajoules[i], 0.006));
    CHECK(rows[i].energy->metered);
  }
}

TEST_CASE("a node that waits draws 70 % of what it draws alone", "[energy]") {
  std::map<int, std::vector<double>> watts;
  for (const auto& at : scaleworth::tests::public_rows("mlperf_power_runs.csv")) {
    if (at.at("submitter") != "smc-ac-power" || at.at("benchmark") != "llama2_70b_lora") continue;
    watts[std::stoi(at.at("system"))].push_back(std::stod(at.at("mean_W_per_metered_node")));
  }
  if (watts.empty()) return;
  const double alone = *median(watts[1]);
  const double waiting = *median(watts[64]);
  CHECK_THAT(alone, WithinAbs(7160, 1));
  CHECK_THAT(*median(watts[8]), WithinAbs(5781, 1));
  CHECK_THAT(waiting, WithinAbs(4997, 1));
  CHECK_THAT(waiting / alone, WithinAbs(default_waiting_power, 0.005));
}

TEST_CASE("a trained token of GPT-3 costs 1.2376 J, the run 153 kg in the USA", "[energy]") {
  const auto runs = metered_runs("gpt3");
  if (runs.empty()) return;
  const auto rows = decision_rows(assemble(runs), in_the_usa());
  REQUIRE(rows.size() == 1);
  CHECK_THAT(*rows[0].energy_per_work, WithinAbs(1.2376, 5e-5));
  CHECK_THAT(1e-6 * rows[0].energy->joules.value, WithinAbs(1494.9, 0.05));
  CHECK_THAT(rows[0].energy->facility_kwh.value, WithinAbs(415, 0.5));
  CHECK_THAT(rows[0].energy->grams->value / 1000.0, WithinAbs(153, 0.5));
}

TEST_CASE("the published energy and carbon of LLaMA follow from hours, power and PUE", "[energy]") {
  PowerTerms terms;
  terms.power_usage_effectiveness = 1.1;
  terms.grams_per_kwh = 385.0;
  for (const auto& at : scaleworth::tests::public_rows("llama1_table15_energy_carbon.csv")) {
    terms.watts_per_rank = std::stod(at.at("gpu_W"));
    const Estimate<Seconds> time{Seconds(3600.0 * std::stod(at.at("gpu_hours"))), std::nullopt, 0};
    const auto energy = rated_energy(terms, 1, time, 1.0);
    REQUIRE(energy);
    // Printed without decimals, some cut and not rounded.
    CHECK_THAT(energy->facility_kwh.value / 1e3, WithinRel(std::stod(at.at("MWh")), 0.01));
    CHECK_THAT(energy->grams->value / 1e6, WithinRel(std::stod(at.at("tCO2eq")), 0.01));
  }
}
