// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/serving/serving_report.h"

#include "report/mfu/serving/serving_view.h"

namespace scaleworth::report {

std::string render_serving(const inference::ServingQuestion& question,
                           const inference::ServingAnswer& answer,
                           const ServingNames& names,
                           const Telling& telling) {
  const ServingView asked{question, answer, names, telling.details, telling.currency};
  const ServingView whole{question, answer, names, true, telling.currency};
  return tell_document({[&] { return compose_serving(asked); },
                        [&] { return compose_serving(whole); },
                        [&] { return serving_json(whole); },
                        [&] { return serving_charts(whole); },
                        {"batch", "phase", "part"}},
                       telling);
}

}  // namespace scaleworth::report
