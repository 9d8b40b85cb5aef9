// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/session.h"

#include "probes/host/host_facts.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "report/words.h"
#include "src/cli/flags.h"
#include "src/core/process.h"
#include "src/core/run.h"
#include "src/core/version.h"
#include "trace/formats/export/export.h"
#include "trace/span_ledger.h"

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <new>
#include <variant>

#include <unistd.h>

namespace scaleworth::cli {
namespace {
constexpr int bar_width = 24;  // characters: with its words within 80
constexpr std::chrono::milliseconds redraw_interval{100};

Run new_run(const MeasureOptions& options,
            const Plan& plan,
            const std::vector<std::string>& arguments) {
  Run run;
  run.tool_version = tool_version();
  run.git_revision = git_revision();
  run.started_at = utc_text(std::chrono::system_clock::now());
  run.command_line = arguments;
  run.suite = options.suite;
  for (const PlannedProbe& probe : plan.probes) {
    ProbeRecord& record = run.probes.emplace_back();
    record.name = probe.name;
    record.reason = probe.left_out;
    if (probe.left_out) record.status = ProbeStatus::skipped;
  }
  return run;
}

std::optional<RunDirectory> new_directory(const MeasureOptions& options, bool write) {
  if (!write) return std::nullopt;
  if (!options.out.empty()) return RunDirectory(options.out);
  const std::filesystem::path name =
      default_run_directory(std::chrono::system_clock::now(), host_name());
  std::filesystem::path path = name;
  make_directory(name.parent_path());
  // Another run of this second has its own.
  std::error_code trouble;
  for (int copy = 2; !std::filesystem::create_directory(path, trouble) && !trouble; ++copy)
    path = fmt::format("{}-{}", name.string(), copy);
  return RunDirectory(path);
}

std::string trace_file_name(const Run& run, const std::string& folder, const Point& setting) {
  const std::string stem = fmt::format("{}trace-{}-{}",
                                       folder,
                                       setting.setting.text(Parameter::scaling),
                                       integer_parameter(setting, Parameter::ranks));
  std::string name = stem + ".json";
  for (int copy = 2; std::ranges::count(run.files, name) > 0; ++copy) {
    name = fmt::format("{}-{}.json", stem, copy);
  }
  return name;
}

void add_once(std::vector<Finding>& findings, const Finding& finding) {
  if (std::ranges::count(findings, finding) == 0) findings.push_back(finding);
}

void fail_if_pending(ProbeRecord& probe, const Finding& reason) {
  if (probe.status != ProbeStatus::pending) return;
  probe.status = ProbeStatus::failed;
  probe.reason = reason;
}

/// Adds what run `number` measured; how it failed stays, whatever later runs do.
void add_run(ProbeRecord& whole, ProbeRecord&& one, int number, bool interrupted) {
  for (Point& point : one.points) {
    point.setting.set(Parameter::run, std::int64_t{number});
    whole.points.push_back(std::move(point));
  }
  whole.duration_s += one.duration_s;
  for (const auto& [what, amount] : one.losses) whole.losses[what] += amount;
  for (const Finding& warning : one.warnings) add_once(whole.warnings, warning);
  const bool measured = whole.status == ProbeStatus::measured;
  if (whole.status == ProbeStatus::failed || one.status == ProbeStatus::pending) return;
  const bool failed = one.status == ProbeStatus::failed;
  if (measured && (interrupted || !failed)) return;
  whole.status = one.status;
  whole.reason = one.reason;
  if (failed && one.reason) whole.reason = Finding(FindingId::of_run_number, number, *one.reason);
}

/// The value of an outcome as a fact; what is missing keeps its reason.
template <class T, class Describe>
Fact fact_of(const std::string& name, const Outcome<T>& outcome, Describe describe) {
  const T* value = std::get_if<T>(&outcome);
  if (value == nullptr) return {name, std::nullopt, reason_of(outcome)};
  return {name, std::string(describe(*value)), "opened at run time"};
}

/// A library's source is its path and the search step that found it, or why it is missing.
FactSection gpu_libraries(const VendorPaths& paths) {
  FactSection section{gpu_libraries_section, {}};
  for (const VendorLibrary& library : vendor_libraries(paths)) {
    if (library.path.empty()) {
      section.facts.push_back({library.name, std::nullopt, library.reason});
    } else {
      section.facts.push_back(
          {library.name, library.version, fmt::format("{}, by {}", library.path, library.reason)});
    }
  }
  return section;
}
}  // namespace

Session::Session(const MeasureOptions& options,
                 const Plan& plan,
                 const std::vector<std::string>& arguments,
                 bool write)
    : options_(options),
      plan_(plan),
      run_(new_run(options, plan, arguments)),
      directory_(new_directory(options, write)),
      progress_(options.quiet || !write, plan.total()) {
  if (options.part_of_bench.empty() && directory_) directory_->save(run_);
  save();
}

void Session::run_probe(const PlannedProbe& probe, const std::function<void()>& measure) {
  if (probe.left_out) return;
  current_ = probe.name;
  const auto begun = std::chrono::steady_clock::now();
  progress_.begin(probe.name, probe.estimate);
  const auto end = [&](ProbeStatus status, const std::optional<Finding>& reason) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    ProbeRecord& ended = record(current_);
    ended.status = status;
    ended.reason = reason;
    ended.duration_s = took.count();
    progress_.end(key_of(status) + (reason ? ": " + report::said(*reason) : ""), took.count());
    save();
  };
  try {
    measure();
    end(ProbeStatus::measured, std::nullopt);
  } catch (const NothingToMeasure& nothing) {
    end(ProbeStatus::skipped, nothing.reason);
  } catch (const FailureFound& failure) {
    end(ProbeStatus::failed, failure.reason);
  } catch (const ProbeFailure& failure) {
    end(ProbeStatus::failed, Finding(FindingId::stated, failure.what()));
  } catch (const std::bad_alloc&) {
    end(ProbeStatus::failed, FindingId::out_of_memory);
  } catch (const Interrupted& interrupted) {
    end(ProbeStatus::failed, Finding(FindingId::stated, interrupted.what()));
    throw;
  }
}

