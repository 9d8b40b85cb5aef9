// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/collectives/match.h"

#include "src/core/interrupt.h"
#include "trace/analysis/collectives/calls.h"
#include "trace/analysis/rank_numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

/// Calls of one channel, by member.
using CallsByMember = std::vector<std::vector<Call>>;

bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
         kind == CollectiveKind::send_receive;
}

/// Of calls that are said to be one: absent when they contradict each other. Both sides of a
/// message are one exchange.
std::optional<CollectiveKind> common_kind(std::span<const Call> calls) {
  CollectiveKind common = CollectiveKind::unknown;
  for (const Call& call : calls) {
    const CollectiveKind kind = is_message(call.kind) ? CollectiveKind::send_receive : call.kind;
    if (kind == CollectiveKind::unknown) continue;
    if (common != CollectiveKind::unknown && common != kind) return std::nullopt;
    common = kind;
  }
  return common;
}

class Matcher {
 public:
  explicit Matcher(const Job& job) : job_(job), numbers_(job) {}

  void match(const Channel& channel) {
    const auto calls = static_cast<std::int64_t>(channel.calls.size());
    if (channel.members.size() < 2) {
      if (channel.missing_members > 0) matching_.unmatched += calls;
      return;
    }
    if (channel.missing_members > 0)
      remark(
          fmt::format("{}: {} of its {} ranks left no recording; what the others wait for them "
                      "counts as transfer",
                      channel.label,
                      channel.missing_members,
                      channel.missing_members + std::ssize(channel.members)));
    const std::int64_t before = paired_;
    const bool numbered = std::all_of(channel.calls.begin(),
                                      channel.calls.end(),
                                      [](const Call& call) { return call.sequence.has_value(); });
    numbered ? pair_by_sequence(channel) : pair_by_order(channel);
    matching_.unmatched += calls - (paired_ - before);
  }

  Matching finish() {
    constexpr std::size_t shown = 12;
    if (matching_.remarks.size() > shown) {
      const std::size_t more = matching_.remarks.size() - shown;
      matching_.remarks.resize(shown);
      matching_.remarks.push_back(fmt::format("{} more remarks of this kind", more));
    }
    return std::move(matching_);
  }

 private:
  void remark(std::string text) { matching_.remarks.push_back(std::move(text)); }

  void pair_by_sequence(const Channel& channel) {
    struct Numbered {
      std::int64_t sequence = 0;
      std::uint32_t occurrence = 0;  // calls in one group of NCCL may share a number
      Call call;
    };
    std::vector<Numbered> numbered;
    for (const Call& call : channel.calls) numbered.push_back({*call.sequence, 0, call});
    std::stable_sort(numbered.begin(), numbered.end(), [](const Numbered& a, const Numbered& b) {
      return std::tuple(a.call.rank, a.sequence) < std::tuple(b.call.rank, b.sequence);
    });
    for (std::size_t i = 1; i < numbered.size(); ++i) {
      const Numbered& previous = numbered[i - 1];
      if (previous.call.rank == numbered[i].call.rank && previous.sequence == numbered[i].sequence)
        numbered[i].occurrence = previous.occurrence + 1;
    }
    std::stable_sort(numbered.begin(), numbered.end(), [](const Numbered& a, const Numbered& b) {
      return std::tuple(a.sequence, a.occurrence) < std::tuple(b.sequence, b.occurrence);
    });
    std::int64_t incomplete = 0;
    std::vector<Call> together;
    for (std::size_t i = 0; i < numbered.size();) {
      const Numbered& first = numbered[i];
      together.clear();
      for (; i < numbered.size() && numbered[i].sequence == first.sequence &&
             numbered[i].occurrence == first.occurrence;
           ++i)
        together.push_back(numbered[i].call);
      if (!emit(channel, together, first.sequence)) ++incomplete;
    }
    if (incomplete > 0)
      remark(fmt::format("{}: {} calls are not recorded by all of its ranks and are left out",
                         channel.label,
                         incomplete));
  }

  void pair_by_order(const Channel& channel) {
    if (const std::string lossy = lossy_members(channel); !lossy.empty())
      return remark(
          fmt::format("{}: {} dropped records, so that calls without numbers cannot be "
                      "paired",
                      channel.label,
                      lossy));
    CallsByMember by_member(channel.members.size());
    for (const Call& call : channel.calls) {
      const auto place =
          std::lower_bound(channel.members.begin(), channel.members.end(), call.rank);
      by_member[static_cast<std::size_t>(place - channel.members.begin())].push_back(call);
    }
    if (kinds_agree(by_member) || channel.basis == Channel::Basis::message ||
        channel.basis == Channel::Basis::timeline || channel.basis == Channel::Basis::group)
      return zip(channel, by_member, channel.label);
    pair_each_kind(channel, by_member);
  }

