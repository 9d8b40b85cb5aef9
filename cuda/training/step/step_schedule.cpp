// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/step_schedule.h"

namespace scaleworth::gpu {

StepSchedule make_schedule(const DeviceTransformer& model, Bytes bucket, int ranks) {
  StepSchedule schedule;
  for (const TrainingStage& stage : model.forward()) schedule.stages.push_back(stage.name);
  schedule.forward_stages = schedule.stages.size();
  for (const TrainingStage& stage : model.backward()) schedule.stages.push_back(stage.name);
  schedule.buckets =
      probes::make_buckets(model.layout(), bucket, Bytes(static_cast<double>(sizeof(Bfloat16))));
  if (ranks < 2) return schedule;
  schedule.posted_after.push_back(schedule.forward_stages - 1);
  std::size_t stage = 0;
  for (const probes::Bucket& one : schedule.buckets) {
    while (model.backward()[stage].ready < one.end()) ++stage;
    schedule.posted_after.push_back(schedule.forward_stages + stage);
  }
  return schedule;
}

}  // namespace scaleworth::gpu
