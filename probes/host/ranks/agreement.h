// SPDX-License-Identifier: Apache-2.0
/// Ranks agree on "all well" before they go on, so that no rank waits for one that gave up.
#pragma once

#include "probes/host/mpi/module.h"
#include "src/core/error.h"

#include <functional>
#include <string>

namespace scaleworth::probes::host {

/// What happened on this rank; both empty: all well.
struct Trouble {
  std::string failure;
  int signal = 0;
};

/// A failure that every rank of a group threw, with the name of the rank that had it.
class AgreedFailure : public ProbeFailure {
 public:
  using ProbeFailure::ProbeFailure;
};

/// Runs `action` on rank `rank` and returns what it threw as a value. Whatever derives from
/// std::exception is a failure, prefixed with "rank N: " unless agreed already; Interrupted is not.
Trouble trouble_of(int rank, const std::function<void()>& action);

/// Collective over `group`: throws on every rank when any rank is in trouble. Interrupted when one
/// received a signal, else AgreedFailure with the text of the lowest rank that failed.
void agree(const MpiModule& mpi, MpiGroup group, const Trouble& own);

/// Throws ProbeFailure with the module's last error unless `status` is 0.
void check(const MpiModule& mpi, int status);

}  // namespace scaleworth::probes::host
