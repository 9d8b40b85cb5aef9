// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/session.h"

#include "probes/host/ranks/mpi_rank_group.h"
#include "src/cli/application.h"
#include "src/cli/flags.h"
#include "src/core/error.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/run_names.h"
#include "src/core/process.h"
#include "src/core/version.h"
#include "trace/span_ledger.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <sstream>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
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
    ProbeRecord record;
    record.name = probe.name;
    run.probes.push_back(std::move(record));
  }
  return run;
}

std::optional<RunDirectory> new_directory(const MeasureOptions& options, bool write) {
  if (!write) return std::nullopt;
  if (!options.out.empty()) return RunDirectory(options.out);
  return RunDirectory(default_run_directory(std::chrono::system_clock::now(), host_name()));
}
}  // namespace

Session::Session(const MeasureOptions& options,
                 const Plan& plan,
                 const std::vector<std::string>& arguments,
                 bool write)
    : run_(new_run(options, plan, arguments)),
      directory_(new_directory(options, write)),
      progress_(Progress::suitable_style(options.quiet || !write), plan.total()),
      recorder_(run_, directory_ ? &*directory_ : nullptr, progress_) {
  if (directory_) directory_->save(run_);
}

std::string Session::directory() const {
  return directory_ ? directory_->path().string() : std::string();
}

void Session::run_probe(const PlannedProbe& probe, const std::function<void()>& measure) {
  recorder_.begin(probe.name, probe.estimate);
  try {
    measure();
    recorder_.end(ProbeStatus::measured, "");
  } catch (const NothingToMeasure& nothing) {
    recorder_.end(ProbeStatus::skipped, nothing.what());
  } catch (const ProbeFailure& failure) {
    recorder_.end(ProbeStatus::failed, failure.what());
  } catch (const std::bad_alloc&) {
    recorder_.end(ProbeStatus::failed,
                  "out of memory; raise the memory limit or measure less with --only");
  } catch (const Interrupted& interrupted) {
    recorder_.end(ProbeStatus::failed, interrupted.what());
    throw;
  }
}

void Session::adopt_record(ProbeRecord record, const std::optional<std::string>& failure) {
  if (failure && record.status == ProbeStatus::pending) {
    record.status = ProbeStatus::failed;
    record.reason = *failure;
  }
  const auto own =
      std::find_if(run_.probes.begin(), run_.probes.end(), [&](const ProbeRecord& candidate) {
        return candidate.name == record.name;
      });
  if (own == run_.probes.end()) {
    run_.probes.push_back(std::move(record));
  } else {
    *own = std::move(record);
  }
}

void Session::adopt_part(const std::string& part, const std::optional<std::string>& failure) {
  const std::filesystem::path folder = directory_->path() / part;
  Run left;
  try {
    left = read_run(folder);
  } catch (const UserError& error) {
    // The ranks ended before they could write: their probes carry the reason.
    const std::string reason = failure.value_or(error.what());
    for (ProbeRecord& record : run_.probes) {
      if (record.status == ProbeStatus::pending) adopt_record(record, reason);
    }
    return;
  }
  for (ProbeRecord& record : left.probes) adopt_record(std::move(record), failure);
  for (const std::string& file : left.files) run_.files.push_back(part + "/" + file);
  for (FactSection& section : left.environment) {
    const bool known =
        std::any_of(run_.environment.begin(), run_.environment.end(), [&](const FactSection& own) {
          return own.name == section.name;
        });
    if (!known) run_.environment.push_back(std::move(section));
  }
  run_.warnings.insert(run_.warnings.end(), left.warnings.begin(), left.warnings.end());
  recorder_.save();
  // Ours now holds all of it; one copy of each number is enough.
  if (!recorder_.disk_trouble()) std::filesystem::remove(folder / run_file_name);
}

void Session::write_report(const ReportOptions& options) {
  ReportOptions html = options;
  html.render.format = report::Format::html;
  recorder_.write_file("report.html", render_run(run_, html, directory()));
}

void Session::close(const std::string& interruption) {
  run_.interruption = interruption;
  run_.complete = interruption.empty();
  recorder_.save();
}

int Session::exit_code() const {
  const bool failed =
      std::any_of(run_.probes.begin(), run_.probes.end(), [](const ProbeRecord& probe) {
        return probe.status == ProbeStatus::failed;
      });
  return failed || recorder_.disk_trouble() ? exit_failed : exit_done;
}

namespace {
std::string trace_file_name(const Run& run, const Point& setting) {
  const std::string stem = fmt::format("trace-{}-{}",
                                       text_parameter(setting, fields::mode),
                                       integer_parameter(setting, fields::ranks));
  std::string name = stem + ".json";
  for (int copy = 2; std::find(run.files.begin(), run.files.end(), name) != run.files.end();
       ++copy) {
    name = fmt::format("{}-{}.json", stem, copy);
  }
  return name;
}
}  // namespace

RunRecorder::RunRecorder(Run& run, RunDirectory* directory, Progress& progress)
    : run_(run), directory_(directory), progress_(progress) {}

ProbeRecord& RunRecorder::record(const std::string& probe) {
  for (ProbeRecord& candidate : run_.probes) {
    if (candidate.name == probe) return candidate;
  }
  ProbeRecord added;
  added.name = probe;
  return run_.probes.emplace_back(std::move(added));
}

