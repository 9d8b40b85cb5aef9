// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/run_directory.h"

#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/json_reader.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace scaleworth {
namespace {
using nlohmann::json;

// The members of run.json, one list per struct: read by `JsonReader`, written by `Fields`. Those
// that follow from the vocabulary are written and described by its lists, and read by their keys.

void setting_fields(Fields& json, const Setting& setting) {
  put_setting(json, "setting", setting);
}

void setting_fields(const JsonReader& run, Setting& setting) {
  run.member("setting").members([&](const std::string& key, const JsonReader& member) {
    const auto parameter = parameter_of_key(key);
    if (!parameter) member.fail("is no parameter that this version knows");
    SettingValue value;
    member.read(value, {});
    try {
      setting.set(*parameter, std::move(value));
    } catch (const std::invalid_argument& wrong) {
      member.fail(wrong.what());
    }
  });
}

template <class V>
void metric_fields(Fields& json, const char* key, const std::map<Metric, V>& values) {
  const auto members = [&](Fields& of) {
    for (const MetricInfo& about : all_metrics()) {
      const V* value = value_at(values, about.id);
      of.members_if(value != nullptr, [&](Fields& member) {
        const std::string unit = unit_symbol(about.unit);
        const std::string described = about.sentence + (unit.empty() ? "" : " Unit: " + unit + ".");
        const FieldOptions options{.sentence = described.c_str()};
        member(about.key, value == nullptr ? V{} : *value, options);
      });
    }
  };
  json.object(key, members);
}

template <class V>
void metric_fields(const JsonReader& point, const char* key, std::map<Metric, V>& values) {
  point.member(key).members([&](const std::string& name, const JsonReader& member) {
    const auto metric = metric_of_key(name);
    if (!metric) member.fail("is no metric that this version knows");
    member.read(values[*metric], {});
  });
}

bool is_taken_by_others(const Series& series) {
  return series.sampling.kind != Sampling::Kind::single || series.sampling.resolution != 0.0;
}

// In the order of Sampling::Kind.
constexpr std::array sampling_kinds{"single", "mean", "minimum"};

void sampling_fields(Fields& json, const std::map<Metric, Series>& samples) {
  const bool any = std::ranges::any_of(
      samples, [](const auto& entry) { return is_taken_by_others(entry.second); });
  json.members_if(any, [&](Fields& of) {
    const auto members = [&](Fields& list) {
      for (const MetricInfo& about : all_metrics()) {
        const Series* series = value_at(samples, about.id);
        list.members_if(series != nullptr && is_taken_by_others(*series), [&](Fields& entry) {
          const Sampling sampling = series ? series->sampling : Sampling{};
          entry.object(about.key, [&](Fields& each) {
            each("kind", sampling_kinds.at(index_of(sampling.kind)), one_of("single|mean|minimum"));
            each("of", sampling.of);
            each("resolution", sampling.resolution);
          });
        });
      }
    };
    of.object("sampling", members);
  });
}

void sampling_fields(const JsonReader& point, std::map<Metric, Series>& samples) {
  if (!point.contains("sampling")) return;
  point.member("sampling").members([&](const std::string& name, const JsonReader& member) {
    const auto metric = metric_of_key(name);
    Series* series = metric ? value_at(samples, *metric) : nullptr;
    if (series == nullptr) member.fail("has no series in samples");
    const std::string kind = member.member("kind").text();
    const auto* found = std::ranges::find(sampling_kinds, std::string_view(kind));
    if (found == sampling_kinds.end()) member.fail("is none of single, mean, minimum");
    series->sampling.kind = static_cast<Sampling::Kind>(found - sampling_kinds.begin());
    member("of", series->sampling.of);
    member("resolution", series->sampling.resolution);
  });
}

constexpr auto placement_fields = [](auto& fields, auto& placement) {
  fields("ranks", placement.ranks);
  fields("nodes", placement.nodes);
  fields("on_gpus", placement.on_gpus);
};

constexpr auto link_fields = [](auto& fields, auto& link) {
  fields("first", link.first);
  fields("second", link.second);
  fields("kind", link.kind);
  fields("links", link.links);
};

constexpr auto section_fields = [](auto& fields, auto& section) {
  fields("name", section.name);
  fields.array("facts", section.facts, [](auto& members, auto& fact) {
    members("name", fact.name);
    members("value", fact.value);
    members("source", fact.source);
  });
};

constexpr auto point_fields = [](auto& fields, auto& point) {
  setting_fields(fields, point.setting);
  metric_fields(fields, "amounts", point.amounts);
  metric_fields(fields, "samples", point.samples);
  sampling_fields(fields, point.samples);
  fields("stop_reason", point.stop_reason);
  fields("warnings", point.warnings);
};

constexpr auto probe_fields = [](auto& fields, auto& probe) {
  fields("name", probe.name);
  fields("status", probe.status, one_of("pending|measured|skipped|failed"));
  fields("reason", probe.reason);
  fields("duration_s", probe.duration_s);
  fields("losses", probe.losses);
  fields("warnings", probe.warnings);
  fields.array("points", probe.points, point_fields);
};

constexpr auto run_fields = [](auto& fields, auto& run) {
  fields("tool_version", run.tool_version);
  fields("git_revision", run.git_revision);
  fields("started_at", run.started_at);
  fields("command_line", run.command_line);
  fields("suite", run.suite);
  fields("complete", run.complete);
  fields("interruption", run.interruption);
  fields("warnings", run.warnings);
  fields("files", run.files);
  fields.array("environment", run.environment, section_fields);
  fields.object("placement", run.placement, placement_fields);
  fields.array("gpu_links", run.gpu_links, link_fields);
  fields.array("probes", run.probes, probe_fields);
};

constexpr JsonHead run_head{run_schema_version, nullptr};

void require_finite(double number, const std::string& place) {
  if (std::isfinite(number)) return;
  throw ProbeFailure("{} is {}: the measurement is broken and is not recorded", place, number);
}

void require_finite(const Value& value, const std::string& place) {
  if (const double* number = std::get_if<double>(&value)) require_finite(*number, place);
}

void require_finite(const Run& run) {
  for (const FactSection& section : run.environment) {
    for (const Fact& fact : section.facts)
      if (fact.value) require_finite(*fact.value, fact.name);
  }
  for (const ProbeRecord& probe : run.probes) {
    require_finite(probe.duration_s, probe.name + " duration_s");
    for (const auto& [name, loss] : probe.losses) require_finite(loss, name);
    for (const Point& point : probe.points) scaleworth::require_finite(point);
  }
}

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// Runs are some megabytes; the parser takes several times a file's size, so that a larger one could
// exhaust the memory. Presumed.
constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;
// 1 / 5 %: the pause between two saves in units of what one costs.
constexpr int pause_per_cost = 20;

std::string contents_of(const fs::path& file) try {
  return read_whole(file, "cannot read " + file.string(), largest_file, "");
} catch (const UserError& error) {
  throw UserError("{}; give a run directory or its run.json", error.what());
}
}  // namespace

