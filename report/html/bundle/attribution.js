// SPDX-License-Identifier: Apache-2.0
// Ranks of a recorded job: the length of their steps, who waits because of whom, and one step piece by piece.
import * as g from './grammar.js';
import { parts } from './scaling.js';

const linkOf = (rank) => `rank ${rank}`;

// steps: step, median, low, high (ms, over ranks); outliers: step, rank, time.
export function steps({ steps: rows, outliers }, page) {
  const height = 240;
  const dots = g.linked(outliers, (row) => linkOf(row.rank)).map((row) => ({ ...row, series: 'rank outside it' }));
  const whole = rows.every((row) => Number.isInteger(row.step));
  const series = ['median rank', '10th to 90th percentile of ranks', ...(dots.length ? ['rank outside it'] : [])];
  // Between steps that were recorded apart no line is drawn.
  const apart = rows.slice(1).map((row, i) => row.step - rows[i].step);
  const usual = [...apart].sort((a, b) => a - b)[Math.floor(apart.length / 2)];
  let run = 0;
  const runs = rows.map((row, i) => ({ ...row, run: i > 0 && apart[i - 1] > 3 * usual ? ++run : run }));
  const of = (name) => runs.map((row) => ({ ...row, series: name }));
  const tips = [['step', 'step'], ['median', 'median (ms)', '.4~g'], ['low', '10th percentile (ms)', '.4~g'], ['high', '90th percentile (ms)', '.4~g']];
  return g.view(page, height, {
    encoding: {
      x: g.linear('step', 'step', page.width, { ...(whole ? { tickMinStep: 1, format: 'd' } : {}), grid: false }),
      y: { ...g.linear('median', 'length (ms)', 420, { format: ',.4~g' }), scale: { zero: false } },
      color: g.colours('series', series, [g.css('series-1'), g.css('series-6'), g.css('series-3')], page),
    },
    layer: [
      g.layer(of(series[1]), { type: 'area' }, {
        ...g.intervalEnds,
        detail: { field: 'run' },
        opacity: g.opacity(0.45, { link: false }),
      }),
      {
        ...g.layer(of(series[0]), { ...g.line(2), point: rows.length <= 60 ? { size: 30 } : false }, {
          detail: { field: 'run' },
          tooltip: g.tooltip(tips),
          opacity: g.opacity(1, { link: false }),
        }),
        params: [g.pick('series')],
      },
      ...g.layerOf(dots, g.dot(46), {
        y: { field: 'time', type: 'quantitative' },
        opacity: g.opacity(1),
        tooltip: g.tooltip([['rank', 'rank'], ['step', 'step'], ['time', 'length (ms)', '.4~g']]),
      }),
    ],
  });
}

// rows: waits, for (ranks), time (ms); named: the ranks that the verdict names. Between colours that are names
// of CSS variables nothing can be interpolated: opacity is what grows with the time.
export function waits({ rows, named }, page) {
  const ranks = g.distinct(rows, 'waits');
  const pitch = Math.min(page.narrow ? 24 : 28, 640 / ranks.length);
  const both = '!isValid(hovered) || datum.link === hovered || datum.row === hovered';
  const values = rows.map((row) => ({ ...row, link: linkOf(row.for), row: linkOf(row.waits) }));
  const rank = (field, title, axis) => ({ field, type: 'ordinal', sort: ranks, title, axis: { labelOverlap: true, ...axis } });
  return g.view(page, Math.max(120, pitch * ranks.length), {
    data: { values },
    layer: [
      {
        mark: { type: 'rect', fill: g.css('series-3') },
        encoding: {
          y: rank('waits', 'rank that waits', {}),
          x: rank('for', 'rank where the waiting begins', { labelAngle: 0 }),
          fillOpacity: { field: 'time', type: 'quantitative', scale: { domainMin: 0, range: [0, 1] }, legend: null },
          opacity: { condition: { test: both, value: 1 }, value: 0.25 },
          tooltip: g.tooltip([
            ['waits', 'rank that waits'],
            ['for', 'because of rank'],
            ['time', 'exposed wait (ms)', '.4~g'],
          ]),
        },
      },
      ...g.layerOf(
        named.map((rank) => ({ for: rank })),
        { type: 'point', shape: 'triangle-down', filled: true, size: 60, color: g.css('ink') },
        { x: { field: 'for', type: 'ordinal', sort: ranks }, y: { value: -7 }, tooltip: { value: 'named by the verdict' } },
      ),
    ],
  });
}

// ranks: their numbers, top to bottom; parts: names; names: of kernels; pieces: for each rank [offset of its first (ns),
// then of each part, length (ns), name, rank that is waited for or null]: they follow each other without holes. Ctrl and
// the wheel zoom, a drag moves, a double click shows all; the wheel alone scrolls the page.
export function timeline({ step, ranks, parts: partNames, names, pieces }, page) {
  const rows = pieces.flatMap(([offset, ...list], place) => {
    let start = offset / 1e6;
    const of = [];
    for (let i = 0; i + 3 < list.length; i += 4) {
      const [part, ns, name, partner] = list.slice(i, i + 4);
      const length = ns / 1e6;
      const rank = linkOf(ranks[place]);
      const kernel = names[name] || 'none';
      const waits = partner === null ? 'no known rank' : linkOf(partner);
      if (length > 0) of.push({ rank, part: partNames[part], kernel, waits, start, end: start + length, length, link: rank });
      start += length;
    }
    return of;
  });
  return g.view(page, Math.max(90, Math.min(28, 640 / ranks.length) * ranks.length), {
    data: { values: rows },
    params: [g.pick('part'), { name: 'zoom', select: { type: 'interval', encodings: ['x'], zoom: 'wheel![event.ctrlKey || event.metaKey]' }, bind: 'scales' }],
    mark: { type: 'bar', height: { band: 0.8 }, clip: true },
    encoding: {
      y: g.names('rank', ranks.map(linkOf), page, { labelLimit: 90 }),
      x: { ...g.linear('start', `time since the first rank began step ${step} (ms)`, page.width), scale: { nice: false, zero: true } },
      x2: { field: 'end' },
      color: parts(g.distinct(rows, 'part'), page),
      opacity: g.opacity(1, { faded: 0.15 }),
      tooltip: g.tooltip([['rank', 'rank'], ['part', 'part'], ['kernel', 'kernel'], ['waits', 'waits for'], ['start', 'start (ms)', '.4~f'], ['length', 'length (ms)', '.4~f']]),
    },
  });
}