void RunRecorder::begin(const std::string& probe, Seconds estimate) {
  current_ = probe;
  begun_ = std::chrono::steady_clock::now();
  progress_.begin(probe, estimate);
}

void RunRecorder::end(ProbeStatus status, const std::string& reason) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_;
  ProbeRecord& probe = current();
  probe.status = status;
  probe.reason = reason;
  probe.duration_s = took.count();
  switch (status) {
    case ProbeStatus::measured:
      progress_.end("measured");
      break;
    case ProbeStatus::skipped:
      progress_.end("skipped: " + reason);
      break;
    case ProbeStatus::failed:
      progress_.end("failed: " + reason);
      break;
    case ProbeStatus::pending:
      progress_.end("not reached");
      break;
  }
  save();
}

template <class Write>
void RunRecorder::guarded(Write write) {
  if (directory_ == nullptr) return;
  try {
    write();
  } catch (const UserError& error) {
    if (!disk_trouble_)
      progress_.note(fmt::format("warning: {}; going on in memory", error.what()));
    disk_trouble_ = error.what();
  }
}

void RunRecorder::save() {
  guarded([&] { directory_->save(run_); });
}

void RunRecorder::add(Point point) {
  require_finite(point);
  current().points.push_back(std::move(point));
  save();
}

void RunRecorder::add_timeline(const Point& setting, Timeline timeline) {
  const trace::Ledger ledger = trace::build_ledger(timeline);
  ProbeRecord& ledger_record = record(fields::step_ledger);
  ledger_record.status = ProbeStatus::measured;
  for (Point& point : trace::ledger_points(setting, ledger))
    ledger_record.points.push_back(std::move(point));
  for (const auto& [what, amount] : trace::loss_counters(ledger))
    ledger_record.losses[what] += amount;
  if (directory_ == nullptr) return;
  const std::string name = trace_file_name(run_, setting);
  std::ostringstream text;
  trace::write_chrome_trace(
      text,
      timeline,
      {{"tool", "scaleworth " + run_.tool_version}, {"started_at", run_.started_at}});
  write_file(name, text.str());
}

void RunRecorder::write_file(const std::string& name, const std::string& contents) {
  if (directory_ == nullptr) return;
  guarded([&] { directory_->write_file(name, contents); });
  if (!disk_trouble_) remember_file(name);
}

void RunRecorder::add_rows(const std::string& name,
                           const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows) {
  if (directory_ == nullptr) return;
  guarded([&] { directory_->append_rows(name, header, rows); });
  remember_file(name);
}

void RunRecorder::remember_file(const std::string& name) {
  if (std::find(run_.files.begin(), run_.files.end(), name) == run_.files.end())
    run_.files.push_back(name);
}

void RunRecorder::warn(const std::string& warning) {
  current().warnings.push_back(warning);
}

void RunRecorder::lose(const std::string& what, double amount) {
  current().losses[what] += amount;
}

void RunRecorder::progress(double fraction, const std::string& what) {
  progress_.update(fraction, what);
}

namespace {
/// The value of an outcome as a fact; what is missing keeps its reason.
template <class T, class Describe>
Fact fact_of(const std::string& name, const Outcome<T>& outcome, Describe describe) {
  if (const T* value = std::get_if<T>(&outcome))
    return {name, Value(describe(*value)), "opened at run time"};
  if (const Skipped* skipped = std::get_if<Skipped>(&outcome))
    return {name, std::nullopt, skipped->reason};
  return {name, std::nullopt, std::get<Failed>(outcome).reason};
}

/// A library's path and the search step that found it stand as its source, the reason where it is
/// missing.
FactSection gpu_libraries(const probes::VendorPaths& paths) {
  FactSection section{gpu_libraries_section, {}};
  for (const probes::VendorLibrary& library : probes::vendor_libraries(paths)) {
    if (library.path.empty()) {
      section.facts.push_back({library.name, std::nullopt, library.reason});
    } else {
      section.facts.push_back(
          {library.name, library.version, fmt::format("{}, by {}", library.path, library.reason)});
    }
  }
  return section;
}

/// Without a GPU nothing of these libraries is opened: they are large, and a rank's memory may be
/// limited.
void append_gpus(std::vector<FactSection>& sections, const probes::VendorPaths& paths) {
  const Outcome<std::vector<FactSection>> gpus = probes::gpu_facts(paths);
  if (const auto* found = std::get_if<std::vector<FactSection>>(&gpus)) {
    sections.insert(sections.end(), found->begin(), found->end());
    sections.push_back(gpu_libraries(paths));
    return;
  }
  const Fact none = fact_of("count", gpus, [](const auto&) { return std::string(); });
  sections.push_back({"gpu", {none}});
}
}  // namespace

std::vector<FactSection> collect_environment(probes::Machine& machine,
                                             const std::string& mpi_module,
                                             const probes::VendorPaths& vendor_paths) {
  std::vector<FactSection> sections = machine.facts();
  append_gpus(sections, vendor_paths);
  sections.push_back(
      {"libraries",
       {fact_of("blas", machine.gemm_library(), [](const std::string& name) { return name; }),
        fact_of(
            "mpi", probes::host::open_mpi(mpi_module), [](const probes::host::MpiModule* module) {
              return std::string(module->library_version());
            })}});
  sections.push_back(allowed_variables());
  return sections;
}
}  // namespace scaleworth::cli
