// SPDX-License-Identifier: Apache-2.0
#include "src/model/analyse.h"

#include "src/model/findings/findings.h"
#include "src/model/roofline/roofline.h"
#include "src/model/scaling/scaling.h"

namespace scaleworth::model {

Analysis analyse(const Run& run, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.roofline = analyse_roofline(run);
  const std::vector<ComputeCeiling> none;
  analysis.scaling = analyse_scaling(
      run, options, analysis.roofline ? analysis.roofline->ceilings : none, nullptr);
  analysis.findings = findings_of(run, analysis);
  return analysis;
}

}  // namespace scaleworth::model