  /// Streams that order different kinds differently: each kind by itself.
  void pair_each_kind(const Channel& channel, const CallsByMember& by_member) {
    for (int value = 0; value <= static_cast<int>(CollectiveKind::barrier); ++value) {
      const auto kind = static_cast<CollectiveKind>(value);
      CallsByMember of_kind(by_member.size());
      bool any = false;
      for (std::size_t member = 0; member < by_member.size(); ++member)
        for (const Call& call : by_member[member])
          if (call.kind == kind) {
            of_kind[member].push_back(call);
            any = true;
          }
      if (any)
        zip(channel,
            of_kind,
            fmt::format("{} on {}", attribution::collective_kind_name(kind), channel.label));
    }
  }

  static bool kinds_agree(const CallsByMember& by_member) {
    return std::all_of(by_member.begin(), by_member.end(), [&](const std::vector<Call>& calls) {
      return std::equal(calls.begin(),
                        calls.end(),
                        by_member.front().begin(),
                        by_member.front().end(),
                        [](const Call& a, const Call& b) { return a.kind == b.kind; });
    });
  }

  void zip(const Channel& channel, const CallsByMember& by_member, const std::string& label) {
    const auto [fewest, most] =
        std::minmax_element(by_member.begin(), by_member.end(), [](const auto& a, const auto& b) {
          return a.size() < b.size();
        });
    if (fewest->size() != most->size()) return remark(unequal_counts(channel, by_member, label));
    std::int64_t contradicting = 0;
    std::vector<Call> together;
    for (std::size_t index = 0; index < fewest->size(); ++index) {
      together.clear();
      for (const std::vector<Call>& calls : by_member) together.push_back(calls[index]);
      if (!emit(channel, together, static_cast<std::int64_t>(index))) ++contradicting;
    }
    if (contradicting > 0)
      remark(fmt::format("{}: {} calls are of different kinds on its ranks and are left out",
                         label,
                         contradicting));
  }

  std::string unequal_counts(const Channel& channel,
                             const CallsByMember& by_member,
                             const std::string& label) const {
    std::map<std::size_t, std::vector<std::uint32_t>> by_count;
    for (std::size_t member = 0; member < by_member.size(); ++member)
      by_count[by_member[member].size()].push_back(channel.members[member]);
    std::string counts;
    for (const auto& [count, ranks] : by_count)
      counts +=
          fmt::format("{}{} {} calls", counts.empty() ? "" : ", ", numbers_.names(ranks), count);
    return fmt::format(
        "{}: {}; left out, because without sequence numbers a pairing would be a "
        "guess",
        label,
        counts);
  }

  std::string lossy_members(const Channel& channel) const {
    std::vector<std::uint32_t> lossy;
    for (const std::uint32_t member : channel.members)
      for (const auto& [what, count] : job_.recordings[member].losses)
        if (what.starts_with("dropped") && count > 0 && (lossy.empty() || lossy.back() != member))
          lossy.push_back(member);
    return lossy.empty() ? "" : numbers_.names(lossy);
  }

  /// False when not everybody takes part or the kinds contradict each other.
  bool emit(const Channel& channel, std::span<const Call> calls, std::int64_t index) {
    if (calls.size() != channel.members.size()) return false;
    const std::optional<CollectiveKind> kind = common_kind(calls);
    if (!kind) return false;
    MatchedCollective matched;
    // Exchanges of more than two ranks without named partners have the shape of an all-to-all.
    matched.kind = *kind == CollectiveKind::send_receive && calls.size() > 2
                       ? CollectiveKind::all_to_all
                       : *kind;
    matched.group = channel.group;
    matched.index = index;
    for (const Call& call : calls) {
      if (channel.sender == call.rank)
        matched.sender = static_cast<std::uint32_t>(matched.members.size());
      if (call.root) matched.root = call.root;
      matched.members.push_back({call.rank, call.event});
    }
    matching_.collectives.push_back(std::move(matched));
    paired_ += std::ssize(calls);
    return true;
  }

  const Job& job_;
  RankNumbers numbers_;
  Matching matching_;
  std::int64_t paired_ = 0;
};

}  // namespace

Matching match_collectives(const Job& job) {
  Matcher matcher(job);
  for (const Channel& channel : collect_channels(job)) {
    check_interrupt();
    matcher.match(channel);
  }
  return matcher.finish();
}

}  // namespace scaleworth::trace
