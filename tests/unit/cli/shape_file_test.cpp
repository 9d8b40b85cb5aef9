// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/gpu/shape_file.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <string>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

/// The complaint about `text`, empty when there is none.
std::string complaint(const std::string& text) {
  try {
    parse_shape_file(text, "shapes.csv");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a shape file gives names, sizes, batches and formats in any column order", "[shapes]") {
  const auto shapes = parse_shape_file(
      "# the layers that we train\n"
      "m, n ,k,name,format,batch\r\n"
      "\n"
      "4096,12288,4096,\"qkv, fused\",fp8_e4m3,2\n"
      "8192,4096,4096,out,,\n",
      "shapes.csv");
  REQUIRE(shapes.size() == 2);
  REQUIRE(shapes[0].name == "qkv, fused");
  REQUIRE(shapes[0].m == 4096);
  REQUIRE(shapes[0].n == 12288);
  REQUIRE(shapes[0].k == 4096);
  REQUIRE(shapes[0].batch == 2);
  REQUIRE(shapes[0].format == probes::NumberFormat::fp8_e4m3);
  REQUIRE(shapes[1].name == "out");
  REQUIRE(shapes[1].batch == 1);
  REQUIRE_FALSE(shapes[1].format);
}

TEST_CASE("a quote inside a quoted name is doubled", "[shapes]") {
  REQUIRE(parse_shape_file("name,m,n,k\n\"a \"\"b\"\"\",1,2,3", "f").front().name == "a \"b\"");
}

TEST_CASE("what is wrong with a shape file is named with its line", "[shapes]") {
  REQUIRE(complaint("name,m,n\na,1,2\n").starts_with("shapes.csv:1: the header lacks 'k'"));
  REQUIRE(complaint("name,m,n,k,colour\n").starts_with("shapes.csv:1: unknown column 'colour'"));
  REQUIRE(complaint("name,m,n,k,m\n").starts_with("shapes.csv:1: column 'm' stands twice"));
  REQUIRE(complaint("name,m,n,k\na,1,2,3\nb,1,0,3\n").starts_with("shapes.csv:3: n is '0'"));
  REQUIRE(complaint("name,m,n,k\na,1,2,3x\n").starts_with("shapes.csv:2: k is '3x'"));
  REQUIRE(complaint("name,m,n,k\na,1,2,4294967296\n").starts_with("shapes.csv:2: k is"));
  REQUIRE(
      complaint("name,m,n,k\na,1,2\n").starts_with("shapes.csv:2: 3 cells under a header of 4"));
  REQUIRE(complaint("name,m,n,k\n\"a,1,2,3\n").starts_with("shapes.csv:2: a quoted cell"));
  REQUIRE(complaint("name,m,n,k\n\"a\"b,1,2,3\n").starts_with("shapes.csv:2: a comma is missing"));
  REQUIRE(complaint("name,m,n,k,format\na,1,2,3,fp5\n").find("unknown format 'fp5'") !=
          std::string::npos);
  REQUIRE(complaint("name,m,n,k\n").find("no shapes") != std::string::npos);
  REQUIRE(complaint("").find("no shapes") != std::string::npos);
}

TEST_CASE("a file of more shapes than can be measured is refused", "[shapes]") {
  std::string text = "name,m,n,k\n";
  for (int i = 0; i < 1001; ++i) text += "a,1,2,3\n";
  REQUIRE(complaint(text).starts_with("shapes.csv:1002: more than 1000 shapes"));
}

TEST_CASE("a shape file that is not there is refused with its name", "[shapes]") {
  REQUIRE_THROWS_AS(read_shape_file("/nonexistent/shapes.csv"), UserError);
}
