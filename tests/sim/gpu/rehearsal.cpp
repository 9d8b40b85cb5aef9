// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/rehearsal.h"

#include "src/core/error.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::sim {
namespace {

constexpr int most_gpus = 16;
constexpr double slow_factor = 0.8;
constexpr int questions_until_lost = 20;
constexpr double memory_share = 0.25;
constexpr double collective_memory_share = 1.0 / 64.0;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const GpuDatasheet& datasheet_of(std::string_view kind) {
  std::string known;
  for (const GpuDatasheet& datasheet : gpu_catalogue()) {
    if (datasheet.compute_capability == 0) continue;  // not NVIDIA's: never measured
    if (datasheet.id == kind) return datasheet;
    known += (known.empty() ? "" : ", ") + datasheet.id;
  }
  throw UserError(fmt::format("SCALEWORTH_SIM_KIND={}: use one of {}", kind, known));
}

void inject(const std::string& fault, std::vector<GpuTruth>& truths) {
  if (fault == "no-peers") {
    for (GpuTruth& truth : truths) truth.link.peer_access = false;
    return;
  }
  const std::size_t colon = fault.find(':');
  // Without a number, none of the GPUs.
  const int gpu =
      colon == std::string::npos ? -1 : whole_number(fault.substr(colon + 1)).value_or(-1);
  const std::string kind = fault.substr(0, colon);
  const bool known = kind == "slow" || kind == "lost" || kind == "memory";
  if (!known || gpu < 0 || gpu >= static_cast<int>(truths.size())) {
    throw UserError(fmt::format(
        "SCALEWORTH_SIM_FAULT={}: use slow:N, lost:N or memory:N with a GPU from 0 to {}, or "
        "no-peers",
        fault,
        truths.size() - 1));
  }
  GpuTruth& truth = truths[static_cast<std::size_t>(gpu)];
  if (kind == "slow") truth.fault.slow_factor = slow_factor;
  if (kind == "lost") truth.fault.lost_after = questions_until_lost;
  if (kind == "memory") {
    truth.fault.out_of_memory_above = memory_share * truth.description.memory;
    truth.fault.collectives_out_of_memory_above =
        collective_memory_share * truth.description.memory;
  }
}

}  // namespace

RehearsalWishes wishes_from_environment() {
  return {variable("SCALEWORTH_SIM_GPUS"),
          variable("SCALEWORTH_SIM_KIND"),
          variable("SCALEWORTH_SIM_FAULT")};
}

std::vector<GpuTruth> rehearsal_truths(const RehearsalWishes& wishes) {
  const auto count = wishes.gpus.empty() ? std::optional(1) : whole_number(wishes.gpus);
  if (!count || *count < 1 || *count > most_gpus) {
    throw UserError(
        fmt::format("SCALEWORTH_SIM_GPUS={}: use a number from 1 to {}", wishes.gpus, most_gpus));
  }
  const GpuDatasheet& datasheet = datasheet_of(wishes.kind.empty() ? "h100-sxm-80gb" : wishes.kind);
  std::vector<GpuTruth> truths;
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    truths.push_back(truth_of(datasheet, ordinal));
  }
  std::istringstream faults(wishes.fault);
  for (std::string fault; std::getline(faults, fault, ',');) inject(fault, truths);
  return truths;
}

}  // namespace scaleworth::sim
