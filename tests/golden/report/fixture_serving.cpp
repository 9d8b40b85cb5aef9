// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/transformer.h"
#include "tests/golden/report/fixture.h"
#include "tests/unit/model/transformer/servers.h"

namespace scaleworth::report::fixture {

model::ServingQuestion loaded_server() {
  model::ServingQuestion question;
  question.server = model::example::fp8_server("llama-3.1-70b", model::example::h100(4, 1978.9e12));
  question.server.group.link = model::GroupLink{Seconds(12e-6), BytesPerSecond(340e9)};
  question.server.group.memory_part = 0.9;
  question.request = {1024, 256, 0.0};
  question.batches = {1, 8, 32, 128, 512, 4096};
  question.rate = dollars_per_hour(10.0);
  question.load = {0.4, 2.0};
  question.api = model::ApiPrice{Dollars(0.60), Dollars(0.60), std::nullopt};
  question.limits.per_token = Seconds(30e-3);
  return question;
}

model::ServingQuestion too_small_server() {
  model::ServingQuestion question;
  question.server = model::example::server("llama-3.1-70b");
  return question;
}

MfuNames server_names() {
  MfuNames names;
  names.model = "Llama 3.1 70B";
  names.gpu = "NVIDIA H100 SXM 80 GB";
  names.peak_basis = Finding(FindingId::stated, "datasheet, dense, at 1830 MHz");
  names.bandwidth_basis = FindingId::datasheet;
  names.link_basis = FindingId::your_alpha_beta;
  return names;
}

model::TrainingQuestion million_dollars() {
  model::TrainingQuestion question;
  question.dollars = Dollars(1e6);
  question.means = model::TrainingMeans{dollars_per_hour(2.0), FlopPerSecond(989.4e12), 0.4, 1024};
  question.parameters =
      model::active_parameter_count(find_model(model_catalogue(), "llama-3.1-8b"));
  return question;
}

MfuNames budget_names() {
  MfuNames names;
  names.gpu = "NVIDIA H100 SXM 80 GB";
  names.peak_basis = Finding(FindingId::of_datasheet_at, "bf16", 1830.0);
  names.model = "Llama 3.1 8B";
  return names;
}

}  // namespace scaleworth::report::fixture
