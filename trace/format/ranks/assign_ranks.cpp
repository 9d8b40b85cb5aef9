// SPDX-License-Identifier: Apache-2.0
#include "trace/format/ranks/assign_ranks.h"

#include "src/core/error.h"
#include "trace/analysis/rank_names.h"
#include "trace/format/input/find_files.h"
#include "trace/format/ranks/file_name_rank.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using Ranks = std::vector<std::optional<std::int32_t>>;

Ranks metadata_ranks(const std::vector<Recording>& recordings) {
  Ranks ranks;
  for (const Recording& recording : recordings) {
    const Origin& origin = recording.origin;
    const bool told = origin.rank_basis != RankBasis::counted && origin.rank.value_or(-1) >= 0;
    ranks.push_back(told ? origin.rank : std::nullopt);
  }
  return ranks;
}

/// A name stands for a single recording.
Ranks name_ranks(const std::vector<Recording>& recordings) {
  std::map<std::string, int> uses;
  for (const Recording& recording : recordings) ++uses[recording.origin.file];
  Ranks ranks;
  for (const Recording& recording : recordings) {
    const std::string& file = recording.origin.file;
    ranks.push_back(uses[file] == 1 ? file_name_rank(file) : std::nullopt);
  }
  return ranks;
}

/// Two recordings of the same rank.
std::optional<std::pair<std::size_t, std::size_t>> duplicate(const Ranks& ranks) {
  std::map<std::int32_t, std::size_t> first;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i]) continue;
    const auto [entry, added] = first.emplace(*ranks[i], i);
    if (!added) return std::pair(entry->second, i);
  }
  return std::nullopt;
}

bool complete(const Ranks& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.has_value(); });
}

void set_ranks(std::vector<Recording>& recordings, const Ranks& ranks, const std::string& from) {
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    recordings[i].origin.rank = ranks[i];
    if (!from.empty()) recordings[i].origin.rank_from = from;
  }
}

/// "distributedInfo", "distributedInfo and file name"
std::string sources(const std::vector<Recording>& recordings) {
  std::set<std::string> from;
  for (const Recording& recording : recordings) from.insert(recording.origin.rank_from);
  std::string text;
  for (const std::string& source : from) text += (text.empty() ? "" : " and ") + source;
  return text;
}

std::string by_metadata(std::vector<Recording>& recordings, const Ranks& ranks) {
  set_ranks(recordings, ranks, "");
  return fmt::format("ranks are those that the recordings tell ({})", sources(recordings));
}

/// Metadata where it is there, file names for the rest.
Ranks mixed_ranks(const Ranks& metadata, const Ranks& names) {
  Ranks ranks = metadata;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (!ranks[i]) ranks[i] = names[i];
  return ranks;
}

/// Those without a rank take the free ones in the order of the files.
Ranks filled_in_order(const std::vector<Recording>& recordings, const Ranks& known) {
  std::set<std::int32_t> taken;
  for (const auto& rank : known)
    if (rank) taken.insert(*rank);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!known[i]) open.push_back(i);
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    return natural_less(recordings[a].origin.file, recordings[b].origin.file);
  });
  Ranks ranks = known;
  std::int32_t next = 0;
  for (const std::size_t i : open) {
    while (taken.contains(next)) ++next;
    ranks[i] = next++;
  }
  return ranks;
}

/// Decides, sets the ranks and returns the sentence about it.
std::string decide(std::vector<Recording>& recordings) {
  const Ranks metadata = metadata_ranks(recordings);
  const Ranks names = name_ranks(recordings);
  const auto twice = duplicate(metadata);
  if (complete(metadata) && !twice) return by_metadata(recordings, metadata);
  if (complete(names) && !duplicate(names)) {
    set_ranks(recordings, names, "file name");
    return twice ? fmt::format(
                       "ranks are those in the file names, because {} and {} both call "
                       "themselves rank {}",
                       recordings[twice->first].origin.file,
                       recordings[twice->second].origin.file,
                       *metadata[twice->first])
                 : "ranks are those in the file names";
  }
  if (twice)
    throw UserError(
        fmt::format("{} and {} are both rank {}: give one recording per rank of one run, or put "
                    "the ranks into the names (rank-0.json)",
                    recordings[twice->first].origin.file,
                    recordings[twice->second].origin.file,
                    *metadata[twice->first]));
  Ranks known = mixed_ranks(metadata, names);
  if (duplicate(known)) known = metadata;
  const bool nothing_known =
      std::none_of(known.begin(), known.end(), [](const auto& rank) { return rank.has_value(); });
  const bool one_file = std::all_of(recordings.begin(), recordings.end(), [&](const Recording& r) {
    return r.origin.file == recordings.front().origin.file;
  });
  for (std::size_t i = 0; i < recordings.size(); ++i)
    if (!metadata[i])
      recordings[i].origin.rank_from = known[i]   ? "file name"
                                       : one_file ? recordings[i].origin.rank_from
                                                  : "order of files";
  set_ranks(recordings, filled_in_order(recordings, known), "");
  for (Recording& recording : recordings)
    if (recording.origin.rank_from.empty()) recording.origin.rank_from = "order of files";
  if (complete(known))
    return fmt::format("ranks are those that the recordings or their names tell ({})",
                       sources(recordings));
  if (!nothing_known)
    return "some ranks are told by metadata or file names; the other recordings took the free "
           "ranks in their order";
  return one_file && recordings.size() > 1
             ? fmt::format("ranks are the {}, because nothing tells them", sources(recordings))
             : "ranks are the order of the files, because neither metadata nor names tell them";
}

/// How many ranks the job has, as far as the recordings say; at least the largest rank and one.
std::int32_t job_size(const std::vector<Recording>& recordings) {
  std::int32_t size = recordings.back().origin.rank.value_or(0) + 1;
  for (const Recording& recording : recordings)
    size = std::max(size, recording.origin.world_size.value_or(0));
  return size;
}

void tell_missing(Job& job) {
  constexpr std::int32_t most_ranks = 1 << 22;  // more is a number that is no rank
  const std::int32_t size = job_size(job.recordings);
  if (size > most_ranks || size <= static_cast<std::int32_t>(job.recordings.size())) return;
  std::vector<bool> there(static_cast<std::size_t>(size), false);
  for (const Recording& recording : job.recordings)
    there[static_cast<std::size_t>(*recording.origin.rank)] = true;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < there.size(); ++rank)
    if (!there[rank]) missing.push_back(rank);
  job.remarks.push_back(fmt::format("{} of {} {} missing: what happened there is not known",
                                    rank_names(missing),
                                    size,
                                    missing.size() == 1 ? "is" : "are"));
}

}  // namespace

void assign_ranks(Job& job) {
  if (job.recordings.empty()) return;
  job.ranks_from = decide(job.recordings);
  std::stable_sort(
      job.recordings.begin(), job.recordings.end(), [](const Recording& a, const Recording& b) {
        return a.origin.rank < b.origin.rank;
      });
  tell_missing(job);
}

}  // namespace scaleworth::trace
