// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {

Decision decided(double fixed = 0.0, std::vector<Regime> regimes = {}) {
  DecisionRequest request;
  request.metrics.prices = hourly(3.20, fixed);
  request.regimes = std::move(regimes);
  return decide_table(breakdown_table(), request);
}

double percent(const DecisionRow& row, PartGroup part) {
  return 100.0 * *row.parts_s[index_of(part)] / row.time.value.value();
}

std::string breakdown_line(const DecisionRow& row) {
  return fmt::format("{:2} {:6.1f} {:8.2f} {:5.2f} {:7.3f} {:6.1f} {:6.1f}",
                     row.count,
                     row.time.value.value(),
                     row.speedup.value,
                     row.efficiency.value,
                     row.cost->value.value(),
                     percent(row, PartGroup::communication),
                     percent(row, PartGroup::idle));
}

}  // namespace

TEST_CASE("a time breakdown gives the published table, digit for digit", "[decide]") {
  const std::vector<std::string> expected = {" 1  800.0     1.00  1.00   0.711    0.0    0.0",
                                             " 2  430.0     1.86  0.93   0.764    4.2    2.8",
                                             " 4  260.0     3.08  0.77   0.924   13.1   10.0",
                                             " 8  206.0     3.88  0.49   1.465   28.2   23.3",
                                             "16  235.0     3.40  0.21   3.342   40.4   38.3"};
  std::vector<std::string> lines;
  for (const DecisionRow& row : decided().rows) lines.push_back(breakdown_line(row));
  CHECK(lines == expected);
}

TEST_CASE("marginal steps of a time breakdown are the published ones", "[decide]") {
  std::vector<std::string> lines;
  for (const MarginalStep& step : decided().steps) {
    lines.push_back(fmt::format("{}->{} {:.2f} {:.3f} {:.2f}",
                                step.from,
                                step.to,
                                step.speedup_gain,
                                step.cost_added.value(),
                                *step.speedup_per_dollar));
  }
  const std::vector<std::string> expected = {"1->2 0.86 0.053 16.13",
                                             "2->4 1.22 0.160 7.60",
                                             "4->8 0.81 0.540 1.49",
                                             "8->16 -0.48 1.877 -0.26"};
  CHECK(lines == expected);
  CHECK(decided().steps.back().kind == StepKind::loss);
  CHECK_FALSE(decided().steps.back().dollars_per_hour_saved);
}

TEST_CASE("the batch job takes 1, the interactive one 8 for 2.06 times the money", "[decide]") {
  const Decision decision = decided();
  CHECK(decision.choice->cheapest == 1);
  CHECK(decision.choice->fastest == 8);
  const double cheapest = decision.row(1).cost->value.value();
  const double fastest = decision.row(8).cost->value.value();
  CHECK(printed(fastest / cheapest, 2) == "2.06");
  CHECK(printed(fastest - cheapest, 3) == "0.754");
  CHECK(decision.row(1).time.value - decision.row(8).time.value == Seconds(594));
}

TEST_CASE("a rising Karp-Flatt metric tells overhead from a serial part", "[decide]") {
  std::vector<std::string> values;
  for (const DecisionRow& row : decided().rows) {
    if (row.karp_flatt) values.push_back(printed(row.karp_flatt->value, 4));
  }
  CHECK(values == std::vector<std::string>{"0.0750", "0.1000", "0.1514", "0.2467"});
}

TEST_CASE("the relative fit with free T1 puts the optimum at 9, inside its residual", "[decide]") {
  const Decision decision = decided();
  REQUIRE(decision.fit);
  CHECK(printed(decision.fit->single, 1) == "798.4");
  CHECK(printed(decision.fit->serial, 4) == "0.0539");
  CHECK(printed(decision.fit->coherency, 5) == "0.01212");
  CHECK(decision.fit->residual <= 0.004);
  const auto fitted = [&](int count) {
    return decision.fit->single *
           relative_time(decision.fit->serial, decision.fit->coherency, count);
  };
  CHECK(printed(fitted(9), 1) == "204.4");
  CHECK(printed(fitted(8), 1) == "205.2");
}

TEST_CASE("lost folds, shares of the loss and speed-ups without a part are the published ones",
          "[decide]") {
  std::vector<std::string> lines;
  const Decision decision = decided();
  for (const RowLoss& loss : decision.losses) {
    const Gap* gap = find_in(decision.diagnosis.gaps, loss.count, &Gap::count);
    lines.push_back(fmt::format("{} {:.3f} {:.1f} {:.3f} {:.3f}",
                                loss.count,
                                loss.missing,
                                100.0 * gap->share(Cause::communication),
                                *loss.without_communication,
                                *loss.without_idle));
  }
  CHECK(lines == std::vector<std::string>{"2 0.140 60.0 1.942 1.914",
                                          "4 0.923 56.7 3.540 3.419",
                                          "8 4.117 54.7 5.405 5.063",
                                          "16 12.596 51.4 5.714 5.517"});
}

TEST_CASE("no part explains 80 % of the loss: the mixture is told, no owner", "[decide]") {
  const Decision decision = decided();
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == std::nullopt);
  CHECK(decision.diagnosis.cause->mixture.front().first == Cause::communication);
  CHECK_THAT(decision.diagnosis.cause->explained, WithinAbs(95.0 / 185.0, 1e-12));
}

TEST_CASE("each single cause is named", "[decide]") {
  DecisionRequest request;
  const auto owner = [&](double compute, double communication, double idle) {
    const ScalingTable table =
        assemble({breakdown(1, 800, 0, 0), breakdown(8, compute, communication, idle)});
    return decide_table(table, request).diagnosis.cause->owner;
  };
  CHECK(owner(100, 90, 5) == Cause::communication);
  CHECK(owner(100, 5, 90) == Cause::idle);
  CHECK(owner(190, 5, 5) == Cause::slowdown);
}

TEST_CASE("the price cancels without a wall-clock term and not with one", "[decide]") {
  const std::vector<Regime> regimes{{"on-demand", PricePart{1.0, {}}},
                                    {"spot", PricePart{0.30, {}}},
                                    {"owned", PricePart{0.60, {}}}};
  const std::vector<std::string> expected = {".7111 .7644 .9244 1.4649 3.3422",
                                             ".2133 .2293 .2773 .4395 1.0027",
                                             ".4267 .4587 .5547 .8789 2.0053"};
  const Decision free = decided(0.0, regimes);
  REQUIRE(free.regimes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    std::string line;
    for (const std::optional<Dollars> cost : free.regimes[i].costs) {
      const std::string text = printed(cost->value(), 4);
      line += (line.empty() ? "" : " ") + (text[0] == '0' ? text.substr(1) : text);
    }
    CHECK(line == expected[i]);
    CHECK(free.regimes[i].choice->cheapest == 1);
    CHECK(free.regimes[i].choice->price_cancels);
  }
  const Decision billed = decided(2.0, regimes);
  CHECK(billed.regimes[0].choice->cheapest == 2);
  CHECK(billed.regimes[1].choice->cheapest == 4);
  CHECK(billed.regimes[2].choice->cheapest == 2);
}
