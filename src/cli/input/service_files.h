// SPDX-License-Identifier: Apache-2.0
/// What was measured of a server under load, and the demand for it, from files.
#pragma once

#include "src/model/transformer/demand.h"

#include <string>
#include <vector>

namespace scaleworth::cli {
/// The points of a service curve and what is to be said of them.
struct ServiceFile {
  std::vector<model::ServicePoint> points;
  std::vector<std::string> doubts{};  // why the figures may be wrong
  std::vector<std::string> remarks{};
};

/// A table with a row per load: concurrency, a rate of requests or tokens, latencies. Throws
/// UserError, with file and line, for what is no such table.
ServiceFile read_service_file(const std::string& path);

/// A table with a row per hour and its count of requests, or its requests per second.
std::vector<model::DemandHour> read_demand_hours(const std::string& path);
}  // namespace scaleworth::cli
