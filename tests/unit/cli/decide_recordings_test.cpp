// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/words.h"
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_table.h"
#include "src/model/recording_comparison.h"
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "tests/unit/core/temporary_directory.h"
#include "trace/attribute.h"
#include "trace/formats/export/export.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

using namespace scaleworth;

namespace {

/// One file of a generated job: its attribution in JSON, or a timeline.
std::string write_job(const std::filesystem::path& folder,
                      const sim::JobTruth& truth,
                      bool as_timeline = false) {
  const sim::GeneratedJob generated = sim::generate_job(truth);
  const trace::Attributed attributed = trace::attribute(generated.job);
  const auto path = folder / (std::to_string(truth.ranks) + "-ranks.json");
  if (!as_timeline) {
    std::ofstream(path) << report::render_attribution(
        attributed.result, std::nullopt, {report::Format::json});
    return path.string();
  }
  // Its own timelines are refused; without their mark this one is as Kineto's.
  trace::export_timeline(generated.job, attributed, path.string(), {});
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::string renamed = text.str();
  constexpr std::string_view mark = "scaleworthExport";
  renamed.replace(renamed.find(mark), mark.size(), "otherExport");
  std::ofstream(path) << renamed;
  return path.string();
}

sim::JobTruth quiet(int ranks) {
  sim::JobTruth truth;
  truth.ranks = ranks;
  truth.steps = 20;  // what came before the first one is not known, so that it weighs less
  truth.seed = 2;
  truth.end_skew_ns = 200.0;
  return truth;
}

template <class Truth>
model::Decision decide_on(Truth truth_of) {
  const TemporaryDirectory folder;
  std::vector<std::string> inputs;
  for (const int ranks : {1, 2, 4, 8}) inputs.push_back(write_job(folder.path(), truth_of(ranks)));
  for (const std::string& input : inputs)
    CHECK(cli::input_kind(input) == cli::InputKind::attribution);
  return model::decide_table(cli::recordings_table(inputs, model::Scaling::weak), {});
}

}  // namespace

TEST_CASE("recordings of jobs with a late host decide for the host", "[decide]") {
  const model::Decision decision = decide_on([](int ranks) {
    sim::JobTruth truth = quiet(ranks);
    truth.cause = ranks > 1 ? LateCause::host : LateCause::undecided;
    truth.straggler = ranks - 1;
    truth.late_ns = 400e3 * (ranks - 1);
    return truth;
  });
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.by_factors);
  for (const auto& [name, share] : decision.diagnosis.cause->mixture)
    UNSCOPED_INFO(word_of(name) << ' ' << share);
  CHECK(decision.diagnosis.cause->owner == scaleworth::model::Cause::host);
  CHECK(decision.cause_count == 8);
  REQUIRE(decision.diagnosis.straggler);
  CHECK(decision.diagnosis.straggler->arguments.at(0) == "rank 7");
  // The parts charge the others' waiting as idle.
  REQUIRE(decision.diagnosis.factor_note);
  CHECK(decision.diagnosis.factor_note->id == FindingId::parts_and_factors_differ);
}

TEST_CASE("recordings of jobs with slower transfers decide for communication", "[decide]") {
  const model::Decision decision = decide_on([](int ranks) {
    sim::JobTruth truth = quiet(ranks);
    truth.transfer_ns = 50e3 + 100e3 * (ranks - 1);
    return truth;
  });
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == scaleworth::model::Cause::communication);
  CHECK_FALSE(decision.diagnosis.straggler);
}

TEST_CASE("recordings of jobs with a slow rank decide for idle and name it", "[decide]") {
  const model::Decision decision = decide_on([](int ranks) {
    sim::JobTruth truth = quiet(ranks);
    truth.cause = ranks > 1 ? LateCause::slower_kernels : LateCause::undecided;
    truth.straggler = ranks / 2;
    truth.late_ns = 150e3 * (ranks - 1);
    return truth;
  });
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == scaleworth::model::Cause::idle);
  REQUIRE(decision.diagnosis.straggler);
  CHECK(decision.diagnosis.straggler->arguments.at(0) == "rank 4");
  const auto& causes = decision.diagnosis.straggler->arguments.at(2).value;
  const Finding& cause = std::get<std::vector<Finding>>(causes).at(0);
  CHECK(cause.arguments.at(0) == word_of(LateCause::slower_kernels));
}

