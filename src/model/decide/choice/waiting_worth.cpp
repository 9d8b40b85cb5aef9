// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/waiting_worth.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace scaleworth::decide {
namespace {

struct Offer {
  int count = 1;
  Seconds time;
  Dollars cost;
};

/// At which value of time two offers are equally good; `faster` takes less time.
DollarsPerSecond worth_of(const Offer& faster, const Offer& slower) {
  return (faster.cost - slower.cost) / (slower.time - faster.time);
}

std::vector<Offer> offers_of(const std::vector<DecisionRow>& rows,
                             const std::vector<int>& excluded) {
  const std::set<int> out(excluded.begin(), excluded.end());
  std::vector<Offer> offers;
  for (const DecisionRow& row : rows) {
    if (!row.cost) return {};
    if (!out.contains(row.count)) {
      offers.push_back({row.count, row.same_work.value, row.cost->value});
    }
  }
  // The slowest first, of equally fast ones the cheapest, then the smallest.
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return std::tuple(-a.time.value(), a.cost.value(), a.count) <
           std::tuple(-b.time.value(), b.cost.value(), b.count);
  });
  return offers;
}

}  // namespace

std::vector<WaitingWorth> waiting_worth(const std::vector<DecisionRow>& rows,
                                        const std::vector<int>& excluded) {
  std::vector<Offer> hull;
  for (const Offer& offer : offers_of(rows, excluded)) {
    if (!hull.empty() && hull.back().time == offer.time) continue;
    const auto superseded = [&] {
      if (hull.empty()) return false;
      if (offer.cost <= hull.back().cost) return true;
      return hull.size() > 1 &&
             worth_of(offer, hull.back()) <= worth_of(hull.back(), hull[hull.size() - 2]);
    };
    while (superseded()) hull.pop_back();
    hull.push_back(offer);
  }
  std::vector<WaitingWorth> worth;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    worth.push_back(
        {hull[i].count, i == 0 ? DollarsPerSecond(0.0) : worth_of(hull[i], hull[i - 1])});
  }
  return worth;
}

}  // namespace scaleworth::decide
