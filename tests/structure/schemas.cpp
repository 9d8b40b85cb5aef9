// SPDX-License-Identifier: Apache-2.0
/// scaleworth_schemas DOCS [write]: compares the schemas that follow from the fields of each
/// document with those in DOCS, or writes them there. Titles and descriptions are kept: they are
/// written in DOCS by hand.
#include "report/attribution/attribution_report.h"
#include "report/decision/decision_report.h"
#include "report/mfu/mfu_report.h"
#include "report/run/compare_report.h"
#include "report/run/run_report.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/fields.h"
#include "src/core/files/run_directory.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace {
using Json = nlohmann::ordered_json;

/// `rule` with what the committed one says in words, above its own members; a rule that has words
/// of its own keeps them. The same for the rules inside of it.
Json described(const Json& rule, const Json& committed) {
  if (!rule.is_object() || !committed.is_object()) return rule;
  Json result = Json::object();
  for (const char* words : {"$schema", "$id", "title", "description"})
    if (!rule.contains(words) && committed.contains(words)) result[words] = committed[words];
  for (const auto& [key, value] : rule.items()) {
    const auto found = committed.find(key);
    if (found == committed.end()) {
      result[key] = value;
    } else if (key == "properties" || key == "$defs") {
      result[key] = Json::object();
      for (const auto& [name, one] : value.items())
        result[key][name] = described(one, found->value(name, Json()));
    } else {
      result[key] =
          key == "items" || key == "additionalProperties" ? described(value, *found) : value;
    }
  }
  return result;
}
}  // namespace

int main(int argc, char** argv) {
  using namespace scaleworth;  // NOLINT(google-build-using-namespace)
  if (argc < 2) return std::fputs("usage: scaleworth_schemas DOCS [write]\n", stderr), 2;
  const std::pair<const char*, std::string> schemas[] = {
      {"attribution.schema.json", report::attribution_schema()},
      {"collective_price.schema.json", report::price_schema()},
      {"compare.schema.json", report::comparison_schema()},
      {"decision.schema.json", report::decision_schema()},
      {"demand.schema.json", report::demand_schema()},
      {"machines.schema.json", report::offers_schema()},
      {"mfu.schema.json", report::mfu_schema()},
      {"mfu_budget.schema.json", report::budget_schema()},
      {"mfu_runs.schema.json", report::runs_schema()},
      {"mfu_inference.schema.json", report::serving_schema()},
      {"recording_comparison.schema.json", report::recording_comparison_schema()},
      {"prediction.schema.json", report::prediction_schema()},
      {"run.schema.json", run_schema()},
      {"sentences.schema.json", report::sentences_schema()},
  };
  int different = 0;
  for (const auto& [name, fields] : schemas) {
    const std::filesystem::path file = std::filesystem::path(argv[1]) / name;
    std::ifstream stream(file, std::ios::binary);
    const std::string committed(std::istreambuf_iterator<char>(stream), {});
    const std::string schema =
        json_text(described(Json::parse(fields), Json::parse(committed, nullptr, false)));
    if (committed == schema) continue;
    if (argc > 2) {
      write_file_atomically(file, schema);
      continue;
    }
    std::printf("%s does not follow from its fields; run scaleworth_schemas %s write\n",
                file.c_str(),
                argv[1]);
    different = 1;
  }
  return different;
}
