// SPDX-License-Identifier: Apache-2.0
#include "report/decide/row_json.h"

namespace scaleworth::report {
namespace {

constexpr double seconds_per_hour = 3600.0;

Json layout_json(const decide::Layout& layout) {
  if (layout.empty()) return nullptr;
  return {{"tensor", json_value(layout.tensor)},
          {"pipeline", json_value(layout.pipeline)},
          {"context", json_value(layout.context)},
          {"data", json_value(layout.data)},
          {"expert", json_value(layout.expert)}};
}

Json latencies_json(const std::vector<decide::Latency>& latencies) {
  Json json = Json::object();
  for (const decide::Latency& latency : latencies) {
    json[latency.name] = json_value(latency.seconds);
  }
  return json;
}

}  // namespace

Json row_facts_json(const decide::DecisionRow& row) {
  const decide::RowFacts& facts = row.facts;
  Json json{{"gustafson_serial", json_value(row.gustafson_serial)},
            {"layout", layout_json(facts.layout)},
            {"batch", json_value(facts.batch)},
            {"sequence_length", json_value(facts.sequence_length)},
            {"microbatches", json_value(facts.microbatches)},
            {"rate_usd_per_hour", nullptr},
            {"power_w", json_value(facts.power_w)},
            {"latencies_s", latencies_json(facts.latencies)}};
  if (facts.price) {
    json["rate_usd_per_hour"] = json_value(facts.price->value() * seconds_per_hour);
  }
  return json;
}

const char* times_of_name(decide::TimeBasis basis) {
  switch (basis) {
    case decide::TimeBasis::run:
      return "run";
    case decide::TimeBasis::step:
      return "step";
    case decide::TimeBasis::work_unit:
      break;
  }
  return "units of work";
}

const char* counts_of_name(decide::Axis axis) {
  switch (axis) {
    case decide::Axis::ranks:
      return "ranks";
    case decide::Axis::nodes:
      return "nodes";
    case decide::Axis::load:
      break;
  }
  return "load";
}

}  // namespace scaleworth::report
