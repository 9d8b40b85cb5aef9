// SPDX-License-Identifier: Apache-2.0
// The choice among the counts of a decision at other terms: {price, value, deadline}, of a rank-hour, of an hour of
// waiting and in hours; price and deadline are null where there is none. The program writes of each count the
// coefficients of its cost and its gates in order (report/decision/decision_page.cpp); here they are only summed and
// compared.

function sum([given, perPrice, perValue], { price, value }) {
  return given + perPrice * (price ?? 0) + perValue * value;
}

// Null where the count has no price.
function costOf({ cost }, terms) {
  if (terms.price === null && cost.value[1] !== 0) return null;
  const at = (coefficients) => coefficients && sum(coefficients, terms);
  return { value: at(cost.value), low: at(cost.low), high: at(cost.high) };
}

// What a count fails first, else undefined. A gate without a bound does not depend on the terms; a budget does not
// pay for waiting.
function failedGate({ gates, cost }, terms) {
  const billed = () => sum(cost.high ?? cost.value, { ...terms, value: 0 });
  return gates.find(({ latest_h: latest, budget }) => {
    if (latest !== undefined) return terms.deadline !== null && latest > terms.deadline;
    return budget === undefined || billed() > budget;
  });
}

const hours = ({ row }) => row.cost.value[2];
const cost = (one) => (one.cost ? one.cost.value : one.row.cost.value[1]);
const measures = {
  cost,
  balanced: (one) => cost(one) * hours(one),
  time: hours,
  energy: ({ row }) => row.energy,
};

function least(rows, measure) {
  return rows.reduce((best, row) => (best === null || measure(row) < measure(best) ? row : best), null);
}

// Rows with their cost and gate, the count that is chosen, by what, and the counts of least cost and time.
export function decide({ rows: all, objective: objectives }, terms) {
  const rows = all.map((row) => {
    const failed = failedGate(row, terms);
    return { row, count: row.count, cost: costOf(row, terms), passes: !failed, gate: failed?.mark ?? row.passes };
  });
  const priced = rows.every(({ cost }) => cost !== null);
  const objective = objectives[Number(terms.deadline !== null)][Number(terms.value > 0)][Number(priced)];
  const passing = rows.filter(({ passes }) => passes);
  const fitted = rows.filter(({ row }) => row.same_quality);
  return {
    rows,
    priced,
    objective,
    passing: passing.length,
    chosen: least(passing, measures[objective]),
    cheapest: least(fitted, measures.cost),
    fastest: least(fitted, measures.time),
  };
}

// Whether every amount is so small that it is printed for 10^6 units of work.
export function isNextToNothing({ rows }) {
  const cent = 0.01;
  return rows.every(({ cost }) => cost && cost.value > 0 && cost.value < cent);
}
