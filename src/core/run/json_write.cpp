// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/run/json.h"
#include "src/core/run/status.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth {
namespace {

using nlohmann::ordered_json;

// Levels that are broken into lines: run, probes, probe, points. Deeper values fill one line each.
constexpr int broken_levels = 4;

double finite(double number, const std::string& place) {
  if (std::isfinite(number)) return number;
  throw ProbeFailure(
      fmt::format("{} is {}: the measurement is broken and is not recorded", place, number));
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json value_json(const Value& value, const std::string& name) {
  if (const double* number = std::get_if<double>(&value)) return finite(*number, name);
  return std::visit([](const auto& held) { return ordered_json(held); }, value);
}

ordered_json numbers_json(const std::map<std::string, double>& numbers) {
  ordered_json result = ordered_json::object();
  for (const auto& [name, number] : numbers) result[name] = finite(number, name);
  return result;
}

ordered_json series_json(const std::string& name, const std::vector<double>& series) {
  ordered_json result = ordered_json::array();
  for (std::size_t i = 0; i < series.size(); ++i) {
    result.push_back(std::isfinite(series[i]) ? series[i]
                                              : finite(series[i], fmt::format("{}[{}]", name, i)));
  }
  return result;
}

ordered_json point_json(const Point& point) {
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : point.parameters) parameters[name] = value_json(value, name);
  ordered_json samples = ordered_json::object();
  for (const auto& [name, series] : point.samples) samples[name] = series_json(name, series);
  return {{"parameters", std::move(parameters)},
          {"amounts", numbers_json(point.amounts)},
          {"samples", std::move(samples)},
          {"stop_reason", text_or_null(point.stop_reason)},
          {"warnings", point.warnings}};
}

ordered_json probe_json(const ProbeRecord& probe) {
  ordered_json points = ordered_json::array();
  for (const Point& point : probe.points) points.push_back(point_json(point));
  return {{"name", probe.name},
          {"status", probe_status_name(probe.status)},
          {"reason", text_or_null(probe.reason)},
          {"duration_s", finite(probe.duration_s, probe.name + " duration_s")},
          {"losses", numbers_json(probe.losses)},
          {"warnings", probe.warnings},
          {"points", std::move(points)}};
}

ordered_json section_json(const FactSection& section) {
  ordered_json facts = ordered_json::array();
  for (const Fact& fact : section.facts) {
    facts.push_back({{"name", fact.name},
                     {"value", fact.value ? value_json(*fact.value, fact.name) : nullptr},
                     {"source", fact.source}});
  }
  return {{"name", section.name}, {"facts", std::move(facts)}};
}

ordered_json run_json(const Run& run) {
  ordered_json environment = ordered_json::array();
  for (const FactSection& section : run.environment) environment.push_back(section_json(section));
  ordered_json probes = ordered_json::array();
  for (const ProbeRecord& probe : run.probes) probes.push_back(probe_json(probe));
  return {{"schema_version", run_schema_version},
          {"tool_version", run.tool_version},
          {"git_revision", run.git_revision},
          {"started_at", run.started_at},
          {"command_line", run.command_line},
          {"suite", run.suite},
          {"complete", run.complete},
          {"interruption", text_or_null(run.interruption)},
          {"warnings", run.warnings},
          {"files", run.files},
          {"environment", std::move(environment)},
          {"probes", std::move(probes)}};
}

std::string compact(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void print(std::string& out, const ordered_json& value, int level) {
  const bool object = value.is_object();
  if (!value.is_structured() || value.empty() || level >= broken_levels ||
      (value.is_array() && !value.front().is_structured())) {
    out += compact(value);
    return;
  }
  const std::string indent(level + 1, ' ');
  out += object ? "{" : "[";
  const char* separator = "\n";
  for (const auto& [key, item] : value.items()) {
    out += separator + indent;
    if (object) out += compact(key) + ": ";
    print(out, item, level + 1);
    separator = ",\n";
  }
  out += "\n" + std::string(level, ' ') + (object ? "}" : "]");
}

}  // namespace

std::string run_to_json(const Run& run) {
  std::string text;
  print(text, run_json(run), 0);
  text += '\n';
  return text;
}

void require_finite(const Point& point) {
  for (const auto& [name, value] : point.parameters) {
    if (const double* number = std::get_if<double>(&value)) finite(*number, name);
  }
  for (const auto& [name, number] : point.amounts) finite(number, name);
  for (const auto& [name, series] : point.samples) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (!std::isfinite(series[i])) finite(series[i], fmt::format("{}[{}]", name, i));
    }
  }
}

}  // namespace scaleworth
