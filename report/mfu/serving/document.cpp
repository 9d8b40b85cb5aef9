// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"
#include "report/mfu/serving/serving_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr std::size_t longest = 60;  // of a command that is repeated

std::string subtitle(const ServingView& view) {
  const auto& question = view.question;
  const auto& group = question.server.group;
  const auto& request = question.request;
  return fmt::format(
      "{} in {} with a cache in {}, on {} x {} ({}: {}; memory {}: {}{}){}; requests of {:g} "
      "tokens "
      "in{} and {:g} out",
      view.names.model,
      question.server.formats.weights,
      question.server.formats.cache,
      group.gpus,
      view.names.gpu,
      format_quantity(number(group.peak), Unit::flop_per_second),
      view.names.peak_basis,
      format_quantity(number(group.bandwidth), Unit::bytes_per_second),
      view.names.bandwidth_basis,
      group.memory_part < 1.0 ? fmt::format(", {:g} % of it used", 100.0 * group.memory_part) : "",
      group.gpus == 1 ? ""
      : group.link    ? ", all-reduces by your alpha and beta"
                      : ", communication left out",
      request.prompt,
      request.cached > 0.0 ? fmt::format(" ({:g} % cached)", 100.0 * request.cached) : "",
      request.output);
}

std::vector<NextCommand> next_commands(const ServingView& view) {
  const bool short_enough = !view.names.command.empty() && view.names.command.size() <= longest;
  const std::string command = short_enough ? view.names.command : "scaleworth mfu --inference ...";
  std::vector<NextCommand> next;
  if (!view.question.rate) {
    next.push_back({command + " --price USD_PER_GPU_HOUR", "what a million tokens cost"});
  } else if (!view.question.api) {
    next.push_back({command + " --api-price-in USD --api-price-out USD",
                    "from which utilisation on it is cheaper than an API"});
  }
  if (!view.details) next.push_back({command + " --details", "parts of each phase and memory"});
  next.push_back({command + " --format html > report.html", "charts, in one file"});
  return next;
}

}  // namespace

Document compose_serving(const ServingView& view) {
  Document document;
  document.title = document_title(view.names.tool_version, "what do its tokens cost?");
  document.subtitle = subtitle(view);
  document.intervals = false;
  document.verdict = judge_serving(view);
  Section batches{"batches", "Batches", {}, {}, {batches_table(view)}};
  document.sections.push_back(batches);
  document.sections.push_back({"memory", "Memory", {}, {}, {serving_memory_table(view)}});
  if (view.details) {
    document.sections.push_back({"phases", "Phases", {}, {}, {phases_table(view)}});
  }
  if (!view.names.remarks.empty()) {
    document.sections.push_back({"remarks", "Remarks", {}, view.names.remarks, {}});
  }
  document.next = next_commands(view);
  return document;
}

}  // namespace scaleworth::report