TEST_CASE("an attribution's JSON tells the same of a count as its recordings", "[decide]") {
  sim::JobTruth truth = quiet(4);
  truth.cause = LateCause::host;
  truth.late_ns = 1e6;
  const sim::GeneratedJob generated = sim::generate_job(truth);
  const Attribution told = trace::attribute(generated.job).result;
  const std::string text = report::render_attribution(told, std::nullopt, {report::Format::json});
  const auto direct = model::attributed_count(told, "job");
  const auto read = model::attributed_count(report::read_attribution(text, "job.json"), "job");
  CHECK(read.row.count == 4);
  CHECK(read.row.time.value == direct.row.time.value);
  CHECK(read.row.parts_s == direct.row.parts_s);
  REQUIRE(read.ledger.factors);
  CHECK(read.ledger.factors->host == direct.ledger.factors->host);
  CHECK(read.ledger.factors->useful == direct.ledger.factors->useful);
  CHECK(read.ledger.straggler);
  // Version 2 knew fewer parts.
  auto older = nlohmann::json::parse(text);
  for (auto& step : older["ledger"]) {
    step["exposed_wait_ns"] = step["exposed_wait_ns"].get<std::int64_t>() +
                              step["below_clock_error_ns"].get<std::int64_t>();
    step.erase("below_clock_error_ns");
    step.erase("exposed_undivided_ns");
  }
  older["schema_version"] = 2;
  const auto second =
      model::attributed_count(report::read_attribution(older.dump(), "job.json"), "job");
  CHECK(second.row.time.value == direct.row.time.value);
  CHECK(report::said(second.ledger.straggler) == report::said(direct.ledger.straggler));
  for (auto& step : older["ledger"]) step.erase("exclusion");
  CHECK_THROWS_AS(report::read_attribution(older.dump(), "job.json"), UserError);
  CHECK(report::said(read.ledger.straggler) == report::said(direct.ledger.straggler));
  CHECK(read.remarks == direct.remarks);
}

TEST_CASE("communication that is not divided counts as communication when it is read back",
          "[decide]") {
  trace::Job job = sim::generate_job(quiet(4)).job;
  job.recordings.resize(1);
  job.recordings[0].origin.world_size = 4;
  const Attribution alone = trace::attribute(job).result;
  const double undivided = job_means(alone.ledger)->mean.part(Part::exposed_undivided).mean;
  REQUIRE(undivided > 0.0);
  const std::string text = report::render_attribution(alone, std::nullopt, {report::Format::json});
  CHECK(text.find("\"exposed_wait_ns\": null") != std::string::npos);
  const auto read = model::attributed_count(report::read_attribution(text, "job.json"), "job");
  CHECK(read.row.count == 4);
  CHECK(read.row.parts_s == model::attributed_count(alone, "job").row.parts_s);
  CHECK_THAT(*read.row.parts_s[index_of(PartGroup::communication)],
             Catch::Matchers::WithinRel(undivided, 1e-9));
}

TEST_CASE("attributions in JSON stand beside recordings, and are refused where they are none",
          "[decide]") {
  const TemporaryDirectory folder;
  const auto attributed = trace::attribute(sim::generate_job(quiet(2)).job);
  const std::string text =
      report::render_attribution(attributed.result, std::nullopt, {report::Format::json});
  const std::string path = (folder.path() / "two.json").string();
  std::ofstream(path) << text;
  CHECK(cli::input_kind(path) == cli::InputKind::attribution);
  const auto table = cli::recordings_table({path, write_job(folder.path(), quiet(1), true)}, {});
  CHECK(table.rows.size() == 2);
  const auto changed = [&](const std::string& from, const std::string& to, std::size_t after = 0) {
    std::string other = text;
    other.replace(other.find(from, after), from.size(), to);
    return message_of<UserError>([&] { report::read_attribution(other, "job.json"); });
  };
  CHECK(changed("\"schema_version\": 3", "\"schema_version\": 4") ==
        "job.json: schema version 4 is newer than 3, the newest that this scaleworth reads; update "
        "scaleworth");
  CHECK(changed("scaleworth attribution", "another thing").find("is no attribution") !=
        std::string::npos);
  const std::size_t ledger = text.find("\"ledger\": [");
  const std::string compute = "\"compute_ns\": ";
  CHECK(changed(compute, compute + "-", ledger)
            .find("job.json: the document: ledger of step 0 of rank 0 has a compute_ns") == 0);
  CHECK(changed(compute, compute + "9", ledger).find("do not add up") != std::string::npos);
}

