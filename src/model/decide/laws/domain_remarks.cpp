// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/domain_remarks.h"

#include "src/core/error.h"
#include "src/model/decide/laws/evidence.h"
#include "src/model/scaling/contention/law.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr double residuals_of_a_cliff = 3.0;

std::string edge_remark(const std::vector<DecisionRow>& within,
                        const DecisionRow& first,
                        int domain) {
  const auto fit = model::fit_contention(points_of_laws(within));
  if (!fit) {
    return fmt::format(
        "fewer than three counts lie within the domain of {} ranks: what its edge costs cannot be "
        "told from the law, and every law mixes both kinds of links",
        domain);
  }
  const double predicted =
      fit->single * model::relative_time(fit->serial, fit->coherency, first.count);
  const double excess = first.same_work.value.value() / predicted - 1.0;
  if (excess > std::max(domain_cliff, residuals_of_a_cliff * fit->residual)) {
    return fmt::format(
        "at {}, the first count beyond the domain of {} ranks, the work takes {:.0f} % longer than "
        "the counts within it predict: a change of regime, and laws of the whole table mix both",
        first.count,
        domain,
        100.0 * excess);
  }
  return fmt::format(
      "at {}, the first count beyond the domain of {} ranks, the work takes {:+.1f} % against what "
      "the counts within it predict: no change of regime at its edge",
      first.count,
      domain,
      100.0 * excess);
}

}  // namespace

std::vector<std::string> domain_remarks(const std::vector<DecisionRow>& rows, int domain) {
  if (domain < 2) throw UserError("a domain of fast links joins at least 2 ranks, as --domain 8");
  std::vector<std::string> remarks;
  const auto beyond = std::find_if(
      rows.begin(), rows.end(), [&](const DecisionRow& row) { return row.count > domain; });
  if (beyond == rows.end()) {
    remarks.push_back(
        fmt::format("every count lies within the domain of {0} ranks: whatever is said of more "
                    "than {0} assumes "
                    "that their links are as fast; measure one count beyond it",
                    domain));
  } else if (beyond != rows.begin()) {
    remarks.push_back(edge_remark({rows.begin(), beyond}, *beyond, domain));
  }
  const auto wide = std::find_if(rows.begin(), rows.end(), [&](const DecisionRow& row) {
    return row.facts.layout.tensor.value_or(1) > domain;
  });
  if (wide != rows.end()) {
    remarks.push_back(fmt::format(
        "at {} tensor parallelism over {} ranks leaves the domain of {}: each layer's all-reduces "
        "cross the slower links",
        wide->count,
        *wide->facts.layout.tensor,
        domain));
  }
  return remarks;
}

}  // namespace scaleworth::decide
