// SPDX-License-Identifier: Apache-2.0
/// How fast does the BLAS library multiply?
#pragma once

#include "probes/host/blas/blas.h"
#include "probes/machine.h"

namespace scaleworth::probes::host {

/// C = A B with A, B uniform in [-1, 1), beta = 0. One operation is all `batch` products:
///   flops       2 m n k batch
///   bytes       (m k + k n + m n) sizeof element batch: the compulsory traffic, A and B read and C
///               written once. A library moves more when its blocks do not fit a cache.
///   bytes_real  bytes + m n sizeof element batch, where each line of C is first read
/// Operands are not flushed between repetitions: they are as warm as their size lets them be.
///
/// Who computes: a batch of several products is spread over `workers` pinned threads, each calling
/// the library with one thread for its share (products i, i + workers, ...; only they touch the
/// operands first). A single product of one worker runs on a pinned thread; of several workers, on
/// the library's own threads, which it neither pins nor reports: their CPU time is the whole
/// process's (CLOCK_PROCESS_CPUTIME_ID), spinning while they wait included.
///
/// After sampling, the first, middle and last product are compared with a reference (gemm_check.h).
/// Throws ProbeFailure for a wrong result, no memory, or more workers than CPUs; UserError for
/// dimensions that the library cannot count or the reference cannot verify (past 2^31 - 1; k past
/// 2^23 in fp32); Interrupted between samples.
Measured time_gemm(const Blas& blas, const GemmWork& work, const Target& target);

/// Memory that the operands of `work` take.
Bytes gemm_footprint(const GemmWork& work);

}  // namespace scaleworth::probes::host
