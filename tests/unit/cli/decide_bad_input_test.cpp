// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/table_file.h"
#include "src/core/error.h"
#include "src/model/decide/decision.h"
#include "src/model/decide/table/table_prices.h"
#include "tests/catch.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

template <class Action>
std::string line_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

std::string csv(std::string_view text) {
  return line_of([&] { parse_csv_table(text, "t.csv"); });
}

std::string json(std::string_view text) {
  return line_of([&] { parse_json_table(text, "t.json"); });
}

decide::Decision decided(const std::string& text, const decide::DecisionRequest& request = {}) {
  return decide::decide_table(parse_csv_table(text, "t.csv").table, request);
}

}  // namespace

TEST_CASE("counts, times and parts that cannot be are refused in one line", "[decide]") {
  CHECK(csv("p,time_s\n0,10\n") == "t.csv:2: the count is 0; it must be 1 or more");
  CHECK(csv("p,time_s\n1,10\n2,5\n2,6\n") ==
        "t.csv:4: count 2 stands already at t.csv:3; add a column repeat, or remove one line");
  CHECK(csv("p,compute_s,comm_s,idle_s\n1,10,1,-2\n") ==
        "t.csv:2: idle is -2 s; a part of the time is 0 or more");
  CHECK(csv("p,time_s,compute_s,comm_s\n1,20,10,1\n") ==
        "t.csv:2: the parts add up to 11 s, the time is 20 s; correct them or give the rest as "
        "idle_s");
  CHECK(csv("p,time_s,quality\n1,10,nan\n") ==
        "t.csv:2: column 'quality' is not a finite number; leave the cell empty for a value that "
        "is missing");
  CHECK(csv("gpus,time_s,tp,pp,cp,dp\n16,10,8,1,1,4\n") ==
        "t.csv:2: the layout is TP 8 x PP 1 x CP 1 x DP 4 = 32, not the count 16; correct one of "
        "them");
  CHECK(csv("p,tokens_per_s\n1,0\n") == "t.csv:2: the throughput is 0; it must be above 0");
}

TEST_CASE("units that are missing or mixed are refused in one line", "[decide]") {
  CHECK(csv("p,time\n1,10\n") ==
        "t.csv:1: column 'time' has no unit; write it into the header, as time_s (known: ns, us, "
        "ms, s, min, h, days, sec, seconds, minutes, hours, d)");
  CHECK(csv("p,time_s,time_ms\n1,10,10000\n") ==
        "t.csv:1: column 'time_ms' says the same as another; keep one of them");
  CHECK(csv("p,time_s\n1,800 s\n") ==
        "t.csv:2: column 'time_s' is '800 s', not a number; the header gives the unit (s) for all "
        "its cells");
  CHECK(csv("p,time_s,energy_mj\n1,10,3\n") ==
        "t.csv:1: column 'energy_mj' may be mega- or millijoules; write it in kj or j");
}

TEST_CASE("files that are no table are refused in one line", "[decide]") {
  CHECK(csv("") == "t.csv: empty; write a header as p,time_s and one line per count");
  CHECK(csv("p,time_s\n") == "t.csv: no rows below the header; give one line per count");
  CHECK(csv(std::string_view("p\0,\0t\0", 6)) ==
        "t.csv: no text in UTF-8 (binary, or saved as UTF-16); save it as CSV in UTF-8");
  CHECK(csv("p,time_s\n1,10\n2\n") == "t.csv:3: 1 cells under a header of 2");
  CHECK(csv("p,zeit\n1,10\n") ==
        "t.csv:1: the table needs a column for the time, as time_s, or a throughput, as "
        "tokens_per_s; it has p, zeit; name one so by --rename COLUMN=time_s");
  CHECK(json("[{\"p\": 1, \"time_s\": 800").starts_with("t.json"));
  CHECK(json("{\"rows\": 3}") ==
        "t.json: no rows; write [{\"p\": 1, \"time_s\": 800}, ...] or {\"rows\": [...]} around it");
  CHECK(json("[{\"p\": 1, \"time_s\": 800}, 2]") ==
        "t.json: row 2: a row is an object, as {\"p\": 1, \"time_s\": 800}");
}

TEST_CASE("brackets without a name are refused before the parser sees them", "[decide]") {
  const auto toml = [](std::string_view text) {
    return line_of([&] { parse_toml_table(text, "t.toml"); });
  };
  const std::string message =
      ": a bracket that begins a line has a table's name behind it, as [[row]]";
  CHECK(toml("[[[row]]]\np = 1\n") == "t.toml:1" + message);
  CHECK(toml("[[row]]\np = 1\n  [\x01\n") == "t.toml:3" + message);
  CHECK(toml("[\n[row]\n") == "t.toml:1" + message);
  CHECK(toml("[ 'row' ]\np = 1\n").starts_with("t.toml: no rows"));
}

TEST_CASE("a million rows are refused at the first one too many", "[decide]") {
  std::string text = "p,time_s\n";
  for (int i = 1; i <= 1000000; ++i) text += "1,1\n";
  CHECK(csv(text) == "t.csv:100002: more than 100000 rows; give one per count and repeat");
}

TEST_CASE("a folder without a run and a file that is not there are refused", "[decide]") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("scaleworth-no-run-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  CHECK(line_of([&] { read_table(folder.string()); }) ==
        "cannot read " + folder.string() +
            "/run.json: No such file or directory; give a run directory or its run.json");
  CHECK(line_of([&] { read_table(folder / "t.csv"); }) ==
        (folder / "t.csv").string() + ": No such file or directory");
  std::filesystem::remove(folder);
}

TEST_CASE("a baseline, prices or a scaling that the table has not are refused", "[decide]") {
  decide::DecisionRequest request;
  request.metrics.baseline = 3;
  CHECK(line_of([&] { decided("p,time_s\n1,10\n2,6\n", request); }) ==
        "the baseline 3 is not in the table; choose a count that is, or leave --baseline out");
  const auto priced = parse_csv_table("p,time_s,usd_per_hour\n1,10,2\n2,6,\n", "t.csv").table;
  CHECK(line_of([&] { decide::table_prices(priced, {}, {}); }) ==
        "count 2 has no price while count 1 has; fill in its rate_usd_per_hour, or give --price "
        "for the rows without");
  const auto weak = parse_csv_table("p,time_s,work\n1,10,5\n2,11,10\n", "t.csv").table;
  CHECK(line_of([&] { decide::declare_scaling(weak, decide::Scaling::strong); }) ==
        "--scaling says strong scaling, but the table shows weak scaling; leave it out, or correct "
        "the work or the batch");
  const auto load = parse_csv_table("concurrency,tokens_per_s\n1,10\n2,15\n", "t.csv").table;
  CHECK(line_of([&] { decide::table_prices(load, dollars_per_hour(2), {}); }) ==
        "the rows are loads of one machine, not machines to pay for; give its price as --price 0 "
        "--fixed USD_PER_HOUR");
}

TEST_CASE("one row, or times that only rise, abstain and say what is needed", "[decide]") {
  CHECK(decided("p,time_s\n4,10\n").no_cause.find("measure a second") != std::string::npos);
  const decide::Decision rising = decided("p,time_s\n1,10\n2,20\n4,50\n");
  CHECK(rising.rubric.chosen == 1);
  CHECK(rising.remarks.front() == "no count is faster than 1: scaling does not pay at any price");
}
