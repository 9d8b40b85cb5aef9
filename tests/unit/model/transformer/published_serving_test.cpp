// SPDX-License-Identifier: Apache-2.0
/// Published throughput of real servers under the roof: what none may exceed, and how near it they
/// come.
#include "tests/catch.h"
#include "tests/unit/model/transformer/servers.h"
#include "tests/unit/model/public_tables.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;
using scaleworth::tests::public_rows;
using scaleworth::tests::PublicRow;

namespace {

Request request_of(const std::string& lengths) {
  const std::size_t slash = lengths.find('/');
  return {std::stod(lengths.substr(0, slash)), std::stod(lengths.substr(slash + 1)), 0.0};
}

/// Published over what prompts and steps in turn give at their roofs, row by row; above the
/// published rate lies the ceiling in any case.
std::vector<double> reached(const std::vector<PublicRow>& rows,
                            const std::string& column,
                            Server server) {
  server.group.memory_part = ServingGroup{}.memory_part;
  if (server.group.gpus > 1) {
    server.group.link =
        datasheet_link(find_gpu(gpu_catalogue(), "h100-sxm-80gb"), server.group.gpus);
  }
  std::vector<double> parts;
  for (const PublicRow& row : rows) {
    const Request request = request_of(row.at("isl_osl"));
    const auto most =
        static_cast<double>(*batch_in_memory(server, request.prompt + request.output));
    const OperatingPoint point = operate(server, request, most);
    const double published = std::stod(row.at(column));
    CHECK(published < point.ceiling_output_tokens_per_s);
    parts.push_back(published / point.output_tokens_per_s);
  }
  return parts;
}

/// All rows are below the roof; `lowest` and `highest` say how much of it they reach.
void check_below(const std::vector<double>& parts, double lowest, double highest) {
  REQUIRE(parts.size() == 10);
  CHECK(*std::max_element(parts.begin(), parts.end()) < 1.0);
  CHECK_THAT(*std::min_element(parts.begin(), parts.end()), WithinAbs(lowest, 0.01));
  CHECK_THAT(*std::max_element(parts.begin(), parts.end()), WithinAbs(highest, 0.01));
}

ServingGroup h200() {
  ServingGroup group = example::h100(1, 1978.9e12);
  group.bandwidth = BytesPerSecond(4.8e12);
  group.memory = Bytes(141.0e9);
  return group;
}

}  // namespace

TEST_CASE("published throughput of an 8B model stays below the roof", "[inference]") {
  const auto rows = public_rows("trtllm_llama31_8b_throughput.csv");
  if (rows.empty()) return;
  check_below(
      reached(rows, "H200 TP1 FP8", example::fp8_server("llama-3.1-8b", h200())), 0.41, 0.73);
  check_below(
      reached(
          rows, "H100 TP1 FP8", example::fp8_server("llama-3.1-8b", example::h100(1, 1978.9e12))),
      0.42,
      0.75);
}

TEST_CASE("published throughput of a 70B model stays below the roof", "[inference]") {
  const auto rows = public_rows("trtllm_llama33_70b_throughput.csv");
  if (rows.empty()) return;
  check_below(
      reached(rows, "H200 TP1 FP8", example::fp8_server("llama-3.1-70b", h200())), 0.53, 0.73);
  check_below(
      reached(
          rows, "H100 TP2 FP8", example::fp8_server("llama-3.1-70b", example::h100(2, 1978.9e12))),
      0.52,
      0.63);
  ServingGroup b200 = example::h100(1, 9000e12);
  b200.bandwidth = BytesPerSecond(7.7e12);
  b200.memory = Bytes(180.0 * 1024 * 1024 * 1024);
  Server fp4 = example::server("llama-3.1-70b", b200);
  fp4.formats = {"nvfp4", "fp8"};
  check_below(reached(rows, "B200 TP1 FP4", fp4), 0.34, 0.51);
}

TEST_CASE("a published concurrency sweep stays below the roof of each batch", "[inference]") {
  const auto rows = public_rows("yobitel_vllm_h100_llama31_8b_concurrency.csv");
  if (rows.empty()) return;
  REQUIRE(rows.size() == 4);
  // The lengths of its requests are not published: one token of context is the highest roof.
  const Server server = example::server("llama-3.1-8b");
  std::vector<double> parts;
  for (const PublicRow& row : rows) {
    const double batch = std::stod(row.at("concurrency"));
    parts.push_back(decode_step(server, batch, 1.0).time.value() /
                    (1e-3 * std::stod(row.at("tpot_p50_ms"))));
    CHECK(std::stod(row.at("tok_per_s")) <= batch / decode_step(server, batch, 1.0).time.value());
  }
  // One sequence reaches 69 % of the roof; what 64 of them wait for is not the GPU.
  CHECK_THAT(parts[0], WithinAbs(0.69, 0.01));
  CHECK_THAT(parts[1], WithinAbs(0.68, 0.01));
  CHECK_THAT(parts[2], WithinAbs(0.41, 0.01));
  CHECK_THAT(parts[3], WithinAbs(0.10, 0.01));
}
