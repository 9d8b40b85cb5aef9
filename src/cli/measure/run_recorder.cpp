// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/run_recorder.h"

#include "src/core/error.h"
#include "src/core/run/fields.h"
#include "src/core/run/json.h"
#include "trace/spans/ledger.h"
#include "trace/spans/ledger_points.h"
#include "trace/spans/chrome_json.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::cli {
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

}  // namespace scaleworth::cli
