// SPDX-License-Identifier: Apache-2.0
// The decision at another price, value of an hour of waiting or deadline, as inputs on the page. They stand in
// the address too, as #price=3.1&value=100&deadline=2, so that a link shows what was seen.
import { decide, isNextToNothing } from './decide.js';
import { element } from './element.js';
import { money } from './numbers.js';

// Where the verdict has a reason not to recommend, the page has none to either.
function recommended({ reliable }) {
  return reliable ? 'Recommended' : 'By the figures alone';
}

function tilesOf(data, result, amount, recomputed) {
  const { chosen, cheapest, fastest, priced } = result;
  if (!chosen) return [{ label: 'Recommended', value: 'none', note: 'no count passes every gate' }];
  const { row } = chosen;
  const figures = [
    {
      label: `${recommended(data)}${recomputed ? ' (recomputed)' : ''}`,
      value: `${row.printed} ${data.counted}`,
      note: data.objectives[result.objective],
    },
    { label: 'Time', value: `${row.time} ${data.time_unit}`, note: data.failures ? 'without failures' : 'of the same work' },
    { label: 'Efficiency', value: `${row.efficiency} %`, note: `speed-up ${row.speedup}` },
  ];
  if (!priced) return figures;
  figures.push({ label: 'Cost', value: amount(chosen.cost.value), note: 'of the same work' });
  if (chosen !== fastest) {
    const saved = fastest.cost.value - chosen.cost.value;
    figures.push({ label: 'Saving', value: amount(saved), note: `against the fastest, ${fastest.row.printed}` });
  }
  figures.push({
    label: 'K*',
    value: cheapest.row.printed,
    note: `the count of least cost, ${amount(cheapest.cost.value)}`,
  });
  return figures;
}

function showTiles(tiles, figures) {
  tiles.style.setProperty('--columns', figures.length);
  tiles.replaceChildren(
    ...figures.map(({ label, value, note }) =>
      element(
        'div',
        { className: 'tile' },
        element('p', { textContent: label }),
        element('strong', { textContent: value }),
        element('p', { className: 'note', textContent: note }),
      ),
    ),
  );
}

function numberFrom(text) {
  const number = Number(text);
  return text !== null && text.trim() !== '' && Number.isFinite(number) && number >= 0 ? number : null;
}

// `data` as decision_page_data() of report/decision/decision_page.cpp writes it.
export function whatIf(data, header) {
  const { currency, unit, failures } = data;
  const field = (name, label, disabled) => {
    const input = element('input', { type: 'text', inputMode: 'decimal', name, autocomplete: 'off', disabled });
    input.dataset.given = data.given[name];
    return element('label', {}, label, input);
  };
  const form = element(
    'form',
    {},
    field('price', `Price of a ${unit}-hour (${currency})`, data.own_prices),
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
  const tiles = element('div', { className: 'tiles' });
  header.append(tiles, panel);
  const inputs = [...form.querySelectorAll('input')];
  const termsOf = (texts) => ({
    price: numberFrom(texts.price),
    value: numberFrom(texts.value) ?? 0,
    deadline: numberFrom(texts.deadline),
  });
  const given = termsOf(data.given);

  function recompute() {
    const terms = termsOf(Object.fromEntries(inputs.map(({ name, value }) => [name, value])));
    const changed = inputs.filter(({ name }) => terms[name] !== given[name]);
    const invalid = inputs.filter((input) => input.value.trim() !== '' && numberFrom(input.value) === null);
    for (const input of inputs) input.setAttribute('aria-invalid', invalid.includes(input));
    if (invalid.length) {
      says.textContent = 'Not a number of 0 or more: nothing was recomputed.';
      return;
    }
    const result = decide(data, terms);
    const million = data.million && isNextToNothing(result) ? data.million : null;
    const scaled = (bound) => (bound === null ? null : bound * (million?.scale ?? 1));
    const printed = ({ value, low, high }) =>
      money({ value: scaled(value), low: scaled(low), high: scaled(high) }, currency);
    const amount = (value) =>
      million ? `${money({ value: scaled(value) }, currency)} per ${million.words}` : money({ value }, currency);
    const { chosen, cheapest, fastest } = result;
    const rows = result.rows.filter((one) => one.row.shown || [chosen, cheapest, fastest].includes(one));
    const numbers = [data.count_header, data.time_header, million ? `cost per ${million.words}` : 'cost'];
    const heading = (className) => (textContent) => element('th', { scope: 'col', className, textContent });
    const number = (textContent) => element('td', { className: 'number', textContent });
    const line = (one) =>
      element(
        'tr',
        { className: one === chosen ? 'chosen' : '' },
        number(one.row.printed),
        number(one.row.time),
        number(one.cost ? printed(one.cost) : 'n/a'),
        element('td', { textContent: one.gate }),
        element('td', { textContent: one === chosen ? recommended(data).toLowerCase() : '' }),
      );
    table.replaceChildren(
      element('thead', {}, element('tr', {}, ...numbers.map(heading('number')), ...['gate', ''].map(heading('')))),
      element('tbody', {}, ...rows.map(line)),
    );
    const best = data.objectives[result.objective];
    const gated = `${best} of the ${result.passing} counts that pass every gate`;
    const only = 'the only count that passes every gate';
    const why = result.passing === result.rows.length ? best : result.passing === 1 ? only : gated;
    const doubt = data.reliable ? '' : 'Not reliable, see the verdict. By the figures alone: ';
    answer.textContent = chosen
      ? `${doubt}Take ${chosen.row.printed}, ${why}: ${chosen.cost ? `${amount(chosen.cost.value)}, ` : ''}${chosen.row.time} ${data.time_unit}.`
      : 'No count passes every gate.';
    panel.classList.toggle('changed', changed.length > 0);
    says.textContent = changed.length
      ? 'Recomputed on this page from the coefficients that the program wrote. The verdict above, the charts and the sections below stay as the report was written.'
      : 'The values that the report was written with. Change one to see the recommendation that follows.';
    if (failures) says.textContent += ' With failures the deadline cannot be changed here.';
    if (data.own_prices) says.textContent += ' Every row has a price of its own.';
    showTiles(tiles, tilesOf(data, result, amount, changed.length > 0));
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
