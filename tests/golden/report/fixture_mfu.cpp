// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/report/fixture.h"

namespace scaleworth::report::fixture {

model::TrainingRun gpt3_run() {
  model::TrainingRun run;
  run.model = find_model(model_catalogue(), "gpt3-175b");
  run.gpus = 1024;
  run.tokens_per_second = 140000;
  run.peaks = {{FlopPerSecond(312e12), {FindingId::of_datasheet_at, "bf16", 1410.0}}};
  run.price = dollars_per_hour(2.0);
  run.tokens = 300e9;
  return run;
}

model::TrainingRun gpt3_recomputing_run() {
  model::TrainingRun run = gpt3_run();
  run.recomputation = model::Recomputation::full;
  run.peaks.push_back({FlopPerSecond(264e12), FindingId::measured_as_given});
  run.price.reset();
  return run;
}

MfuNames mfu_names() {
  MfuNames names;
  names.gpu = "NVIDIA A100 SXM 80 GB";
  names.gpu_source = "a test; 2026-11-22";
  names.number_format = "bf16";
  return names;
}

}  // namespace scaleworth::report::fixture
