// SPDX-License-Identifier: Apache-2.0
/// Energy and carbon of a job, from meters or from the rated power of its ranks.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <optional>

namespace scaleworth::model {

/// Part of full power that a rank draws while it waits. MLPerf Training v4.0, Llama-2-70B LoRA on
/// H100 nodes metered at AC: at 64 nodes, 22.5 % efficient, a node drew 4997 W on average, 70 % of
/// the 7160 W at one node. Taken for the waiting alone it is an upper value: if the 22.5 % drew
/// full power, the waiting drew 61 %.
inline constexpr double default_waiting_power = 0.7;

struct PowerTerms {
  std::optional<double> watts_per_rank;  // while it computes
  double waiting_power = default_waiting_power;
  double power_usage_effectiveness = 1.0;  // PUE: of the building over that of the machines
  std::optional<double> grams_per_kwh;     // of the grid, CO2 equivalent
};

/// Throws UserError for a power or an intensity that is not positive, a PUE below 1 or a waiting
/// power out of [0, 1].
void check(const PowerTerms& terms);

/// Of one job. Embodied carbon, network and storage are not in it unless the meters saw them.
struct JobEnergy {
  Estimate<double> joules;                // of the machines
  Estimate<double> facility_kwh;          // of the building: times PUE
  std::optional<Estimate<double>> grams;  // CO2 equivalent, where the grid is known
  bool metered = false;
};

/// Mean power of a rank that computes a share `busy` of its time, clamped to [0, 1], and waits the
/// rest: W (busy + (1 - busy) w).
double mean_power(double watts, double waiting_power, double busy);

/// E = K P T with the mean power of ranks that are `busy`; the interval is that of the time. Absent
/// without a rated power.
std::optional<JobEnergy> rated_energy(const PowerTerms& terms,
                                      int ranks,
                                      const Estimate<Seconds>& time,
                                      double busy);

/// Of what meters say, in J.
JobEnergy metered_energy(const PowerTerms& terms, double joules);

}  // namespace scaleworth::model