namespace {
Attribution job_with(LateCause cause, int straggler, double late_ns, double transfer_ns, int seed) {
  sim::JobTruth truth = quiet(8);
  truth.cause = cause;
  truth.straggler = straggler;
  truth.late_ns = late_ns;
  truth.transfer_ns = transfer_ns;
  truth.seed = static_cast<std::uint64_t>(seed);
  return trace::attribute(sim::generate_job(truth).job).result;
}
Attribution healthy(int seed) {
  return job_with(LateCause::undecided, 0, 0.0, 50e3, seed);
}
}  // namespace

TEST_CASE("a mean over steps has the interval of Student's t", "[compare]") {
  // s = 1, t of two degrees of freedom 4.303, three effective steps: 4.303 / sqrt(3) = 2.484.
  const auto mean = model::mean_of_steps({9.0, 11.0, 10.0}, 10.0);
  CHECK_THAT(mean.interval.value().high, Catch::Matchers::WithinAbs(12.484, 0.001));
  CHECK(model::mean_of_steps({0.0, 0.0, 0.0}, 0.0).interval.value().high == 0.0);
  CHECK_FALSE(model::mean_of_steps({9.0, 11.0}, 10.0).interval);
}

TEST_CASE("recordings of an unchanged job do not differ beyond the noise", "[compare]") {
  const auto compared = model::compare_recordings(healthy(3), healthy(4), {"a", "b"});
  REQUIRE(compared.step.change.interval);
  CHECK_FALSE(compared.step.differs());
  for (const auto& part : compared.parts) {
    INFO(part.setting.text(Parameter::part));
    CHECK_FALSE(part.differs());
  }
  CHECK(compared.stragglers.empty());
}

TEST_CASE("transfers that take longer are the part that changed most", "[compare]") {
  // Three all-reduces of a step take 300 us longer each.
  const auto compared = model::compare_recordings(
      healthy(3), job_with(LateCause::undecided, 0, 0.0, 350e3, 4), {"a", "b"});
  CHECK(compared.step.differs());
  CHECK_THAT(compared.step.change.value, Catch::Matchers::WithinAbs(900e-6, 30e-6));
  const auto& most = compared.parts.front();
  CHECK(most.setting.symbol<Part>(Parameter::part) == Part::exposed_transfer);
  CHECK_THAT(most.change.value, Catch::Matchers::WithinAbs(900e-6, 30e-6));
  REQUIRE_FALSE(compared.collectives.empty());
  CHECK(compared.collectives.front().metric == Metric::collective_transfer);
  CHECK(compared.collectives.front().setting.symbol<CollectiveKind>(Parameter::collective_kind) ==
        CollectiveKind::all_reduce);
  CHECK_THAT(compared.collectives.front().change.value, Catch::Matchers::WithinAbs(900e-6, 30e-6));
}

