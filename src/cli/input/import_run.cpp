// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/core/files/toml_table.h"
#include "src/core/process.h"
#include "src/core/run.h"
#include "src/core/whole_number.h"
#include "src/model/collectives.h"

#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace scaleworth::cli {
namespace {
/// Of data/imports.toml's [[header]]; absent where it is not stated.
std::optional<std::int64_t> stated(const CollectiveTest& test, const std::string& name) {
  const auto* value = value_at(test.header, name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// What a test measured, and what says so.
struct TestIdentity {
  Collective collective = Collective::all_reduce;
  std::string collective_source;
  int ranks = 0;
  std::string ranks_source;
  bool ranks_inferred = false;
  std::optional<int> nodes;
  bool shared_gpu = false;
};

TestIdentity find_collective(const CollectiveTest& test, const ImportOptions& options) {
  TestIdentity identity;
  if (!test.program.text.empty()) {
    const auto named = collective_of_program(test.program.text);
    if (!named)
      throw UserError("{}: {} is no collective that is compared; leave this file out",
                      test.program.source,
                      toml_file::printable(test.program.text));
    identity.collective = *named;
    identity.collective_source = test.program.source;
    return identity;
  }
  const auto asked =
      options.collective.empty() ? std::nullopt : collective_of_program(options.collective);
  const auto by_file = collective_of_file(test.file);
  if (!asked && !by_file)
    throw UserError(
        "{}: neither the text nor the file's name says which collective it is; add --collective "
        "all_reduce (or {})",
        test.place,
        listed(every<Collective>,
               [](Collective one) { return one == Collective::all_reduce ? "" : key_of(one); }));
  identity.collective = asked ? *asked : *by_file;
  identity.collective_source = asked ? "--collective" : "the file's name";
  return identity;
}

struct RatioRange {
  double low = 0.0;
  double high = 0.0;
  bool any = false;
};

/// Of busbw/algbw: what all rows together leave, each within its printed digits.
RatioRange bus_ratio(const CollectiveTest& test) {
  RatioRange range{0.0, 1e300, false};
  for (const TestRow& row : test.rows) {
    for (const auto& timing : row.timings) {
      if (!timing || !timing->algorithm_bandwidth || !timing->bus_bandwidth) continue;
      const double half = 0.501 * timing->bandwidth_resolution;
      const double algorithm = *timing->algorithm_bandwidth;
      // Below twenty digits of the last place a ratio says little.
      if (algorithm < 20.0 * timing->bandwidth_resolution) continue;
      range.low = std::max(range.low, (*timing->bus_bandwidth - half) / (algorithm + half));
      range.high = std::min(range.high, (*timing->bus_bandwidth + half) / (algorithm - half));
      range.any = true;
    }
  }
  return range;
}

/// Numbers of ranks whose `bus_factor` lies within the range; empty: first > second.
std::pair<int, int> ranks_of_ratio(Collective collective, const RatioRange& range) {
  const auto first_with = [&](auto holds) {  // of 2 .. most_ranks + 1; the factor never falls
    int low = 2;
    int high = most_ranks + 1;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (holds(model::bus_factor(collective, middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  return {first_with([&](double factor) { return factor >= range.low; }),
          first_with([&](double factor) { return factor > range.high; }) - 1};
}

/// Of the list of devices, the log or the command; absent where none says.
std::optional<std::pair<int, std::string>> stated_ranks(const CollectiveTest& test) {
  const auto threads = stated(test, "threads");
  const auto gpus = stated(test, "gpus");
  const std::int64_t per_process = threads.value_or(1) * gpus.value_or(1);
  if (!test.devices.empty()) {
    int first_group = test.devices.front().group;
    std::set<int> ranks;
    std::set<std::int64_t> processes;
    for (const TestDevice& device : test.devices) {
      if (device.group == first_group) ranks.insert(device.rank);
      processes.insert(device.process);
    }
    const auto listed_ranks = static_cast<std::int64_t>(ranks.size());
    // JSON has a record of each process only.
    const bool of_processes = per_process > 1 && processes.size() == test.devices.size() &&
                              test.devices.size() == ranks.size() && ranks.size() > 0 &&
                              test.place == test.file;
    const auto count = rank_count(of_processes ? listed_ranks * per_process : listed_ranks);
    if (count) return std::pair(*count, std::string("the list of devices"));
  }
  if (test.logged_ranks) return std::pair(*test.logged_ranks, std::string("the library's log"));
  if (!gpus || !test.processes) return std::nullopt;
  const auto count = rank_count(per_process * *test.processes);
  if (!count) return std::nullopt;
  return std::pair(*count, std::string("the command"));
}

std::string range_text(std::pair<int, int> range) {
  if (range.second >= most_ranks) return fmt::format("{} ranks or more", range.first);
  return range.first == range.second ? fmt::format("{} ranks", range.first)
                                     : fmt::format("{} to {} ranks", range.first, range.second);
}

void find_ranks(const CollectiveTest& test, const ImportOptions& options, TestIdentity& identity) {
  const RatioRange ratio = bus_ratio(test);
  const std::string name = key_of(identity.collective);
  std::pair<int, int> possible{2, most_ranks};
  if (ratio.any) {
    possible = ranks_of_ratio(identity.collective, ratio);
    if (possible.first > possible.second) {
      if (ratio.high < 0.4)
        throw UserError(
            "{}: busbw is 0 beside an algbw: one rank alone, which exchanges nothing; start all "
            "ranks as one job (each task may have run by itself)",
            test.place);
      throw UserError(
          "{}: busbw/algbw is {:.3g}, which no number of ranks gives in {} ({}); add the right "
          "--collective, or restore the file",
          test.place,
          0.5 * (ratio.low + ratio.high),
          name,
          identity.collective_source);
    }
  }
  const bool unique = ratio.any && possible.first == possible.second;
  auto known = stated_ranks(test);
  if (options.ranks) known = std::pair(*options.ranks, std::string("--ranks"));
  const bool fits = known && known->first >= possible.first && known->first <= possible.second;
  if (known && known->first < 2 && !ratio.any)
    throw UserError("{}: one rank exchanges nothing; give a test of two ranks or more", test.place);
  if (fits) {
    std::tie(identity.ranks, identity.ranks_source) = *known;
  } else if (unique && !options.ranks) {
    identity.ranks = possible.first;
    identity.ranks_inferred = true;
    identity.ranks_source =
        fmt::format("busbw/algbw = {:.4g}", model::bus_factor(identity.collective, identity.ranks));
    if (known)
      identity.ranks_source += fmt::format(", though {} has {}", known->second, known->first);
  } else if (known) {
    throw UserError("{}: {} says {} ranks, busbw/algbw {}; add the right --ranks",
                    test.place,
                    known->second,
                    known->first,
                    range_text(possible));
  } else {
    throw UserError(
        "{}: the number of ranks is not known (no list of devices; {}); add --ranks NUMBER",
        test.place,
        ratio.any && possible.second < most_ranks
            ? fmt::format("busbw/algbw fits {}", range_text(possible))
            : "busbw/algbw does not show it");
  }
}

/// Nodes by the distinct hosts of a whole list; ranks that share a GPU.
void find_places(const CollectiveTest& test, const ImportOptions& options, TestIdentity& identity) {
  std::set<std::string> hosts;
  std::set<std::tuple<std::string, int, std::string>> gpus;
  std::set<int> ranks;
  for (const TestDevice& device : test.devices) {
    if (device.group != test.devices.front().group) continue;
    if (!ranks.insert(device.rank).second) continue;
    hosts.insert(device.host);
    if (!gpus.emplace(device.host, device.device, device.bus).second) identity.shared_gpu = true;
  }
  const bool whole = static_cast<int>(ranks.size()) == identity.ranks;
  if (options.nodes) {
    identity.nodes = options.nodes;
  } else if (whole && hosts.count("") == 0) {
    identity.nodes = static_cast<int>(hosts.size());
  } else if (test.logged_nodes) {
    identity.nodes = test.logged_nodes;
  }
}

std::string forced(const CollectiveTest& test, const char* variable) {
  const auto* found = value_at(test.variables, std::string(variable));
  return found == nullptr ? std::string() : library_word(found->text);
}

CollectiveMode mode_of(const CollectiveTest& test) {
  return stated(test, "graph").value_or(0) > 0 ? CollectiveMode::graph
                                               : CollectiveMode::back_to_back;
}

Setting setting_of(const CollectiveTest& test, const TestIdentity& identity) {
  Setting setting{{Parameter::collective, identity.collective},
                  {Parameter::mode, mode_of(test)},
                  {Parameter::ranks, std::int64_t{identity.ranks}},
                  {Parameter::selection, RankSelection::all},
                  {Parameter::algorithm, forced(test, "NCCL_ALGO")},
                  {Parameter::protocol, forced(test, "NCCL_PROTO")},
                  {Parameter::shared_gpu, identity.shared_gpu}};
  if (identity.nodes) setting.set(Parameter::nodes, std::int64_t{*identity.nodes});
  return setting;
}

/// Above this a difference is wrong: what nccl-tests 2.0 to 2.11, which print it, accept
/// (DeltaMaxValue in src/common.cu). Whole numbers must be equal.
double accepted_difference(const std::string& data_type) {
  if (data_type == "half" || data_type == "bfloat16") return 1e-2;
  if (data_type == "float") return 1e-5;
  return data_type == "double" ? 1e-12 : 0.0;
}

/// Absent: the result was not checked. A difference shows that elements are wrong, not how many:
/// one at least.
std::optional<double> wrong_elements(const TestRow& row, const TestTiming& timing) {
  if (timing.wrong_elements) return timing.wrong_elements;
  if (!timing.largest_difference) return std::nullopt;
  return *timing.largest_difference > accepted_difference(row.data_type) ? 1.0 : 0.0;
}

Sampling sampling_of(const CollectiveTest& test, const TestTiming& timing) {
  Sampling sampling = timing.time.sampling;
  if (timing.time.size() > 1) return sampling;  // of single iterations
  sampling.kind = Sampling::Kind::mean;
  const std::int64_t iterations =
      std::clamp<std::int64_t>(stated(test, "iterations").value_or(1), 1, 1 << 30);
  sampling.of =
      iterations * std::clamp<std::int64_t>(stated(test, "aggregated").value_or(1), 1, 1 << 30);
  return sampling;
}

/// The points of one test; sizes that it measured several times are pooled, wrong results not.
std::vector<Point> points_of(const CollectiveTest& test, const Setting& common) {
  std::vector<Point> points;
  std::map<Setting, std::size_t> known;
  for (const TestRow& row : test.rows) {
    for (const bool in_place : {false, true}) {
      const auto& timing = row.timings[in_place ? 1 : 0];
      if (!timing) continue;
      Point point;
      point.setting = common;
      point.setting.set(Parameter::message_bytes, row.bytes);
      point.setting.set(Parameter::in_place, in_place);
      point.setting.set(Parameter::data_type, row.data_type);
      if (!row.reduction.empty()) point.setting.set(Parameter::reduction, row.reduction);
      const auto wrong = wrong_elements(row, *timing);
      if (wrong) point.amounts[Metric::wrong_elements] = *wrong;
      Series& series = point.samples[Metric::time_s] = timing->time;
      series.sampling = sampling_of(test, *timing);
      if (wrong.value_or(0.0) > 0.0) {
        points.push_back(std::move(point));
        continue;
      }
      const auto [place, first] = known.try_emplace(point.setting, points.size());
      if (first) {
        points.push_back(std::move(point));
      } else {
        Series& whole = points[place->second].samples[Metric::time_s];
        whole.insert(whole.end(), series.begin(), series.end());
      }
    }
  }
  return points;
}

/// "8 x NVIDIA H100, 8 x NVIDIA H200".
std::string gpus_text(const CollectiveTest& test) {
  std::map<std::string, int> counted;
  for (const TestDevice& device : test.devices) ++counted[device.name];
  return listed(counted, [](const auto& one) {
    return one.first.empty() ? "" : fmt::format("{} x {}", one.second, one.first);
  });
}

std::string hosts_text(const CollectiveTest& test) {
  std::set<std::string> hosts;
  for (const TestDevice& device : test.devices) hosts.insert(device.host);
  constexpr std::size_t most_listed = 8;
  if (hosts.size() > most_listed) return fmt::format("{} of them", hosts.size());
  return listed(hosts);
}

FactSection facts_of(const CollectiveTest& test, const TestIdentity& identity) {
  FactSection section{"nccl_tests", {}};
  const auto add_if = [&](const char* name, bool stated, Value value, const std::string& source) {
    section.facts.push_back({name,
                             stated ? std::optional(std::move(value)) : std::nullopt,
                             stated ? source : base_name(test.file) + " does not state it"});
  };
  const auto add = [&](const char* name, const std::string& text, const std::string& source) {
    add_if(name, !text.empty(), text, source);
  };
  const auto add_count =
      [&](const char* name, std::optional<std::int64_t> count, const std::string& source) {
        add_if(name, count.has_value(), count.value_or(0), source);
      };
  const std::string devices = base_name(test.file) + ", the list of devices";
  add("file", test.file, "the command line");
  add("collective", key_of(identity.collective), identity.collective_source);
  add_count("ranks", identity.ranks, identity.ranks_source);
  add_count("nodes", identity.nodes, "distinct hosts, the library's log or --nodes");
  add("program", test.version.text, test.version.source);
  add("library", test.library.text, test.library.source);
  add("gpus", gpus_text(test), devices);
  add("hosts", hosts_text(test), devices);
  add_count("iterations", stated(test, "iterations"), test.place);
  add("command", test.command.text, test.command.source);
  if (!test.started_at.text.empty())
    add("started_at", test.started_at.text, test.started_at.source);
  return section;
}

void add_variables(Run& run, const CollectiveTest& test) {
  EnvironmentVariables values;
  for (const auto& [name, value] : test.variables) values[name] = value.text;
  FactSection section = allowed_variables(values);
  if (section.facts.empty()) return;
  FactSection* whole = find_in(run.environment, section.name, &FactSection::name);
  if (whole == nullptr) {
    run.environment.push_back({section.name, {}});
    whole = &run.environment.back();
  }
  for (Fact& fact : section.facts) {
    fact.source = test.variables.at(fact.name).source;
    const bool same = std::ranges::any_of(whole->facts, [&](const Fact& one) {
      return one.name == fact.name && one.value == fact.value;
    });
    if (!same) whole->facts.push_back(std::move(fact));
  }
}

/// What is missing, left out or inferred.
std::vector<Finding> warnings_of(const CollectiveTest& test, const TestIdentity& identity) {
  std::vector<Finding> warnings;
  const auto warn = [&](FindingId id, const auto&... values) {
    warnings.emplace_back(FindingId::of_table, base_name(test.place), Finding(id, values...));
  };
  if (identity.ranks_inferred)
    warn(FindingId::ranks_inferred, identity.ranks, identity.ranks_source);
  std::vector<Finding> missing;
  if (test.devices.empty()) missing.emplace_back(FindingId::list_of_devices);
  if (test.library.text.empty()) missing.emplace_back(FindingId::version_of_library);
  if (!stated(test, "iterations")) missing.emplace_back(FindingId::the_iterations);
  if (!identity.nodes) missing.emplace_back(FindingId::the_nodes);
  if (!missing.empty()) warn(FindingId::does_not_state, missing);
  if (test.damaged_rows > 0) warn(FindingId::rows_damaged, test.damaged_rows, test.first_damaged);
  if (ends_early(test))
    warn(FindingId::ends_early, test.rows.back().bytes, *stated(test, "largest_bytes"));
  const bool any_wrong = std::ranges::any_of(test.rows, [](const TestRow& row) {
    return std::ranges::any_of(row.timings, [&](const auto& timing) {
      return timing && wrong_elements(row, *timing).value_or(0.0) > 0.0;
    });
  });
  if (test.out_of_bounds.value_or(0) > 0 && !any_wrong)
    warn(FindingId::wrong_values_somewhere, *test.out_of_bounds);
  if (identity.shared_gpu) warn(FindingId::ranks_share_gpu);
  return warnings;
}

/// A probe as several files gave it: with the parameter `run` in settings that several have.
ProbeRecord joined(std::vector<ProbeRecord> parts) {
  std::map<Setting, std::set<std::size_t>> by_setting;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (const Point& point : parts[part].points) by_setting[point.setting].insert(part);
  }
  ProbeRecord whole;
  whole.name = parts.front().name;
  whole.status = ProbeStatus::measured;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (Point& point : parts[part].points) {
      const std::set<std::size_t>& in = by_setting.at(point.setting);
      if (in.size() > 1)
        point.setting.set(Parameter::run,
                          std::int64_t{std::distance(in.begin(), in.find(part)) + 1});
      whole.points.push_back(std::move(point));
    }
    std::ranges::move(parts[part].warnings, std::back_inserter(whole.warnings));
    for (const auto& [name, amount] : parts[part].losses) whole.losses[name] += amount;
  }
  return whole;
}

/// A second section of the same name is "nccl_tests_2"; of a GPU the first is kept.
void add_facts(std::vector<FactSection>& environment, FactSection&& section) {
  const std::string name = section.name;
  for (int number = 2; find_in(environment, section.name, &FactSection::name) != nullptr;
       ++number) {
    if (name.starts_with("gpu ")) return;
    section.name = fmt::format("{}_{}", name, number);
  }
  environment.push_back(std::move(section));
}

}  // namespace

ImportedProbes imported_probes(const CollectiveTest& test, const ImportOptions& options) {
  TestIdentity identity = find_collective(test, options);
  find_ranks(test, options, identity);
  find_places(test, options, identity);
  ProbeRecord probe;
  probe.name = probe_name::comm_nccl;
  probe.status = ProbeStatus::measured;
  probe.points = points_of(test, setting_of(test, identity));
  probe.warnings = warnings_of(test, identity);
  if (test.rows_of_size_0 > 0)
    probe.losses["rows_of_size_0"] = static_cast<double>(test.rows_of_size_0);
  if (test.damaged_rows > 0)
    probe.losses[loss_name::damaged_rows] = static_cast<double>(test.damaged_rows);
  if (ends_early(test)) probe.losses[loss_name::ended_early] = 1.0;
  ImportedProbes found{{facts_of(test, identity)}, {std::move(probe)}};
  if (identity.nodes) found.placement = RankPlacement{identity.ranks, *identity.nodes, true};
  return found;
}

Run imported_run(std::vector<ImportedProbes> files, const std::vector<CollectiveTest>& tests) {
  Run run;
  run.suite = "import";
  run.complete = true;
  std::vector<std::vector<ProbeRecord>> probes;  // of one name each
  for (ImportedProbes& file : files) {
    for (FactSection& section : file.facts) add_facts(run.environment, std::move(section));
    // Of the largest job whose nodes are known.
    if (file.placement && file.placement->ranks >= (run.placement ? run.placement->ranks : 0))
      run.placement = file.placement;
    for (ProbeRecord& probe : file.probes) {
      auto* parts = find_in(probes, probe.name, [](const auto& of) { return of.front().name; });
      if (parts == nullptr) parts = &probes.emplace_back();
      parts->push_back(std::move(probe));
    }
  }
  for (const CollectiveTest& test : tests) add_variables(run, test);
  for (std::vector<ProbeRecord>& parts : probes) run.probes.push_back(joined(std::move(parts)));
  return run;
}

}  // namespace scaleworth::cli