Run run_from_json(std::string_view text, const std::string& where) {
  json document = parse_bounded_json(text, where);
  const JsonReader root(document, where, "restore the file or measure again");
  Run run;
  upgrade_run(document, root.member("schema_version").version(run_schema_version));
  run_fields(root, run);
  root.member("files").each([](const JsonReader& file) {
    if (!stays_inside(file.text())) file.fail("names a file outside the run directory");
  });
  return run;
}

std::string run_to_json(const Run& run) {
  require_finite(run);
  Fields fields(Fields::Make::document, run_head);
  run_fields(fields, run);
  return fields.text();
}

std::string run_schema() {
  return schema_of(run_head, [run = Run{}](Fields& fields) { run_fields(fields, run); });
}

void require_finite(const Point& point) {
  for (const auto& [metric, number] : point.amounts) require_finite(number, info(metric).key);
  for (const auto& [metric, series] : point.samples) {
    const auto broken = std::ranges::find_if_not(series, [](double x) { return std::isfinite(x); });
    if (broken == series.end()) continue;
    require_finite(*broken, fmt::format("{}[{}]", info(metric).key, broken - series.begin()));
  }
}

RunDirectory::RunDirectory(fs::path path, Seconds least_interval)
    : path_(std::move(path)), least_interval_(least_interval) {
  make_directory(path_);
  std::error_code error;
  if (fs::exists(path_ / run_file_name, error)) {
    throw UserError("{} already holds a run; choose another directory or remove that one",
                    path_.string());
  }
  if (!fs::is_empty(path_, error) && !error) {
    throw UserError("{} is not empty; choose another directory, so that no file is replaced",
                    path_.string());
  }
  // Of two runs that come here at once one is refused.
  append_to_file(path_ / run_file_name, "", Existing::refuse);
}