void Session::until_interrupted(const std::function<void()>& measure) {
  try {
    measure();
  } catch (const Interrupted& interrupted) {
    interruption_ = interrupted;
    run_.interruption = Finding(FindingId::stated, interrupted.what());
  }
}

void Session::record_environment(Machine& machine, std::span<const pid_t> own) {
  MachineFacts environment =
      collect_environment(machine, options_.mpi_module, options_.vendor_paths, own);
  run_.environment = std::move(environment.sections);
  std::error_code hidden;
  if (!std::filesystem::exists("/sys/devices/system/cpu", hidden))
    run_.warnings.emplace_back(FindingId::sys_hidden);
  run_.gpu_links = std::move(environment.gpu_links);
}

void Session::record_ranks(const RankGroup& group,
                           const char* medium,
                           const LaunchEnvironment& launch) {
  run_.environment.push_back(
      {"ranks",
       {{"placement", group.placement(), medium},
        {"launcher", std::string(launcher_name(launch.launcher)), "environment"}}});
  run_.placement = group.located();
  std::ranges::copy(group.notes(), std::back_inserter(run_.warnings));
  if (launch.launcher == Launcher::none) return;
  other_ranks_cpu_s_.reset();
  // Where those of ranks that we start ourselves lie.
  folder_ = std::string(ranks_folder_name) + "/";
}

void Session::record_nodes(RankGroup& group) {
  const std::vector<std::string> hosts = group.exchange(host_identity());
  const std::vector<std::string> networks = group.exchange(host::network_rates());
  FactSection nodes{"nodes", {}};
  std::vector<std::string> known;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (std::ranges::count(known, hosts[rank]) > 0) continue;
    const std::string number = fmt::format("node {}", known.size());
    known.push_back(hosts[rank]);
    const auto host = Value(hosts[rank].substr(0, hosts[rank].find(' ')));
    nodes.facts.push_back({number, host, "gethostname(2) of its first rank"});
    nodes.facts.push_back({number + " ranks", std::ranges::count(hosts, hosts[rank]), "launcher"});
    if (!networks[rank].empty())
      nodes.facts.push_back({number + " network", Value(networks[rank]), "/sys/class on it"});
  }
  run_.environment.push_back(std::move(nodes));
}

