// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/render.h"
#include "report/words.h"
#include "src/core/files/fields.h"

namespace scaleworth::report {
namespace {
using model::ComparedStraggler;
using model::ComparedTime;
using model::RecordingComparison;
using model::StragglerChange;

/// Of the step of A.
Number share(const ComparedTime& one, const ComparedTime& step) {
  return transform(one.change, [&](double time) { return time / step.a.value; });
}

std::string difference_words(const ComparedTime& one) {
  if (!one.change.interval) return "cannot tell";
  if (!one.differs()) return "within the noise";
  return one.change.value > 0.0 ? "longer in B" : "shorter in B";
}

std::string step_sentence(const ComparedTime& step) {
  const Number part = share(step, step);
  const std::string times = fmt::format(
      "a step takes {} in B and {} in A", duration_text(step.b.value), duration_text(step.a.value));
  if (!step.change.interval)
    return fmt::format(
        "Cannot tell: {}, and fewer than three steps that count say nothing about the noise.",
        times);
  if (!step.differs()) return fmt::format("No difference beyond the noise: {}.", times);
  const bool longer = part.value > 0.0;
  const Number size =
      longer ? part : transform_decreasing(part, [](double value) { return -value; });
  return fmt::format("Steps are {} {} in B: {} instead of {}.",
                     share_text(size),
                     longer ? "longer" : "shorter",
                     duration_text(step.b.value),
                     duration_text(step.a.value));
}

/// What of a change beyond the noise each group of parts has; where they oppose, above 100 %.
std::string split_sentence(const RecordingComparison& comparison) {
  if (!comparison.step.differs()) return "";
  PartTimes changes{};
  for (const ComparedTime& one : comparison.parts)
    if (const auto part = one.setting.symbol<Part>(Parameter::part))
      changes[index_of(*part)] = one.change.value / comparison.step.change.value;
  const std::string split = split_text(group_times(changes));
  return split.empty() ? "" : " Of that " + split + ".";
}

/// "the same kernels run slower; on time it would save 7.8 ms of each step".
std::string cause_and_saving(const Straggler& one) {
  const std::string saves =
      one.saved ? fmt::format("; on time it would save {} of each step", duration_text(*one.saved))
                : "";
  return (one.cause == LateCause::undecided ? "cause undecided" : word_of(one.cause)) + saves;
}

std::string straggler_sentence(const ComparedStraggler& one) {
  if (one.change == StragglerChange::stayed) return "";
  if (!one.b) return fmt::format(" {} is no longer late in B.", capitalised(one.a->unit));
  const std::string who =
      one.a ? fmt::format("In place of {} now {} is late", one.a->unit, one.b->unit)
            : fmt::format("{} is late in B and not in A", capitalised(one.b->unit));
  return fmt::format(" {} ({}).", who, cause_and_saving(*one.b));
}

using Columns = std::vector<ColumnOf<ComparedTime>>;

/// `columns` and the times. In the short formats without what is and changes less than 1 % of the
/// step.
Table times_table(const char* id,
                  const char* title,
                  const std::vector<ComparedTime>& times,
                  Columns columns,
                  const ComparedTime& step) {
  const auto plain = [](Estimate<double> ComparedTime::*side) {
    return [side](const ComparedTime& one) { return number((one.*side).value); };
  };
  columns.insert(columns.begin() + 1,
                 {{measure("a_s", "A", Unit::seconds), plain(&ComparedTime::a)},
                  {measure("b_s", "B", Unit::seconds), plain(&ComparedTime::b)},
                  {measure("change_s", "B less A", Unit::seconds), &ComparedTime::change},
                  {measure("share", "of A's step", Unit::percent),
                   [&](const ComparedTime& one) { return share(one, step); }}});
  return make_table(id, title, times, columns, {}, [&](const ComparedTime& one) {
    return std::max(one.a.value, one.b.value) < 0.01 * step.a.value;
  });
}

Table parts_table(const RecordingComparison& comparison) {
  std::vector<ComparedTime> times = comparison.parts;
  times.push_back(comparison.step);
  const auto name = [](const ComparedTime& one) {
    return one.metric == Metric::step_time ? "step" : one.setting.text(Parameter::part);
  };
  Table table = times_table(
      "parts",
      "Where the average step goes",
      times,
      {{parameter("part", "part"), name}, {measure("difference", "which means"), difference_words}},
      comparison.step);
  table.notes = {fmt::format(
      "Means over ranks of the steps that count. Intervals: from step to step, with {:g} % of the "
      "step from one recording to the next on top, which is presumed.",
      100.0 * model::presumed_recording_noise)};
  return table;
}

Table collectives_table(const RecordingComparison& comparison) {
  const auto name = [](const ComparedTime& one) {
    return fmt::format("{}, {}",
                       one.setting.text(Parameter::collective_kind),
                       one.metric == Metric::collective_wait ? "wait" : "transfer");
  };
  return times_table("collectives",
                     "Time in collectives, hidden or not, per step and rank",
                     comparison.collectives,
                     {{parameter("kind", "kind"), name}},
                     comparison.step);
}

Table stragglers_table(const RecordingComparison& comparison) {
  using One = ComparedStraggler;
  const auto of = [](std::optional<Straggler> One::*side, auto member) {
    return [=](const One& one) {
      return one.*side ? as_cell(std::invoke(member, *(one.*side))) : Cell{};
    };
  };
  return make_table("stragglers",
                    "Who is late",
                    comparison.stragglers,
                    {{parameter("who", "in A"), of(&One::a, &Straggler::unit)},
                     {parameter("who_b", "in B"), of(&One::b, &Straggler::unit)},
                     {measure("change", "where"), &One::change},
                     {times("saved_a_s", "on time saves A"), of(&One::a, &Straggler::saved)},
                     {times("saved_b_s", "saves B"), of(&One::b, &Straggler::saved)},
                     {measure("cause_a", "cause in A"), of(&One::a, &Straggler::cause)},
                     {measure("cause_b", "cause in B"), of(&One::b, &Straggler::cause)}});
}

Document compose_comparison(const ComparedJob& a,
                            const ComparedJob& b,
                            const RecordingComparison& comparison,
                            const RenderOptions& options) {
  Document document;
  document.title = document_title(options.tool_version, "what changed in the job?");
  document.subject = b.name;
  document.subtitle = fmt::format("A: {}; B: {}", a.name, b.name);
  std::string& headline = document.verdict.headline;
  if (comparison.in_common < model::least_in_common)
    headline = fmt::format(
        "Not reliable: {:.0f} % of the compute is of kinds that both have, so these may be two "
        "programs. ",
        100.0 * comparison.in_common);
  for (const auto& [side, job] : {std::pair("A", &a.job), std::pair("B", &b.job)}) {
    std::vector<Finding> all = job->contradictions;
    std::ranges::move(model::step_warnings(job->step_choice), std::back_inserter(all));
    if (!all.empty())
      headline += not_reliable(fmt::format("of {} {}", side, said(all.front())),
                               all.size(),
                               "check the files, or record again") +
                  " ";
  }
  headline += step_sentence(comparison.step) + split_sentence(comparison);
  for (const ComparedStraggler& one : comparison.stragglers) headline += straggler_sentence(one);
  std::vector<std::string>& lines = document.verdict.lines;
  if (job_ranks(a.job) != job_ranks(b.job))
    lines.push_back(fmt::format("A has {} and B {}: no longer the same job.",
                                counted(job_ranks(a.job), "rank"),
                                counted(job_ranks(b.job), "rank")));
  for (const auto& [side, job] : {std::pair("A", &a.job), std::pair("B", &b.job)}) {
    for (const Finding& limit : recording_limits({*job, options, job_means(job->ledger)}))
      lines.push_back(fmt::format("{}: {}", side, sentence(limit)));
  }
  document.sections =
      with_content({section_of("parts", "The step", {parts_table(comparison)}),
                    section_of("stragglers", "Stragglers", {stragglers_table(comparison)}),
                    section_of("collectives", "Collectives", {collectives_table(comparison)})});
  document.next = {{"scaleworth attribute " + b.name + " --details", "all about B"}};
  return document;
}

// ---- JSON

constexpr JsonHead head{1, "scaleworth recording comparison"};

void compared_time(Fields& json, const ComparedTime& one) {
  json.named("compared_time");
  json("metric", info(one.metric).key);
  put_setting(json, "setting", one.setting);
  json.members("a", one.a, "b", one.b, "change", one.change, "differs", one.differs());
}

void put_straggler(Fields& json, const Straggler& one) {
  json.named("straggler");
  json.members("rank", one.rank, "level", one.level, "unit", one.unit, "members", one.members);
  json.members("cause", one.cause, "saved_ns", one.saved);
}

std::string comparison_json(Fields::Make make,
                            const RecordingComparison& comparison,
                            const std::string& headline,
                            const RenderOptions& options) {
  const auto members = [&](Fields& json) {
    put_versions(json, options);
    json("headline", headline);
    json.object("step", comparison.step, compared_time);
    json.array("parts", comparison.parts, compared_time);
    json.array("collectives", comparison.collectives, compared_time);
    json.array("stragglers", comparison.stragglers, [](Fields& of, const ComparedStraggler& one) {
      of("change", one.change);
      of.object("a", one.a, put_straggler);
      of.object("b", one.b, put_straggler);
    });
  };
  return make == Fields::Make::schema ? schema_of(head, members) : json_of(head, members);
}
}  // namespace

std::string render_recording_comparison(const ComparedJob& a,
                                        const ComparedJob& b,
                                        const RecordingComparison& comparison,
                                        const RenderOptions& options) {
  const Document document = compose_comparison(a, b, comparison, options);
  return render_document({[&](const RenderOptions&) { return document; },
                          [&](const RenderOptions& as) {
                            return comparison_json(
                                Fields::Make::document, comparison, document.verdict.headline, as);
                          }},
                         options);
}

std::string recording_comparison_schema() {
  return comparison_json(Fields::Make::schema, {}, "", {});
}
}  // namespace scaleworth::report
