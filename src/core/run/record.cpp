// SPDX-License-Identifier: Apache-2.0
#include "src/core/run/record.h"

#include "src/core/error.h"

#include <algorithm>

namespace scaleworth {
namespace {

template <class Items>
auto find_by_name(const Items& items, const std::string& name) -> decltype(items.data()) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

template <class T>
const T& parameter_as(const Point& point, const std::string& name, const char* type) {
  const auto found = point.parameters.find(name);
  if (found == point.parameters.end()) {
    throw UserError("run.json: a point lacks the parameter '" + name + "'; measure again");
  }
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw UserError("run.json: the parameter '" + name + "' is not " + type + "; measure again");
}

template <class Map>
const auto& entry(const Map& map, const std::string& name, const char* kind) {
  const auto found = map.find(name);
  if (found == map.end()) {
    throw UserError(std::string("run.json: a point lacks the ") + kind + " '" + name +
                    "'; measure again");
  }
  return found->second;
}

}  // namespace

const Fact* find_fact(const Run& run, const std::string& section, const std::string& name) {
  const FactSection* found = find_by_name(run.environment, section);
  return found == nullptr ? nullptr : find_by_name(found->facts, name);
}

const ProbeRecord* find_probe(const Run& run, const std::string& name) {
  return find_by_name(run.probes, name);
}

std::int64_t integer_parameter(const Point& point, const std::string& name) {
  return parameter_as<std::int64_t>(point, name, "an integer");
}

const std::string& text_parameter(const Point& point, const std::string& name) {
  return parameter_as<std::string>(point, name, "a text");
}

bool flag_parameter(const Point& point, const std::string& name) {
  return parameter_as<bool>(point, name, "a truth value");
}

double amount(const Point& point, const std::string& name) {
  return entry(point.amounts, name, "amount");
}

const std::vector<double>& series(const Point& point, const std::string& name) {
  return entry(point.samples, name, "series");
}

}  // namespace scaleworth
