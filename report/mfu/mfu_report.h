// SPDX-License-Identifier: Apache-2.0
/// What a training run makes of its GPUs, in one of the report's formats.
#pragma once

#include "report/document.h"
#include "report/render.h"
#include "report/words.h"
#include "src/model/transformer/demand.h"
#include "src/model/transformer/serving.h"
#include "src/model/transformer/training_budget.h"
#include "src/model/transformer/utilisation.h"

namespace scaleworth::report {
using namespace model;

/// What the figures of `scaleworth mfu` stand on, as the reports name it; empty where a report has
/// no use for it.
struct MfuNames {
  std::string model;          // "Llama 3.1 8B"
  std::string model_source;   // of its shapes, with their date
  std::string gpu;            // "NVIDIA A100 SXM 80 GB"; as the user called it where unknown
  std::string gpu_source;     // of the datasheet's figures, with their date
  std::string number_format;  // "bf16"
  std::optional<Finding> peak_basis = {};
  std::optional<Finding> bandwidth_basis = {};
  std::optional<Finding> link_basis = {};
  std::vector<Finding> remarks = {};
  std::vector<Finding> warnings = {};  // why the input may be wrong
};

// In each of the report's formats: what a training run makes of its GPUs, what a training budget is
// best spent on, what serving a model costs, and how many GPUs a demand is worth. CSV, HTML and
// JSON hold everything.

/// What was asked and what follows from it.
template <class Question, class Answer>
struct AnswerView {
  const Question& question;
  const Answer& answer;
  const MfuNames& names;
  const RenderOptions& options;
};
/// "300 billion", "1.4 trillion", "609,524", with so many digits.
std::string large_count(double count, int digits = 4);

/// One of several runs, which a table has.
struct RunUse {
  std::string name;
  MfuNames names;
  TrainingRun run;
  TrainingUse use;
  std::optional<double> stated_mfu{};

  Utilisation first() const { return use.against.empty() ? Utilisation{} : use.against.front(); }
  double mfu() const { return first().mfu; }
};
/// With what is to be said of the table.
using RunsView = AnswerView<std::vector<RunUse>, std::vector<Finding>>;
using MfuView = AnswerView<TrainingRun, TrainingUse>;
/// `names` without a GPU: none was asked for; without a model: there is no size to judge.
using MemoryView = AnswerView<MemoryQuestion, MemoryAnswer>;
using BudgetView = AnswerView<TrainingQuestion, TrainingPlan>;
using ServingView = AnswerView<ServingQuestion, ServingAnswer>;
using DemandView = AnswerView<DemandQuestion, DemandAnswer>;

std::string render_mfu(const MfuView& view);
std::string render_runs(const RunsView& view);
std::string render_memory(const MemoryView& view);
std::string render_budget(const BudgetView& view);
std::string render_serving(const ServingView& view);
std::string render_demand(const DemandView& view);
Verdict judge_serving(const ServingView& view);

/// Numbers in base units, null for what is absent; the words are those of the whole report.
std::string json_of_view(const MfuView& view, const Document& whole);
std::string json_of_view(const RunsView& view, const Document& whole);
std::string json_of_view(const BudgetView& view, const Document& whole);
std::string json_of_view(const ServingView& view, const Document& whole);
std::string json_of_view(const DemandView& view, const Document& whole);
std::string mfu_schema();
std::string runs_schema();
std::string budget_schema();
std::string serving_schema();
std::string demand_schema();

/// By the document and charts of the view.
template <class View>
std::string render_view(const View& view,
                        Document (*compose)(const View&),
                        std::vector<Chart> (*charts)(const View&) = nullptr) {
  const auto with = [&](const RenderOptions& options) {
    return View{view.question, view.answer, view.names, options};
  };
  return render_document(
      {[&](const RenderOptions& as) { return compose(with(as)); },
       [&](const RenderOptions& as) { return json_of_view(with(as), compose(with(as))); },
       [&] { return charts ? charts(view) : std::vector<Chart>{}; }},
      view.options);
}

/// Published maxima over what this model gives with prompts and steps in turn at their roofs and
/// the largest batch that memory holds: TensorRT-LLM 1.0, Llama 3.1 8B and 3.3 70B in fp8 and fp4
/// on H100, H200 and B200, ten lengths each (tests/unit/model/transformer).
inline constexpr Interval<double> published_part_of_roof{0.34, 0.75};

/// "4 groups of", "2 copies of 2 stages of": what the groups of GPUs are, before their GPUs.
std::string groups_text(const model::ServingQuestion& question);

/// "roof", "efficiencies" (as the user says) or "measured": what the times stand on.
const char* basis_of_times(const ServingQuestion& question);
/// Utilisation at which servers that reach the published parts of the roof break even with the API;
/// absent without both prices, and where the times are no roof.
std::optional<Interval<double>> real_break_even(const ServingView& view, const ServedBatch& batch);
}  // namespace scaleworth::report
