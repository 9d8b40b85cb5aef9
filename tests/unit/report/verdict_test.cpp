// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {

/// A strong-scaling count whose step is `milliseconds` with an interval of `percent` to each side.
model::DecisionRow row(int ranks, double milliseconds, double percent) {
  model::DecisionRow result;
  result.count = ranks;
  const double time = milliseconds * 1e-3;
  result.time = {Seconds(time),
                 Interval<Seconds>{Seconds(time * (1.0 - percent / 100.0)),
                                   Seconds(time * (1.0 + percent / 100.0))},
                 15};
  const double ideal = std::min(time, 0.1 / ranks);
  result.trained.ledger = fixture::ledgers(
      0, time, {{Part::compute, ideal / time}, {Part::exposed_transfer, 1.0 - ideal / time}});
  return result;
}

model::Analysis strong(std::vector<model::DecisionRow> rows) {
  model::ScalingResult result;
  result.mode = BatchScaling::strong;
  result.rows = std::move(rows);
  result.quality.held = true;
  fixture::add_decision(result, false);
  model::Analysis analysis;
  analysis.scaling = {result};
  return analysis;
}

bool starts_with(const Verdict& verdict, const std::string& text) {
  return verdict.headline.compare(0, text.size(), text) == 0;
}

}  // namespace

TEST_CASE("scaling is worth it when more ranks surely have less cost x time", "[verdict]") {
  // K T^2: 1 x 100^2 against 2 x 55^2 = 6050
  const Verdict verdict = judge(strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0)}));
  REQUIRE(verdict.answer == Answer::yes);
  REQUIRE(starts_with(verdict, "Yes: take 2, the balanced count (least cost x time)"));
}

TEST_CASE("scaling is not worth it when one rank surely has the least cost x time", "[verdict]") {
  // 2 x 90^2 = 16200
  const Verdict verdict = judge(strong({row(1, 100.0, 1.0), row(2, 90.0, 1.0)}));
  REQUIRE(verdict.answer == Answer::no);
  REQUIRE(starts_with(verdict, "No: take 1, the balanced count"));
}

TEST_CASE("the verdict abstains when the intervals do not separate the counts", "[verdict]") {
  // 2 x 70^2 = 9800, +- 20 %
  const Verdict verdict = judge(strong({row(1, 100.0, 10.0), row(2, 70.0, 10.0)}));
  REQUIRE(verdict.answer == Answer::unknown);
  REQUIRE(starts_with(verdict,
                      "Not known: the 95 % intervals do not separate 2 from 1; measure again on an "
                      "idle machine, with --repeat 5. By the figures alone take 2, "));
}

TEST_CASE("the verdict abstains when a step time has no interval", "[verdict]") {
  model::DecisionRow second = row(2, 55.0, 1.0);
  second.time.interval.reset();
  REQUIRE(judge(strong({row(1, 100.0, 1.0), second})).answer == Answer::unknown);
}

TEST_CASE("the verdict is the count of least cost x time, and names cheapest and fastest",
          "[verdict]") {
  // 2 x 55^2 = 6050, 4 x 45^2 = 8100
  const Verdict verdict = judge(strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0), row(4, 45.0, 1.0)}));
  REQUIRE(verdict.answer == Answer::yes);
  REQUIRE(starts_with(verdict, "Yes: take 2, "));
  const auto names_all = [](const std::string& line) {
    return line.find("Cheapest in rank-seconds 1 (100 ms), balanced 2, fastest 4 (45.0 ms)") !=
           std::string::npos;
  };
  REQUIRE(std::ranges::any_of(verdict.lines, names_all));
  REQUIRE(verdict.headline.find("; 4 would save 10.0 ms") != std::string::npos);
}

TEST_CASE("one count is not enough for a verdict", "[verdict]") {
  const Verdict verdict = judge(strong({row(1, 100.0, 1.0)}));
  REQUIRE(verdict.answer == Answer::unknown);
  REQUIRE(verdict.headline == "A training step takes 100 ms on 1 rank.");
  REQUIRE(verdict.action.find("two machines side by side") != std::string::npos);
}

