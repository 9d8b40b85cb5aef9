// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/job_metadata.h"

#include "trace/format/json/number.h"

#include <limits>

#include <simdjson.h>

namespace scaleworth::trace {

namespace {

std::optional<std::int32_t> small_number(const simdjson::dom::element& object, const char* key) {
  simdjson::dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t number = 0;
  std::string_view text;
  // Some launchers write what they found in the environment: text.
  if (value.get(text) == simdjson::SUCCESS) {
    const auto parsed = parse_integer(text);
    if (!parsed) return std::nullopt;
    number = *parsed;
  } else if (value.get(number) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

std::string_view text_of(const simdjson::dom::element& object, const char* key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  return text;
}

void read_group(const simdjson::dom::element& config, Recording& recording) {
  const auto name = text_of(config, "pg_name");
  if (name.empty()) return;
  auto& group = recording.groups[recording.names.intern(name)];
  group.description = text_of(config, "pg_desc");
  group.size = small_number(config, "pg_size");
  group.ranks.clear();
  simdjson::dom::array ranks;
  if (config["ranks"].get(ranks) != simdjson::SUCCESS) return;
  for (const auto rank : ranks) {
    std::int64_t number = 0;
    if (rank.get(number) == simdjson::SUCCESS)
      group.ranks.push_back(static_cast<std::int32_t>(number));
  }
}

void read_distributed_info(const simdjson::dom::element& info, Recording& recording) {
  recording.origin.rank = small_number(info, "rank");
  recording.origin.world_size = small_number(info, "world_size");
  if (recording.origin.rank) recording.origin.rank_from = "distributedInfo";
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
  for (const auto config : groups) read_group(config, recording);
}

}  // namespace

void read_kineto_member(std::string_view key,
                        std::string_view json,
                        Recording& recording,
                        std::chrono::nanoseconds& base) {
  if (key == "baseTimeNanoseconds") {
    base = std::chrono::nanoseconds(parse_integer(json).value_or(0));
  } else if (key == "distributedInfo") {
    simdjson::dom::parser parser;
    simdjson::dom::element info;
    if (parser.parse(json.data(), json.size()).get(info) == simdjson::SUCCESS)
      read_distributed_info(info, recording);
  } else if (key == "host_name" || key == "hostname") {
    recording.origin.host = bare_token(json);
  }
}

}  // namespace scaleworth::trace
