// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/arrivals.h"

#include "trace/spans/segments.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

bool earlier(const Span& a, const Span& b) {
  return std::pair(a.end, a.start) < std::pair(b.end, b.start);
}

void find_last(Arrivals& arrivals, const Timeline& timeline) {
  arrivals.complete = std::all_of(
      arrivals.posts.begin(), arrivals.posts.end(), [](auto post) { return post.has_value(); });
  if (!arrivals.complete) return;
  std::vector<std::pair<std::chrono::nanoseconds, int>> order;
  for (std::size_t rank = 0; rank < arrivals.posts.size(); ++rank) {
    order.emplace_back(timeline.spans[*arrivals.posts[rank]].end, static_cast<int>(rank));
  }
  std::sort(order.begin(), order.end());
  arrivals.last = order.back().first;
  const bool alone = order.size() == 1;
  if (alone || arrivals.last - order[order.size() - 2].first > timeline.clock_error) {
    arrivals.last_rank = Rank{order.back().second};
  }
}

}  // namespace

ArrivalTable collect_arrivals(const Timeline& timeline) {
  ArrivalTable table;
  for (std::size_t index = 0; index < timeline.spans.size(); ++index) {
    const Span& span = timeline.spans[index];
    if (span.activity != Activity::post || span.sequence < 0) continue;
    if (!is_valid(span, timeline.ranks)) continue;
    Arrivals& arrivals = table.collectives[{span.step, span.sequence}];
    arrivals.posts.resize(static_cast<std::size_t>(timeline.ranks));
    auto& post = arrivals.posts[static_cast<std::size_t>(span.rank.index)];
    if (post) ++table.duplicate_posts;
    if (!post || earlier(span, timeline.spans[*post])) post = index;
  }
  for (auto& [key, arrivals] : table.collectives) find_last(arrivals, timeline);
  return table;
}

}  // namespace scaleworth::trace