TEST_CASE("a straggler appears, goes or moves, and a job's JSON compares as its recordings",
          "[compare]") {
  const Attribution none = healthy(3);
  const Attribution third = job_with(LateCause::host, 3, 1e6, 50e3, 4);
  const Attribution fifth = job_with(LateCause::host, 5, 1e6, 50e3, 5);
  const auto appeared = model::compare_recordings(none, third, {"a", "b"});
  REQUIRE(appeared.stragglers.size() == 1);
  CHECK(appeared.stragglers[0].change == model::StragglerChange::appeared);
  CHECK(appeared.stragglers[0].b->rank == Rank{3});
  CHECK_THAT(appeared.step.change.value, Catch::Matchers::WithinAbs(1e-3, 0.1e-3));
  CHECK(appeared.parts.front().setting.symbol<Part>(Parameter::part) == Part::exposed_wait);
  CHECK(model::compare_recordings(third, none, {"a", "b"}).stragglers[0].change ==
        model::StragglerChange::gone);
  const auto changed = model::compare_recordings(third, fifth, {"a", "b"});
  REQUIRE(changed.stragglers.size() == 1);
  CHECK(changed.stragglers[0].change == model::StragglerChange::moved);
  CHECK_FALSE(changed.step.differs());
  const auto again = model::compare_recordings(third, third, {"a", "b"});
  CHECK(again.stragglers.at(0).change == model::StragglerChange::stayed);
  CHECK(again.step.change.value == 0.0);
  // By their JSON.
  const auto read = [](const Attribution& job) {
    return report::read_attribution(
        report::render_attribution(job, std::nullopt, {report::Format::json}), "job.json");
  };
  const Attribution a = read(none);
  const Attribution b = read(third);
  const auto by_json = model::compare_recordings(a, b, {"a", "b"});
  const auto text = [](const auto& job_a, const auto& job_b, const auto& comparison) {
    return report::render_recording_comparison(
        {"a", job_a}, {"b", job_b}, comparison, {report::Format::text});
  };
  CHECK(text(a, b, by_json) == text(none, third, appeared));
}

TEST_CASE("one count of recordings abstains and asks for another", "[decide]") {
  const TemporaryDirectory folder;
  const auto table = cli::recordings_table({write_job(folder.path(), quiet(4))}, std::nullopt);
  const model::Decision decision = model::decide_table(table, {});
  CHECK(decision.diagnosis.no_cause == Finding(FindingId::nothing_to_explain));
}

TEST_CASE("what stands beside recordings is told from them by its name and first bytes",
          "[decide]") {
  const TemporaryDirectory folder;
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  };
  using cli::input_kind;
  using cli::InputKind;
  const auto foreign = [](const std::string& input, const char* command) -> std::string {
    try {
      cli::refuse_foreign(input, command);
    } catch (const UserError& error) {
      return std::string(error.what()).substr(input.size());
    }
    return "";
  };
  const std::string table = file("table.csv", "p,time_s\n1,2\n");
  CHECK(input_kind(table) == InputKind::table);
  CHECK(foreign(table, "decide").empty());
  CHECK(foreign(table, "attribute") == " is a table: give it to scaleworth decide or compare");
  CHECK(input_kind(file("rows.json", R"([{"p": 1, "time_s": 2}])")) == InputKind::table);
  const std::string trace = file("trace.json", R"({"traceEvents": []})");
  CHECK(input_kind(trace) == InputKind::recordings);
  CHECK(foreign(trace, "report") ==
        " is a recording: give it to scaleworth attribute or decide or compare");
  CHECK(input_kind((folder.path() / "rank*.json").string()) == InputKind::recordings);
  CHECK(input_kind(folder.path().string()) == InputKind::recordings);
  CHECK(input_kind((folder.path() / "nothing").string()) == InputKind::other);
  const std::string page = file("page", "\n<!DOCTYPE html>\n<html>");
  CHECK(foreign(page, "decide") == " is a web page: no command reads it; give what it was made of");
  const std::string answer =
      file("d.json", R"({"schema_version": 3, "kind": "scaleworth decision"})");
  CHECK(input_kind(answer) == InputKind::answer);
  CHECK(input_kind(file("copy.txt", "{\n \"schema_version\": 1,")) == InputKind::run);
  file("run.json", "{}");
  CHECK(input_kind(folder.path().string()) == InputKind::run);
  CHECK(foreign(folder.path().string(), "attribute") ==
        " is a run: give it to scaleworth report or decide or compare or check");
  CHECK_THROWS_AS(cli::recordings_table({"a", file("more.csv", "p,time_s\n1,2\n")}, {}), UserError);
}