void Session::count_ranks(RankGroup& group) {
  try {
    double all = 0.0;
    const double own = load_.own_s();
    for (const RankProcess& process : processes_here(group, own)) all += process.cpu_s;
    other_ranks_cpu_s_ = all - own;
  } catch (const ProbeFailure&) {
    // A rank is lost, which the probes say.
  }
}

void Session::warn_of_sharing(int ranks, int cores) {
  if (ranks > cores) run_.warnings.emplace_back(FindingId::oversubscribed, ranks, cores);
}

void Session::adopt_part(const std::string& part,
                         const std::optional<Finding>& failure,
                         int number) {
  const std::filesystem::path folder = directory_->path() / part;
  Run left;
  try {
    left = read_points(memory_ && memory_->size() > 0 ? memory_->path() : folder.string());
  } catch (const UserError& error) {
    // They ended before they could write: their probes carry the reason.
    for (ProbeRecord& own : run_.probes)
      fail_if_pending(own, failure.value_or(Finding(FindingId::stated, error.what())));
    return;
  }
  for (ProbeRecord& adopted : left.probes) {
    if (failure) fail_if_pending(adopted, *failure);
    ProbeRecord& own = record(adopted.name);
    if (number == 0) {
      own = std::move(adopted);
    } else {
      add_run(own, std::move(adopted), number, left.interruption.has_value());
    }
  }
  for (const std::string& file : left.files) run_.files.push_back(part + "/" + file);
  for (FactSection& section : left.environment) {
    if (std::ranges::count(run_.environment, section.name, &FactSection::name) == 0)
      run_.environment.push_back(std::move(section));
  }
  for (const Finding& warning : left.warnings) add_once(run_.warnings, warning);
  save();
  // Ours now holds all of it; one copy of each number is enough.
  if (disk_trouble_) return;
  std::filesystem::remove(folder / run_file_name);
  std::error_code not_empty;
  std::filesystem::remove(folder, not_empty);
}

void Session::close() {
  run_.complete = !interruption_;
  save();
  if (disk_trouble_ && !options_.part_of_bench.empty())
    append_to_file(options_.part_of_bench, run_to_json(run_), Existing::append);
}

int Session::conclude() {
  if (!options_.part_of_bench.empty()) {
    close();
    return exit_code();
  }
  run_.environment.push_back(load_.facts(other_ranks_cpu_s_));
  run_.complete = !interruption_;
  ReportOptions page = options_.report;
  page.render.format = report::Format::html;
  write_file("report.html", render_run(join_runs(run_), page, directory()));
  close();
  fmt::print("{}", render_run(join_runs(run_), options_.report, directory()));
  if (interruption_) {
    print_error(
        "scaleworth: {}; what was measured is kept in {}\n", interruption_->what(), directory());
    return exit_code();
  }
  const auto ended = [this](ProbeStatus as) {
    return std::ranges::count(run_.probes, as, &ProbeRecord::status) > 0;
  };
  if (ended(ProbeStatus::failed) || disk_trouble_) return exit_failed;
  return ended(ProbeStatus::measured) ? exit_done : exit_nothing;
}

ProbeRecord& Session::record(const std::string& probe) {
  if (auto* found = find_in(run_.probes, probe, &ProbeRecord::name)) return *found;
  run_.probes.emplace_back().name = probe;
  return run_.probes.back();
}

template <class Write>
void Session::guarded(Write write) {
  if (!directory_) return;
  try {
    write();
  } catch (const UserError& error) {
    if (disk_trouble_) return;
    disk_trouble_ = Finding(FindingId::measured_in_memory, error.what());
    progress_.note("warning: " + report::said(*disk_trouble_));
    run_.warnings.push_back(*disk_trouble_);
  }
}

void Session::save() {
  guarded([&] { directory_->save(run_); });
}

void Session::add(Point point) {
  require_finite(point);
  record(current_).points.push_back(std::move(point));
  save();
}