void RunDirectory::save(const Run& run) {
  const steady_clock::time_point start = steady_clock::now();
  const auto ended = std::ranges::count_if(
      run.probes, [](const auto& probe) { return probe.status != ProbeStatus::pending; });
  Milestone milestone{ended, run.complete, run.interruption.has_value()};
  if (saved_ == milestone && start < next_save_) return;
  write_file_atomically(path_ / run_file_name, run_to_json(run));
  saved_ = std::move(milestone);
  const steady_clock::time_point end = steady_clock::now();
  const std::chrono::duration<double> least(least_interval_.value());
  next_save_ = end + std::max(std::chrono::duration_cast<steady_clock::duration>(least),
                              pause_per_cost * (end - start));
}

fs::path RunDirectory::inside(const std::string& name) const {
  if (!stays_inside(name) || name == run_file_name) {
    throw std::invalid_argument("no file beside run.json: '" + name + "'");
  }
  return path_ / name;
}

void RunDirectory::append_rows(const std::string& name,
                               const std::vector<std::string>& header,
                               const std::vector<std::vector<std::string>>& rows) {
  const fs::path file = inside(name);
  make_directory(file.parent_path());
  const bool first = tables_.count(name) == 0;
  std::string lines = first ? csv_line(header) : std::string();
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != header.size())
      throw std::invalid_argument("append_rows: a row of " + name + " does not match its header");
    lines += csv_line(row);
  }
  append_to_file(file, lines, first ? Existing::refuse : Existing::append);
  tables_.insert(name);
}

void RunDirectory::write_file(const std::string& name, std::string_view contents) {
  const fs::path file = inside(name);
  make_directory(file.parent_path());
  // What was measured goes before: saving run.json takes its size once more.
  std::error_code unknown;
  const auto free = fs::space(path_, unknown).available;
  // And 64 KiB, some file system blocks, for what is added to run.json until then; presumed.
  const auto reserve = fs::file_size(path_ / run_file_name, unknown) + 65'536;
  if (!unknown && contents.size() + reserve > free)
    throw UserError(
        "cannot write {}: {} bytes are free on this disk; free some space or choose another "
        "output directory",
        file.string(),
        free);
  write_file_atomically(file, contents);
}

Run read_run(const fs::path& path) {
  return join_runs(read_points(path));
}

Run read_points(const fs::path& path) {
  std::error_code error;
  const fs::path file = fs::is_directory(path, error) ? path / run_file_name : path;
  Run run = run_from_json(contents_of(file), file.string());
  const fs::path left = file.parent_path() / ranks_folder_name / run_file_name;
  if (!run.complete && fs::exists(left, error)) {
    Run ranks = run_from_json(contents_of(left), left.string());
    std::ranges::move(ranks.warnings, std::back_inserter(run.warnings));
    for (ProbeRecord& one : ranks.probes) {
      const auto own = std::ranges::find(run.probes, one.name, &ProbeRecord::name);
      if (own == run.probes.end())
        run.probes.push_back(std::move(one));
      else if (own->status == ProbeStatus::pending)
        *own = std::move(one);
    }
    run.warnings.emplace_back(FindingId::ranks_not_taken_over, left.string());
  }
  return run;
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::filesystem::path default_run_directory(std::chrono::system_clock::time_point time,
                                            std::string_view host) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::string name = fmt::format("{:%Y%m%dT%H%M%SZ}-", fmt::gmtime(seconds));
  for (const char c : host) name += allowed.find(c) == std::string_view::npos ? '-' : c;
  return std::filesystem::path("scaleworth-runs") / name;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

bool stays_inside(const std::string& name) {
  const std::filesystem::path path(name);
  return !name.empty() && path.is_relative() && path.has_filename() &&
         name.find('\0') == std::string::npos &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}
}  // namespace scaleworth
