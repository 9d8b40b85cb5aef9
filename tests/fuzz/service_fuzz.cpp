// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a service curve, the output of a load generator, single latencies or a demand by
/// the hour: refused with one line, or finite figures that a plan can be made of.
#include "src/cli/input/imports.h"
#include "src/core/error.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {
using namespace scaleworth;

void check(bool holds) {
  if (!holds) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  model::DemandQuestion question;
  question.hours = {{1.0}};
  question.tokens_per_request = 100.0;
  try {
    question.hours = cli::parse_demand_hours(text, "hours.csv");
  } catch (const UserError&) {
  }
  try {
    cli::ServiceFile file = cli::parse_service_file(text, "curve.json");
    for (const model::LatencySamples& samples : file.samples)
      check(!samples.sorted.empty() && samples.sorted.front() > 0.0);
    question.curve = std::move(file.points);
    question.samples = std::move(file.samples);
    const model::DemandAnswer answer = model::plan_demand(question);
    if (answer.capacity) check(std::isfinite(answer.utilisation) && answer.replicas > 0);
  } catch (const UserError&) {
  }
  return 0;
}
