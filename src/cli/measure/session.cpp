// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/session.h"

#include "src/cli/exit_code.h"
#include "src/cli/tell.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"
#include "src/core/run/run_path.h"
#include "src/core/version.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>

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

void Session::write_report(const TellOptions& options) {
  TellOptions html = options;
  html.format = "html";
  recorder_.write_file("report.html", tell(run_, html, directory()));
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

}  // namespace scaleworth::cli
