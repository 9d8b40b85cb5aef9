// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/findings.h"

#include "src/model/findings/sentences.h"

namespace scaleworth::model {

std::vector<Finding> findings_of(const Run& run, const Analysis& analysis) {
  std::vector<Finding> findings;
  // A slow GPU sets the pace of all that follows.
  add_gpu_results(analysis, findings);
  for (const ScalingResult& scaling : analysis.scaling) add_scaling_results(scaling, findings);
  add_utilisation(analysis, findings);
  add_step_variants(run, findings);
  add_machine_results(analysis, findings);
  add_doubts(run, analysis, findings);
  add_gpu_doubts(analysis, findings);
  return findings;
}

}  // namespace scaleworth::model