TEST_CASE("losses that disagree leave the verdict open", "[verdict]") {
  auto analysis = strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0)});
  analysis.scaling[0].quality = {false, Finding(FindingId::losses_differ, 0.03, 1e-3)};
  const Verdict verdict = judge(analysis);
  REQUIRE(verdict.answer == Answer::unknown);
  REQUIRE(
      verdict.headline.find("losses differ across counts: largest relative difference 3.0e-02") !=
      std::string::npos);
}

TEST_CASE("a step time of zero leaves the verdict open", "[verdict]") {
  auto analysis = strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0)});
  analysis.scaling[0].rows[1].time.value = Seconds(0.0);
  REQUIRE(judge(analysis).answer == Answer::unknown);
}

TEST_CASE("an empty analysis has a verdict that abstains", "[verdict]") {
  REQUIRE(judge({}).answer == Answer::unknown);
}

TEST_CASE("without a price the verdict says how to give one", "[verdict]") {
  const Verdict verdict = judge(strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0)}));
  REQUIRE(verdict.lines.back().find("--price") != std::string::npos);
}

TEST_CASE("the verdict counts the warnings about the measurement", "[verdict]") {
  const auto analysis = strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0)});
  const RunFindings findings{
      {{FindingId::stated, "B"}}, {{FindingId::stated, "A"}, {FindingId::stated, "C"}}, {}};
  REQUIRE(judge(analysis, findings).lines.back().compare(0, 10, "2 warnings") == 0);
}

TEST_CASE("a run beside other programs never reads like a clean one", "[verdict]") {
  const auto analysis = strong({row(1, 100.0, 1.0), row(2, 55.0, 1.0)});
  const Verdict verdict = judge(analysis, {{}, {}, {{FindingId::other_programs, 0.34}}});
  REQUIRE(verdict.answer == Answer::unknown);
  REQUIRE(verdict.headline ==
          "Not reliable: other programs used 34 % of the CPUs during the run; run again on an idle "
          "machine.");
  // What the figures say alone is a line, and no advice.
  REQUIRE(verdict.lines.front() ==
          "By the figures alone 2 would be the balanced count (least cost x time).");
}

TEST_CASE("a warning is cut where the first sentence would be too long, the action never",
          "[verdict]") {
  std::string long_warning = "a";
  for (int i = 1; i < 40; ++i) long_warning += fmt::format(" w{}", i);
  const std::string sentence = not_reliable(long_warning, 3, "measure 1 again, with the work of 8");
  // 2 words before it, 8 behind it: 19 words of it and the dots that say that it is cut.
  CHECK(word_count(sentence) == most_first_words);
  CHECK(sentence.find("w18 ...; measure 1 again, with the work of 8.") != std::string::npos);
  CHECK(not_reliable("too old", 3, "run again") ==
        "Not reliable: too old, and 2 more warnings; run again.");
}

TEST_CASE("a law's line says how far each doubling pays", "[verdict]") {
  auto analysis = strong({row(1, 100.0, 1.0), row(2, 52.0, 1.0)});
  model::ScalingLaw law;
  law.prediction = true;
  // 100, 52, 28, 25: the gains are 1.92, 1.86, 1.12; sqrt 2 = 1.41 stops at 4
  const double times[] = {100.0, 52.0, 40.0, 28.0, 27.0, 26.0, 25.5, 25.0};
  for (int ranks = 1; ranks <= 8; ++ranks) {
    law.curve.push_back({ranks, row(ranks, times[ranks - 1], 1.0).time, {}, {}, ranks > 2});
    if (ranks % 2 == 0) {
      const double gain = times[ranks / 2 - 1] / times[ranks - 1];
      law.curve.back().doubling = {gain, Interval<double>{gain, gain}, 200};
    }
  }
  analysis.scaling[0].laws = {law};
  const Verdict verdict = judge(analysis);
  REQUIRE(std::any_of(verdict.lines.begin(), verdict.lines.end(), [](const std::string& line) {
    return line.find("doubling pays up to 4 ranks; extrapolated beyond 2 ranks") !=
           std::string::npos;
  }));
}
