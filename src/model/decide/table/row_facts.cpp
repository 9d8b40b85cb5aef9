// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/row_facts.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

struct Factor {
  const char* name;
  std::optional<int> Layout::*value;
};

constexpr std::array factors{Factor{"TP", &Layout::tensor},
                             Factor{"PP", &Layout::pipeline},
                             Factor{"CP", &Layout::context},
                             Factor{"DP", &Layout::data}};

std::string product_text(const Layout& layout, std::int64_t product) {
  std::string text;
  for (const Factor& factor : factors) {
    const auto& value = layout.*factor.value;
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : " x ", factor.name, *value);
  }
  return fmt::format("{} = {}", text, product);
}

}  // namespace

Layout layout_of_replica(const Layout& layout) {
  return {layout.tensor, layout.pipeline, layout.context, std::nullopt, layout.expert};
}

std::string layout_text(const Layout& layout) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, *value);
  };
  for (const Factor& factor : factors) add(factor.name, layout.*factor.value);
  add("EP", layout.expert);
  return text;
}

std::string layout_trouble(const Layout& layout, int count) {
  std::int64_t product = 1;
  for (const Factor& factor : factors) {
    const auto& value = layout.*factor.value;
    if (value && *value < 1)
      return fmt::format("{} is {}; it must be 1 or more", factor.name, *value);
    // Beyond any count it cannot come back to it, and would overflow.
    if (value && product <= count) product *= *value;
  }
  if (layout.data && product != count) {
    return fmt::format(
        "{}, not the count {}; correct one of them", product_text(layout, product), count);
  }
  if (count % product != 0) {
    return fmt::format("{} does not divide the count {}; correct one of them",
                       product_text(layout, product),
                       count);
  }
  return "";
}

std::optional<double> RowFacts::step_work() const {
  if (!batch) return std::nullopt;
  return *batch * sequence_length.value_or(1.0);
}

std::optional<double> RowFacts::latency_s(const std::string& name) const {
  const auto found = std::find_if(
      latencies.begin(), latencies.end(), [&](const Latency& one) { return one.name == name; });
  return found == latencies.end() ? std::nullopt : std::optional(found->seconds);
}

std::string disagreement(const RowFacts& one, const RowFacts& other) {
  if (!(one.layout == other.layout)) return "the layout";
  if (one.batch != other.batch || one.sequence_length != other.sequence_length) return "the batch";
  if (one.microbatches != other.microbatches) return "the number of microbatches";
  if (one.price != other.price) return "the price";
  return "";
}

RowFacts merged_facts(const std::vector<const RowFacts*>& repeats) {
  RowFacts facts = *repeats.front();
  facts.latencies.clear();
  double power = 0.0;
  int with_power = 0;
  for (const RowFacts* one : repeats) {
    if (one->power_w) {
      power += *one->power_w;
      ++with_power;
    }
    for (const Latency& latency : one->latencies) {
      const auto known = std::find_if(facts.latencies.begin(),
                                      facts.latencies.end(),
                                      [&](const Latency& l) { return l.name == latency.name; });
      if (known == facts.latencies.end()) {
        facts.latencies.push_back(latency);
      } else {
        known->seconds = std::max(known->seconds, latency.seconds);
      }
    }
  }
  if (with_power > 0) facts.power_w = power / with_power;
  return facts;
}

}  // namespace scaleworth::decide
