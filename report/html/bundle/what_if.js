// SPDX-License-Identifier: Apache-2.0
// The decision at another price, value of an hour of waiting or deadline, as inputs on the page. They stand in
// the address too, as #price=3.1&value=100&deadline=2, so that a link shows what was seen.
import { decide, givenTerms, millionScale } from './decide.js';
import { element } from './element.js';
import { fixed, grouped, money, moneyColumn } from './numbers.js';

const objectives = {
  cost: 'the cheapest',
  balanced: 'the balanced count (least cost x time)',
  time: 'the fastest',
  energy: 'the count with the lowest energy',
};

// Where the verdict has a reason not to recommend, the page has none to either.
function isReliable(report) {
  return report.verdict.answer !== 'not reliable';
}

// What the report's table of counts prints of a count; computed for one of a curve that it leaves out.
function printedRows(report) {
  const [short, ...whole] = document.querySelectorAll('table[data-table="decision"]');
  const table = whole[0] ?? short;
  const headers = [...table.tHead.rows[0].cells];
  const column = (...ids) => headers.findIndex((header) => ids.includes(header.dataset.column));
  const countOf = (row) => Number(row.cells[column('count')].dataset.value);
  const time = column('time_s', 'time_h');
  const efficiency = column('efficiency');
  const rows = new Map(
    [...table.tBodies[0].rows].map((row) => [
      countOf(row),
      { time: row.cells[time].textContent, efficiency: row.cells[efficiency].textContent },
    ]),
  );
  const computed = (row) => ({
    time: fixed(row.same_work_s.value / 3600, 3),
    efficiency: fixed(100 * row.efficiency.value, 2),
  });
  return {
    unit: /\(([^()]*)\)$/.exec(headers[time].textContent)?.[1] ?? '',
    counted: headers[column('count')].textContent,
    timeTitle: headers[time].textContent,
    // "million tokens"
    million: /million [^()]*(?= \()/.exec(headers[column('cost_per_million_work')]?.textContent ?? '')?.[0] ?? 'million units of work',
    shown: [...short.tBodies[0].rows].map(countOf),
    counts: [...rows.keys()],
    of: (row) => rows.get(row.count) ?? computed(row),
  };
}

function tilesOf(report, result, printed, amount, recomputed) {
  const { chosen, cheapest, fastest, priced } = result;
  if (!chosen) return [{ label: 'Recommended', value: 'none', note: 'no count passes every gate' }];
  const { time, efficiency } = printed.of(chosen.row);
  const figures = [
    {
      label: `${isReliable(report) ? 'Recommended' : 'By the figures alone'}${recomputed ? ' (recomputed)' : ''}`,
      value: `${grouped(String(chosen.count))} ${printed.counted === 'count' ? report.counts_of : printed.counted}`,
      note: objectives[result.objective],
    },
    { label: 'Time', value: `${time} ${printed.unit}`, note: chosen.row.failures ? 'without failures' : 'of the same work' },
    { label: 'Efficiency', value: `${efficiency} %`, note: `speed-up ${fixed(chosen.row.speedup.value, 2)}` },
  ];
  if (!priced) return figures;
  figures.push({ label: 'Cost', value: amount(chosen.cost.value), note: 'of the same work' });
  if (chosen !== fastest) {
    const saved = fastest.cost.value - chosen.cost.value;
    figures.push({ label: 'Saving', value: amount(saved), note: `against the fastest, ${grouped(String(fastest.count))}` });
  }
  figures.push({
    label: 'K*',
    value: grouped(String(cheapest.count)),
    note: `the count of least cost, ${amount(cheapest.cost.value)}`,
  });
  return figures;
}

function numberFrom(text) {
  const number = Number(text);
  return text !== null && text.trim() !== '' && Number.isFinite(number) && number >= 0 ? number : null;
}

export function whatIf(report, header, showTiles) {
  // Costs whose prices the report does not hold cannot be computed again.
  const unknownPrices = report.cost_choice !== null && report.bill === null;
  if (!report.rubric || !report.rows || report.counts_of === 'load' || unknownPrices) return;
  const printed = printedRows(report);
  const given = givenTerms(report);
  const { currency } = report;
  const one = report.counts_of.replace(/s$/, '');
  const field = (name, label, disabled) => {
    const input = element('input', { type: 'text', inputMode: 'decimal', name, autocomplete: 'off', disabled });
    input.dataset.given = given[name] ?? '';
    return element('label', {}, label, input);
  };
  const ownPrices = report.rows.every((row) => row.rate_usd_per_hour !== null);
  const failures = report.rows.some((row) => row.failures);
  const form = element(
    'form',
    {},
    field('price', `Price of a ${one}-hour (${currency})`, ownPrices),
    field('value', `An hour of waiting is worth (${currency})`, false),
    field('deadline', 'Deadline (hours)', failures),
  );
  const says = element('p', { className: 'note' });
  says.setAttribute('role', 'status');
  const answer = element('p', { className: 'answer' });
  const table = element('table');
  const reset = element('button', { type: 'button', textContent: 'Back to the report' });
  form.append(reset);
  const panel = element(
    'section',
    { className: 'what-if', id: 'what-if' },
    element('h2', { textContent: 'At another price or deadline' }),
    form,
    answer,
    element('div', { className: 'scroll' }, table),
    says,
  );
  header.append(panel);
  const inputs = [...form.querySelectorAll('input')];

  function recompute() {
    const terms = {};
    for (const input of inputs) terms[input.name] = numberFrom(input.value);
    terms.value ??= 0;
    const changed = inputs.filter(({ name }) => terms[name] !== given[name]);
    const invalid = inputs.filter((input) => input.value.trim() !== '' && numberFrom(input.value) === null);
    for (const input of inputs) input.setAttribute('aria-invalid', invalid.includes(input));
    if (invalid.length) {
      says.textContent = 'Not a number of 0 or more: nothing was recomputed.';
      return;
    }
    const result = decide(report, terms);
    const scale = millionScale(result);
    const amount = (cost) =>
      scale === null ? money(cost, currency) : `${money(cost * scale, currency)} per ${printed.million}`;
    const { chosen } = result;
    const named = [chosen, result.cheapest, result.fastest].filter(Boolean).map(({ count }) => count);
    const rows = result.rows.filter(({ count }) => printed.counts.includes(count) || named.includes(count));
    const scaled = ({ value, low, high }) => {
      const by = (bound) => (bound === null ? null : bound * (scale ?? 1));
      return { value: by(value), low: by(low), high: by(high) };
    };
    const typical = result.rows.filter(({ count, cost }) => cost && printed.shown.includes(count));
    const inColumn = moneyColumn(
      typical.map(({ cost }) => cost.value * (scale ?? 1)),
      scale === null ? 3 : undefined,
    );
    const costOf = ({ cost }) => (cost ? inColumn(scaled(cost)) : 'n/a');
    const numbers = [
      printed.counted,
      printed.timeTitle,
      `${scale === null ? 'cost' : `cost per ${printed.million}`} (${currency})`,
    ];
    const heading = (className) => (textContent) => element('th', { scope: 'col', className, textContent });
    const number = (textContent) => element('td', { className: 'number', textContent });
    const line = (row) =>
      element(
        'tr',
        { className: row === chosen ? 'chosen' : '' },
        number(grouped(String(row.count))),
        number(printed.of(row.row).time),
        number(costOf(row)),
        element('td', { textContent: row.gate }),
        element('td', { textContent: row === chosen ? (isReliable(report) ? 'recommended' : 'by the figures alone') : '' }),
      );
    table.replaceChildren(
      element('thead', {}, element('tr', {}, ...numbers.map(heading('number')), ...['gate', ''].map(heading('')))),
      element('tbody', {}, ...rows.map(line)),
    );
    const best = objectives[result.objective];
    const gated = `${best} of the ${result.passing} counts that pass every gate`;
    const only = 'the only count that passes every gate';
    const why = result.passing === result.rows.length ? best : result.passing === 1 ? only : gated;
    const doubt = isReliable(report) ? '' : 'Not reliable, see the verdict. By the figures alone: ';
    answer.textContent = chosen
      ? `${doubt}Take ${grouped(String(chosen.count))}, ${why}: ${chosen.cost ? `${amount(chosen.cost.value)}, ` : ''}${printed.of(chosen.row).time} ${printed.unit}.`
      : 'No count passes every gate.';
    panel.classList.toggle('changed', changed.length > 0);
    says.textContent = changed.length
      ? 'Recomputed on this page from the rows of the report by the formulas of the program. The verdict above, the charts and the sections below stay as the report was written.'
      : 'The values that the report was written with. Change one to see the recommendation that follows.';
    if (failures) says.textContent += ' With failures the deadline cannot be changed here.';
    if (ownPrices) says.textContent += ' Every row has a price of its own.';
    showTiles(tilesOf(report, result, printed, amount, changed.length > 0));
    const query = changed.map((input) => `${input.name}=${encodeURIComponent(input.value.trim())}`).join('&');
    if (query || location.hash.includes('=')) history.replaceState(null, '', query ? `#${query}` : '#');
  }

  function fill() {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const input of inputs) input.value = (!input.disabled && asked.get(input.name)) || input.dataset.given;
  }

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', recompute);
  reset.addEventListener('click', () => {
    for (const input of inputs) input.value = input.dataset.given;
    recompute();
  });
  addEventListener('hashchange', () => {
    if (!location.hash.includes('=')) return;
    fill();
    recompute();
  });
  fill();
  recompute();
}
