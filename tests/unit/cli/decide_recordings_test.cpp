// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_table.h"
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "tests/unit/core/temporary_directory.h"
#include "trace/attribute.h"
#include "trace/formats/export/export.h"

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

using namespace scaleworth;

namespace {

/// One file with all ranks of a generated job, as `attribute --export` writes it.
std::string write_job(const std::filesystem::path& folder, const sim::JobTruth& truth) {
  const sim::GeneratedJob generated = sim::generate_job(truth);
  const trace::Attributed attributed = trace::attribute(generated.job);
  const auto path = folder / (std::to_string(truth.ranks) + "-ranks.json");
  trace::export_timeline(generated.job, attributed, path.string(), {});
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
    CHECK(cli::input_kind(input) == cli::InputKind::recordings);
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
    UNSCOPED_INFO(name << ' ' << share);
  CHECK(decision.diagnosis.cause->owner == "host");
  CHECK(decision.cause_count == 8);
  CHECK(decision.diagnosis.straggler.find("rank 7") != std::string::npos);
  // The parts charge the others' waiting as idle.
  CHECK(decision.diagnosis.factor_note.find("idle") != std::string::npos);
}

TEST_CASE("recordings of jobs with slower transfers decide for communication", "[decide]") {
  const model::Decision decision = decide_on([](int ranks) {
    sim::JobTruth truth = quiet(ranks);
    truth.transfer_ns = 50e3 + 100e3 * (ranks - 1);
    return truth;
  });
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == "communication");
  CHECK(decision.diagnosis.straggler.empty());
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
  CHECK(decision.diagnosis.cause->owner == "idle");
  CHECK(decision.diagnosis.straggler.find("rank 4") != std::string::npos);
  CHECK(decision.diagnosis.straggler.find("the same kernels run slower") != std::string::npos);
}

TEST_CASE("an attribution's JSON tells the same of a count as its recordings", "[decide]") {
  sim::JobTruth truth = quiet(4);
  truth.cause = LateCause::host;
  truth.late_ns = 1e6;
  const sim::GeneratedJob generated = sim::generate_job(truth);
  const Attribution told = trace::attribute(generated.job).result;
  const std::string text = report::render_attribution(told, std::nullopt, {report::Format::json});
  const auto direct = model::attributed_count(told, "job");
  const auto read = model::attributed_count(cli::parse_attribution(text, "job.json"), "job");
  CHECK(read.row.count == 4);
  CHECK(read.row.time.value == direct.row.time.value);
  CHECK(read.row.parts_s == direct.row.parts_s);
  REQUIRE(read.ledger.factors);
  CHECK(read.ledger.factors->host == direct.ledger.factors->host);
  CHECK(read.ledger.factors->useful == direct.ledger.factors->useful);
  CHECK(!read.ledger.straggler.empty());
  // Version 2 knew fewer parts, version 1 other words too.
  auto older = nlohmann::json::parse(text);
  for (auto& step : older["ledger"]) {
    step["exposed_wait_ns"] = step["exposed_wait_ns"].get<std::int64_t>() +
                              step["below_clock_error_ns"].get<std::int64_t>();
    step.erase("below_clock_error_ns");
    step.erase("exposed_undivided_ns");
  }
  const auto of_version = [&](int version) {
    older["schema_version"] = version;
    return model::attributed_count(cli::parse_attribution(older.dump(), "job.json"), "job");
  };
  const auto second = of_version(2);
  CHECK(second.row.time.value == direct.row.time.value);
  CHECK(second.ledger.straggler == direct.ledger.straggler);
  older["stragglers"]["culprits"] = older["stragglers"]["stragglers"];
  older["stragglers"].erase("stragglers");
  older["culprits"] = older["stragglers"];
  older.erase("stragglers");
  older["job_ranks"]["told"] = older["job_ranks"]["stated"];
  older["job_ranks"].erase("stated");
  CHECK(of_version(1).ledger.straggler == direct.ledger.straggler);
  CHECK(read.ledger.straggler == direct.ledger.straggler);
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
  const auto read = model::attributed_count(cli::parse_attribution(text, "job.json"), "job");
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
  const auto table = cli::recordings_table({path, write_job(folder.path(), quiet(1))}, {});
  CHECK(table.rows.size() == 2);
  const auto changed = [&](const std::string& from, const std::string& to, std::size_t after = 0) {
    std::string other = text;
    other.replace(other.find(from, after), from.size(), to);
    return message_of<UserError>([&] { cli::parse_attribution(other, "job.json"); });
  };
  CHECK(changed("\"schema_version\": 3", "\"schema_version\": 4") ==
        "job.json has schema version 4, and this program knows 3 at most; write it again with "
        "scaleworth attribute --format json");
  CHECK(changed("scaleworth attribution", "another thing").find("is no attribution") !=
        std::string::npos);
  const std::size_t ledger = text.find("\"ledger\": [");
  const std::string compute = "\"compute_ns\": ";
  CHECK(changed(compute, compute + "-", ledger).find("job.json: ledger 1 has a compute_ns") == 0);
  CHECK(changed(compute, compute + "9", ledger).find("do not add up") != std::string::npos);
}

TEST_CASE("one count of recordings abstains and asks for another", "[decide]") {
  const TemporaryDirectory folder;
  const auto table = cli::recordings_table({write_job(folder.path(), quiet(4))}, std::nullopt);
  const model::Decision decision = model::decide_table(table, {});
  CHECK(decision.diagnosis.no_cause == "one count: no loss to explain; measure a second one");
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
  CHECK(foreign(table, "attribute") == " is a table: give it to scaleworth decide");
  CHECK(input_kind(file("rows.json", R"([{"p": 1, "time_s": 2}])")) == InputKind::table);
  const std::string trace = file("trace.json", R"({"traceEvents": []})");
  CHECK(input_kind(trace) == InputKind::recordings);
  CHECK(foreign(trace, "report") == " is a recording: give it to scaleworth attribute or decide");
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
