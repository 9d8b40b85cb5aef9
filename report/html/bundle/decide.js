// SPDX-License-Identifier: Apache-2.0
// The choice among the counts of a decision's report at another price, value of an hour of waiting or deadline,
// by the formulas of src/model/cost.cpp and src/model/decision/{scaling_row,choice}.cpp.

const secondsPerHour = 3600;
// In the order of the program. Those that depend on what can be changed here are judged again, the others stay.
const late = 'too late';
const expensive = 'over budget';
const gates = ['quality', 'inefficient', late, 'latency', 'throughput', expensive, 'energy', 'no energy'];

// A price that was divided by 3600 s and multiplied again reads as it was given.
function asGiven(value) {
  return value === null ? null : Number(value.toPrecision(12));
}

// What the report was written with; null where it was not given.
export function givenTerms(report) {
  const { bill, rubric } = report;
  const deadline = rubric.asked.deadline_s;
  return {
    price: asGiven(bill ? bill.per_rank_hour_usd : null),
    value: asGiven(bill ? bill.value_of_time_per_hour_usd : 0),
    deadline: asGiven(deadline === null ? null : deadline / secondsPerHour),
  };
}

// C = (K p + f) T + e of the baseline's work in its expected time; a row with a price of its own pays that.
function costOf(row, wall, terms, bill) {
  if (terms.price === null && row.rate_usd_per_hour === null) return null;
  const price = (row.rate_usd_per_hour ?? terms.price) / secondsPerHour;
  const fixed = (bill?.fixed_per_hour_usd ?? 0) / secondsPerHour + (bill?.storage_per_hour_usd ?? 0) / secondsPerHour;
  const perSecond = price * row.count + (fixed + terms.value / secondsPerHour);
  const at = (seconds) => (seconds === null ? null : perSecond * seconds + (bill?.egress_per_run_usd ?? 0));
  const growth = row.time_s.value / row.same_work_s.value;
  return { value: at(wall.value), low: at(wall.low), high: at(wall.high), ofOwnWork: at(wall.value * growth) };
}

function gateOf(row, wall, cost, terms, report) {
  const { exclusions, unproven, asked } = report.rubric;
  const fails = new Set(exclusions.filter(({ counts }) => counts.includes(row.count)).map(({ mark }) => mark));
  fails.delete(expensive);
  if (!row.failures) {
    // With failures the chance to be in time is not recomputed here, and the deadline cannot be changed.
    fails.delete(late);
    if (terms.deadline !== null && row.latest_s > terms.deadline * secondsPerHour) fails.add(late);
  }
  if (asked.budget_usd !== null && cost) {
    const unbilled = (terms.value / secondsPerHour) * (wall.high ?? wall.value);
    if ((cost.high ?? cost.value) - unbilled > asked.budget_usd) fails.add(expensive);
  }
  return gates.find((mark) => fails.has(mark)) ?? (unproven.includes(row.count) ? 'unproven' : 'passes');
}

function objectiveOf(terms, report, priced) {
  const { asked } = report.rubric;
  if (asked.objective !== null) return asked.objective;
  const bounded = [asked.efficiency_threshold, asked.budget_usd, asked.energy_budget_kwh];
  if (bounded.some((bound) => bound !== null)) return 'time';
  const requested = [terms.deadline, asked.max_latency_s, asked.min_throughput].some((bound) => bound !== null);
  const { bill } = report;
  const clockPriced = priced && terms.value + (bill?.fixed_per_hour_usd ?? 0) + (bill?.storage_per_hour_usd ?? 0) > 0;
  if (!requested && !clockPriced) return 'balanced';
  return priced ? 'cost' : 'time';
}

function energyOf(rows, { row }) {
  const byUnit = !rows.some((one) => one.row.energy);
  return byUnit ? row.energy_per_work_j : row.energy.machines_j.value;
}

function least(rows, measure) {
  return rows.reduce((best, row) => (best === null || measure(row) < measure(best) ? row : best), null);
}

// Rows with their cost and gate, the count that is chosen, by what, and the counts of least cost and time.
export function decide(report, terms) {
  const rows = report.rows.map((row) => {
    const wall = row.failures ? row.failures.expected_s : row.same_work_s;
    const cost = costOf(row, wall, terms, report.bill);
    return { row, count: row.count, time: wall.value, cost, gate: gateOf(row, wall, cost, terms, report) };
  });
  const priced = rows.every(({ cost }) => cost !== null);
  const objective = objectiveOf(terms, report, priced);
  const cost = (one) => (one.cost ? one.cost.value : one.time * one.count);
  const measures = {
    cost,
    balanced: (one) => cost(one) * one.time,
    time: (one) => one.time,
    energy: (one) => energyOf(rows, one),
  };
  const passing = rows.filter(({ gate }) => gate === 'passes' || gate === 'unproven');
  const compared = rows.filter(({ gate }) => gate !== 'quality');
  return {
    rows,
    priced,
    objective,
    passing: passing.length,
    chosen: least(passing, measures[objective]),
    cheapest: least(compared, measures.cost),
    fastest: least(compared, measures.time),
  };
}

// Of an amount that is next to nothing, what turns it into one for 10^6 units of work; else null.
export function millionScale({ rows }) {
  const cent = 0.01;
  let scale = null;
  for (const { row, cost } of rows) {
    const work = row.work_per_s === null ? null : row.work_per_s * row.time_s.value;
    if (work === null || !cost || !(cost.value > 0) || cost.value >= cent) return null;
    scale = (1e6 * (cost.ofOwnWork / work)) / cost.value;
  }
  return scale;
}
