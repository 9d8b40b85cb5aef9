// SPDX-License-Identifier: Apache-2.0
/// A Run built from what a simulated machine answers, with or without the probes' own grids.
#pragma once

#include "probes/machine.h"
#include "src/core/run.h"

#include <string>
#include <utility>
#include <vector>

namespace scaleworth::sim {

/// What a machine answered to one question, as a point of run.json.
Point point_of(Setting setting, const probes::Measured& measured);

/// The probe's record in `run`, created as measured when it is not there yet.
ProbeRecord& probe_in(Run& run, const std::string& name);

/// Keeps all that a probe records under one name of a Run.
class RunRecorder final : public probes::Recorder {
 public:
  RunRecorder(Run& run, std::string probe) : run_(run), probe_(std::move(probe)) {}
  void add(Point point) override { probe_in(run_, probe_).points.push_back(std::move(point)); }
  void add_timeline(const Point&, Timeline timeline) override {
    timelines_.push_back(std::move(timeline));
  }
  void add_rows(const std::string&,
                const std::vector<std::string>&,
                const std::vector<std::vector<std::string>>&) override {}
  void warn(const Finding& warning) override { probe_in(run_, probe_).warnings.push_back(warning); }
  void lose(const std::string& what, double amount) override {
    probe_in(run_, probe_).losses[what] += amount;
  }
  void progress(double, const std::string&) override {}
  const std::vector<Timeline>& timelines() const { return timelines_; }

 private:
  Run& run_;
  std::string probe_;
  std::vector<Timeline> timelines_;
};

}  // namespace scaleworth::sim
