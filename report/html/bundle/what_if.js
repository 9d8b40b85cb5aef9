// SPDX-License-Identifier: Apache-2.0
// The decision at another price, value of an hour of waiting or deadline, as inputs on the page. They stand in
// the address too, as #price=3.1&value=100&deadline=2, so that a link shows what was seen.
import { redraw } from './charts.js';
import { decide, isNextToNothing } from './decide.js';
import { money } from './numbers.js';

export function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// The text with what stands in its braces; null where one of these is not known.
function filled(text, values) {
  let known = true;
  const result = text.replace(/\{(\w+)\}/g, (whole, name) => {
    known &&= values[name] !== null && values[name] !== undefined;
    return values[name];
  });
  return known ? result : null;
}

function showTiles(tiles, words, values) {
  const figures = words
    .map((tile) => Object.fromEntries(Object.entries(tile).map(([key, text]) => [key, filled(text, values)])))
    .filter(({ value, note }) => value !== null && note !== null);
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

function termsOf(texts) {
  return {
    price: numberFrom(texts.price),
    value: numberFrom(texts.value) ?? 0,
    deadline: numberFrom(texts.deadline),
  };
}

function termsForm(data) {
  const field = (name, disabled) => {
    const input = element('input', { type: 'text', inputMode: 'decimal', name, autocomplete: 'off', disabled });
    input.dataset.given = data.given[name];
    return element('label', {}, data.words[name], input);
  };
  return element(
    'form',
    {},
    field('price', data.own_prices),
    field('value', false),
    field('deadline', data.failures),
  );
}

// The counts at these terms; `printed` writes a cost.
function tableParts(words, rows, chosen, values, printed) {
  const heading = (text, column) =>
    element('th', { scope: 'col', className: column < 3 ? 'number' : '', textContent: filled(text, values) });
  const number = (textContent) => element('td', { className: 'number', textContent });
  const line = (one) =>
    element(
      'tr',
      { className: one === chosen ? 'chosen' : '' },
      number(one.row.printed),
      number(one.row.time),
      number(one.cost ? printed(one.cost) : 'n/a'),
      element('td', { textContent: one.gate }),
      element('td', { textContent: one === chosen ? words.mark : '' }),
    );
  return [
    element('thead', {}, element('tr', {}, ...words.headers.map(heading))),
    element('tbody', {}, ...rows.map(line)),
  ];
}

// The chart of cost against time at these terms.
function recharted(chart, data, { rows, chosen, cheapest, fastest }) {
  const { words } = data;
  const scale = isNextToNothing({ rows }) ? data.million : 1;
  const of = new Map(rows.map((one) => [one.row.count, one]));
  const marks = [[chosen, words.mark_taken], [cheapest, words.mark_cheapest], [fastest, words.mark_fastest]];
  const named = (one) => {
    const names = marks.filter(([marked]) => marked === one).map(([, name]) => name);
    return one.row.printed + (names.length ? `: ${names.join(', ')}` : '');
  };
  return {
    ...chart,
    y: filled(words.cost_axis, { per_million: scale === 1 ? '' : words.per_million }),
    rows: chart.rows.map((row) => {
      const one = of.get(row.count);
      return { ...row, name: named(one), cost: one.cost.value * scale, taken: one === chosen };
    }),
  };
}

// `data` as decision_page_data() of report/decision/decision_page.cpp writes it.
export function whatIf(data, header) {
  const { currency, words } = data;
  const form = termsForm(data);
  const says = element('p', { className: 'note' });
  says.setAttribute('role', 'status');
  const table = element('table');
  const reset = element('button', { type: 'button', textContent: words.reset });
  form.append(reset);
  const panel = element(
    'section',
    { className: 'what-if', id: 'what-if' },
    element('h2', { textContent: words.title }),
    form,
    says,
    element(
      'details',
      {},
      element('summary', { textContent: words.table }),
      element('div', { className: 'scroll' }, table),
    ),
  );
  const tiles = element('div', { className: 'tiles' });
  header.append(tiles);
  // The verdict as written, and as it is at other terms.
  const verdict = header.querySelector('.verdict');
  const headline = verdict.querySelector('.headline');
  const writtenHeadline = headline.textContent;
  const writtenAnswer = verdict.className;
  const inputs = [...form.querySelectorAll('input')];
  const given = termsOf(data.given);

  function recompute() {
    const terms = termsOf(Object.fromEntries(inputs.map(({ name, value }) => [name, value])));
    const changed = inputs.filter(({ name }) => terms[name] !== given[name]);
    const invalid = inputs.filter((input) => input.value.trim() !== '' && numberFrom(input.value) === null);
    for (const input of inputs) input.setAttribute('aria-invalid', invalid.includes(input));
    if (invalid.length) {
      says.textContent = words.invalid;
      return;
    }
    const result = decide(data, terms);
    const scale = isNextToNothing(result) ? data.million : null;
    const perMillion = scale === null ? '' : words.per_million;
    const scaled = (bound) => (bound === null ? null : bound * (scale ?? 1));
    const printed = ({ value, low, high }) =>
      money({ value: scaled(value), low: scaled(low), high: scaled(high) }, currency);
    const amount = (value) => money({ value: scaled(value) }, currency) + perMillion;
    const { chosen, cheapest, fastest, priced, passing } = result;
    const rows = result.rows.filter((one) => one.row.shown || [chosen, cheapest, fastest].includes(one));
    const saved = priced && chosen && chosen !== fastest ? fastest.cost.value - chosen.cost.value : null;
    const values = {
      per_million: perMillion,
      recomputed: changed.length > 0 ? words.recomputed : '',
      objective: data.objectives[result.objective],
      passing,
      fastest: fastest.row.printed,
      cost: priced && chosen ? amount(chosen.cost.value) : null,
      saving: saved === null ? null : amount(saved),
      cheapest: priced ? cheapest.row.printed : null,
      least: priced ? amount(cheapest.cost.value) : null,
    };
    if (chosen) {
      const { printed: count, time, efficiency, speedup, loss } = chosen.row;
      Object.assign(values, { count, time, efficiency, speedup });
      if (loss) Object.assign(values, { loss: loss.name, loss_share: loss.share });
      values.paid = priced ? `${values.cost}, ` : '';
      values.why = passing === result.rows.length ? values.objective : passing === 1 ? words.only : filled(words.of_passing, values);
    }
    table.replaceChildren(...tableParts(words, rows, chosen, values, printed));
    const answer = chosen ? filled(words.answer, values) : words.no_answer;
    headline.textContent = changed.length ? answer : writtenHeadline;
    verdict.className = changed.length ? `verdict recomputed ${chosen ? 'yes' : 'no'}` : writtenAnswer;
    panel.classList.toggle('changed', changed.length > 0);
    redraw('chart-tradeoff', (chart) => (changed.length && priced ? recharted(chart, data, result) : chart));
    says.textContent = changed.length ? words.changed : words.as_written;
    showTiles(tiles, chosen ? words.tiles : words.none, values);
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
  return panel;
}