void Session::add_timeline(const Point& setting, Timeline timeline) {
  const Ledger ledger = build_ledger(timeline);
  ProbeRecord& ledger_record = record(probe_name::step_ledger);
  ledger_record.status = ProbeStatus::measured;
  std::ranges::move(ledger_points(setting, ledger), std::back_inserter(ledger_record.points));
  for (const auto& [what, amount] : ledger.losses)
    ledger_record.losses[what] += static_cast<double>(amount);
  if (!directory_) return;
  save();
  write_file(
      trace_file_name(run_, folder_, setting),
      chrome_trace(timeline,
                   ledger,
                   {{"tool", "scaleworth " + run_.tool_version}, {"started_at", run_.started_at}}));
}

void Session::write_file(const std::string& name, const std::string& contents) {
  guarded([&] { directory_->write_file(name, contents); });
  if (!disk_trouble_) remember_file(name);
}

void Session::add_rows(const std::string& name,
                       const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  guarded([&] { directory_->append_rows(folder_ + name, header, rows); });
  remember_file(folder_ + name);
}

void Session::remember_file(const std::string& name) {
  if (directory_ && std::ranges::count(run_.files, name) == 0) run_.files.push_back(name);
}

MachineFacts collect_environment(Machine& machine,
                                 const std::string& mpi_module,
                                 const VendorPaths& vendor_paths,
                                 std::span<const pid_t> own) {
  std::vector<FactSection> sections = machine.facts();
  std::vector<GpuLink> links;
  const Outcome<MachineFacts> gpus = gpu_facts(vendor_paths, own);
  // Without a GPU its libraries stay closed: they are large, and a rank's memory may be limited.
  if (const auto* found = std::get_if<MachineFacts>(&gpus)) {
    sections.insert(sections.end(), found->sections.begin(), found->sections.end());
    links = found->gpu_links;
    sections.push_back(gpu_libraries(vendor_paths));
  } else {
    sections.push_back({"gpu", {{"count", std::nullopt, reason_of(gpus)}}});
  }
  sections.push_back(
      {"libraries",
       {fact_of("blas", machine.gemm_library(), std::identity()),
        fact_of("mpi", host::open_mpi(mpi_module), [](const host::MpiModule* module) {
          return module->library_version();
        })}});
  sections.push_back(allowed_variables(environment_variables()));
  return {std::move(sections), std::move(links)};
}

Progress::Progress(bool quiet, Seconds total)
    : style_(quiet                        ? Style::quiet
             : isatty(STDERR_FILENO) != 0 ? Style::bar
                                          : Style::lines),
      total_(total) {}

void Progress::begin(const std::string& probe, Seconds estimate) {
  probe_ = probe;
  current_ = estimate;
  fraction_ = 0.0;
  if (style_ == Style::lines) {
    print_error("{} (about {:.0f} s)\n", probe_, std::max(1.0, estimate.value()));
  }
  if (style_ == Style::bar) draw("");
}

void Progress::update(double fraction, const std::string& what) {
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  if (style_ != Style::bar) return;
  if (std::chrono::steady_clock::now() - last_draw_ >= redraw_interval) draw(what);
}

void Progress::end(const std::string& outcome, double seconds) {
  finished_ += current_;
  clear();
  if (style_ != Style::quiet) print_error("{}: {} in {:.1f} s\n", probe_, outcome, seconds);
  current_ = Seconds{};
}

void Progress::note(const std::string& line) {
  clear();
  if (style_ != Style::quiet) print_error("{}\n", line);
}

void Progress::draw(const std::string& what) {
  const double done = total_.value() > 0.0 ? (finished_ + fraction_ * current_) / total_ : 0.0;
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * bar_width);
  const Seconds left = total_ * std::max(0.0, 1.0 - done);
  // Erase to the end of the line: the previous text may have been longer.
  print_error("\r[{:#<{}}{:.<{}}] {:3.0f} %  {} {}  (about {:.0f} s left)\x1b[K",
              "",
              filled,
              "",
              bar_width - filled,
              100.0 * std::min(done, 1.0),
              probe_,
              what,
              left.value());
  drawn_ = true;
  last_draw_ = std::chrono::steady_clock::now();
}

void Progress::clear() {
  if (!drawn_) return;
  print_error("\r\x1b[K");
  drawn_ = false;
}
}  // namespace scaleworth::cli
