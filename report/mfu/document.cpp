// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"
#include "report/mfu/mfu_view.h"
#include "src/model/transformer/weights.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

std::string subtitle(const MfuView& view) {
  const TransformerModel& model = view.run.model;
  std::string text =
      fmt::format("{}: {} parameters", model.name, large_count(model::parameter_count(model)));
  if (model.experts > 1) {
    text += fmt::format(", {} of them for each token",
                        large_count(model::active_parameter_count(model)));
  }
  text += fmt::format(", {} layers, {} attention, sequence {}; {} x {}, {}",
                      model.layers,
                      attention_kind_name(model::attention_kind(model)),
                      view.use.sequence,
                      view.run.gpus,
                      view.options.gpu,
                      view.options.number_format);
  return text;
}

std::vector<NextCommand> next_commands(const MfuView& view) {
  std::vector<NextCommand> next;
  const std::string mfu = "scaleworth mfu ...";
  if (!view.run.price || !view.run.tokens) {
    next.push_back({mfu + " --price USD_PER_GPU_HOUR --tokens N", "days and cost of a training"});
  }
  if (view.use.against.size() < 2) {
    next.push_back(
        {mfu + " --measured-peak RUN", "against what the products of `scaleworth roofline` reach"});
  }
  if (!view.options.details) next.push_back({mfu + " --details", "FLOPs part by part"});
  next.push_back({"scaleworth attribute FILE...", "where the rest of the step's time goes"});
  return next;
}

Section section_of(std::string id, std::string title, std::vector<Table> tables) {
  return {std::move(id), std::move(title), {}, {}, std::move(tables)};
}

Section sources(const MfuView& view) {
  Section section{"sources", "Sources", {}, {}, {}};
  section.lead.push_back(
      fmt::format("{}: {}; {}.", view.run.model.name, view.run.model.source, view.run.model.date));
  if (!view.options.gpu_source.empty()) {
    section.lead.push_back(fmt::format("{}: {}.", view.options.gpu, view.options.gpu_source));
  }
  return section;
}

}  // namespace

std::string large_count(double count) {
  constexpr double trillion = 1e12;
  constexpr double billion = 1e9;
  constexpr double million = 1e6;
  if (count >= trillion) return fmt::format("{:.4g} trillion", count / trillion);
  if (count >= billion) return fmt::format("{:.4g} billion", count / billion);
  if (count >= million) return fmt::format("{:.4g} million", count / million);
  return fmt::format("{:.6g}", count);
}

std::string large_money(Dollars money) {
  constexpr double million = 1e6;
  if (money.value() >= million) return fmt::format("{:.4g} million USD", money.value() / million);
  if (money.value() < 1.0) return fmt::format("{:.4g} USD", money.value());
  return fmt::format("{:.{}f} USD", money.value(), money.value() < 1000.0 ? 3 : 0);
}

Document compose_mfu(const MfuView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "what do the GPUs do for the model?");
  document.subtitle = subtitle(view);
  document.intervals = false;
  document.verdict = judge_mfu(view);
  document.next = next_commands(view);
  document.sections.push_back(section_of("utilisation", "Utilisation", {peaks_table(view)}));
  if (view.use.conventions_differ || view.options.details) {
    document.sections.push_back(
        section_of("conventions", "Conventions", {conventions_table(view)}));
  }
  if (view.options.details) {
    document.sections.push_back(section_of("flops", "FLOPs", {flop_parts_table(view)}));
  }
  document.sections.push_back(section_of("training", "Training", {training_cost_table(view)}));
  if (!view.use.remarks.empty()) {
    document.sections.push_back({"remarks", "Remarks", {}, view.use.remarks, {}});
  }
  if (view.options.details) document.sections.push_back(sources(view));
  return document;
}

}  // namespace scaleworth::report
