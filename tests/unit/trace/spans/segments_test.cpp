// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/segments.h"

#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"

#include <limits>

using namespace scaleworth;
using namespace scaleworth::testing;
using scaleworth::trace::segment;
using namespace std::chrono_literals;

namespace {

Timeline one_step(std::vector<Span> spans) {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.spans = std::move(spans);
  timeline.spans.push_back(span(0, Activity::step, 100, 200));
  return timeline;
}

}  // namespace

TEST_CASE("of two overlapping spans the earlier one keeps the common time", "[segments]") {
  const auto result =
      segment(one_step({span(0, Activity::host, 140, 170), span(0, Activity::compute, 110, 150)}));
  const auto& segments = result.steps.at(0).segments;
  REQUIRE(segments.size() == 2);
  REQUIRE(segments[0].end == 150ns);
  REQUIRE(segments[1].start == 150ns);
  REQUIRE(segments[1].end == 170ns);
  REQUIRE(result.losses.overlapping_spans == 1);
  REQUIRE(result.losses.overlapping_time == 10ns);
}

TEST_CASE("a span inside another one is dropped and its time counted", "[segments]") {
  const auto result =
      segment(one_step({span(0, Activity::compute, 110, 150), span(0, Activity::host, 120, 130)}));
  REQUIRE(result.steps.at(0).segments.size() == 1);
  REQUIRE(result.losses.overlapping_time == 10ns);
}

TEST_CASE("spans are clipped to their step", "[segments]") {
  const auto result = segment(one_step({span(0, Activity::compute, 90, 120),
                                        span(0, Activity::compute, 190, 230),
                                        span(0, Activity::compute, 300, 305)}));
  const auto& segments = result.steps.at(0).segments;
  REQUIRE(segments.size() == 2);
  REQUIRE(segments[0].start == 100ns);
  REQUIRE(segments[1].end == 200ns);
  REQUIRE(result.losses.outside_spans == 3);
  REQUIRE(result.losses.outside_time == 45ns);  // 10 + 30 + 5
}

TEST_CASE("impossible spans are counted and ignored", "[segments]") {
  const std::int64_t extreme = std::numeric_limits<std::int64_t>::max();
  const auto result = segment(one_step({span(0, Activity::compute, 150, 120),
                                        span(7, Activity::compute, 110, 120),
                                        span(0, Activity::compute, -extreme, extreme)}));
  REQUIRE(result.steps.at(0).segments.empty());
  REQUIRE(result.losses.invalid_spans == 3);
}

TEST_CASE("a doubled step, a missing step and a span without step are counted", "[segments]") {
  Timeline timeline = one_step({span(0, Activity::step, 100, 150)});
  timeline.ranks = 2;
  timeline.spans.push_back(span(1, Activity::compute, 100, 150));
  const auto result = segment(timeline);
  REQUIRE(result.losses.duplicate_steps == 1);
  REQUIRE(result.losses.missing_steps == 1);
  REQUIRE(result.losses.orphan_spans == 1);
  REQUIRE(loss_counters(result.losses).size() == 3);
}
