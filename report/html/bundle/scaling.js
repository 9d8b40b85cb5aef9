// SPDX-License-Identifier: Apache-2.0
// Curves over counts, and bars that are split into parts.
import * as g from './grammar.js';

// Parts of a step and their groups, in the order in which they are stacked.
const partColours = {
  compute: 'series-1',
  optimizer: 'series-6',
  communication: 'series-2',
  idle: 'series-3',
  host: 'series-5',
  'I/O': 'series-4',
  progress: 'series-4',
  'exposed transfer': 'series-2',
  'exposed wait': 'series-3',
  'wait or transfer, below clock error': 'yes',
  'exposed communication, undivided': 'unknown',
  'exposed copy': 'series-4',
  'CPU launched too late': 'series-5',
  'dependency idle': 'series-6',
  'launch gap': 'axis',
  'profiler overhead': 'muted',
  unattributed: 'series-7',
};

// The colour channel of the parts that are there.
export function parts(present, page) {
  const known = Object.keys(partColours).filter((part) => present.includes(part));
  const all = [...known, ...present.filter((part) => !(part in partColours))];
  return g.colours('part', all, all.map((part) => g.css(partColours[part] ?? 'muted')), page);
}

// rows: bar, part, value, share, link; `length` is what a bar's length is, `bar` what a bar is.
export function stacked({ rows, length, bar }, page) {
  const there = g.complete(rows);
  const present = new Set(there.filter((row) => row.value > 0).map((row) => row.part));
  const colour = parts([...present], page);
  const order = colour.scale.domain;
  const shown = there.filter((row) => present.has(row.part)).map((row) => ({ ...row, order: order.indexOf(row.part) }));
  const bars = g.distinct(there, 'bar');
  return g.view(page, (bars.length > 24 ? 22 : 30) * bars.length, {
    data: { values: shown },
    params: [g.pick('part')],
    mark: { type: 'bar', height: { band: 0.76 } },
    encoding: {
      y: g.names('bar', bars, page),
      x: g.linear('value', length, page.width * 0.75),
      color: colour,
      order: { field: 'order' },
      opacity: g.opacity(1, { faded: 0.2 }),
      tooltip: g.tooltip([
        ['bar', bar],
        ['part', 'part'],
        ['value', length, '.3~f'],
        ['share', 'of the whole', '.1%'],
      ]),
    },
  });
}

const within = 'within the measured counts';
const beyond = 'extrapolated';

// Each row once with its range; the last measured one of a series belongs to the dashed line too, which begins there.
function withRanges(rows) {
  return rows.flatMap((row, index) => {
    const next = rows[index + 1];
    const last = !row.extrapolated && next?.extrapolated && next.series === row.series;
    return [
      { ...row, range: row.extrapolated ? beyond : within },
      ...(last ? [{ ...row, range: beyond }] : []),
    ];
  });
}

// Words beside upright lines: right of them, at the last counts left of them. One that would stand on another begins
// where that ends.
function placedMarks(marks, [first, last], pixels) {
  const at = (count) => (last > first ? (Math.log2(count / first) / Math.log2(last / first)) * pixels : 0);
  const placed = [];
  for (const mark of [...marks].sort((a, b) => a.ranks - b.ranks)) {
    const edge = at(mark.ranks) > pixels - 16;
    const x = at(mark.ranks) + (edge ? -10 : 10);
    const near = placed.filter((other) => Math.abs(other.x - x) < 15);
    placed.push({ ...mark, edge, x, start: Math.max(0, ...near.map((other) => other.end)) });
    placed.at(-1).end = placed.at(-1).start + g.textWidth(mark.mark) + 8;
  }
  return placed;
}

// curve: series, ranks, value, low, high, extrapolated; measured: the same of single counts; ideal: ranks, value of
// the two ends of a straight line; marks: ranks, mark (words); doubling: both axes double.
export function curves(data, page) {
  const height = 340;
  const pixels = page.width - 70;
  const curve = withRanges(g.complete(data.curve));
  const measured = g.linked(g.complete(data.measured), (row) => `${row.ranks} ranks`);
  const ideal = (data.ideal ?? []).map((row) => ({ ...row, series: 'ideal' }));
  const all = [...measured, ...ideal, ...curve];
  const series = g.distinct(all, 'series');
  const fixed = { measured: 'ink', ideal: 'muted' };
  const laws = series.filter((name) => !(name in fixed));
  const range = series.map((name) => (fixed[name] ? g.css(fixed[name]) : g.palette[laws.indexOf(name)]));
  const counts = g.rangeOf(all, 'ranks');
  const marks = placedMarks(data.marks ?? [], counts, pixels);
  const tips = g.tooltip([
    ['series', 'series'],
    ['ranks', data.x],
    ['value', data.y, '.4~g'],
    ['low', 'low', '.4~g'],
    ['high', 'high', '.4~g'],
  ]);
  const legend = curve.some((row) => row.range === beyond) ? {} : { legend: null };
  const dashes = {
    field: 'range',
    type: 'nominal',
    title: null,
    scale: { domain: [within, beyond], range: [[1, 0], [5, 4]] },
    ...(page.narrow ? { legend: { columns: 1 } } : {}),
    ...legend,
  };
  const words = (edge) => ({
    type: 'text',
    angle: 270,
    align: 'right',
    baseline: edge ? 'bottom' : 'top',
    dx: { expr: '-6 - datum.start' },
    dy: edge ? -4 : 4,
  });
  const upright = { y: { value: 0 }, color: { value: g.css('muted') } };
  return g.view(page, height, {
    encoding: {
      x: g.counts('ranks', data.x, counts[1], pixels),
      y: data.doubling ? g.doubling('value', data.y, { tickCount: 7 }) : g.linear('value', data.y, 560, { format: '.3~g' }),
      color: g.colours('series', series, range, page),
    },
    layer: [
      ...g.layerOf(ideal, g.line(1.5, [2, 3]), { opacity: g.opacity(1, { link: false }) }),
      ...g.layerOf(curve, { type: 'area' }, {
        ...g.intervalEnds,
        detail: { field: 'range' },
        opacity: g.opacity(0.16, { link: false }),
      }),
      ...g.layerOf(curve, g.line(2), { strokeDash: dashes, tooltip: tips, opacity: g.opacity(1, { link: false }) }),
      ...g.layerOf(measured, { type: 'rule', strokeWidth: 2 }, { ...g.intervalEnds, opacity: g.opacity(1) }),
      ...g.layerOf(measured, g.dot(80), { tooltip: tips, opacity: g.opacity(1, { faded: 0.25 }) }),
      ...g.layerOf(marks, { type: 'rule', strokeDash: [4, 4] }, { ...upright, y2: { value: height } }),
      ...[false, true].flatMap((edge) =>
        g.layerOf(marks.filter((mark) => mark.edge === edge), words(edge), { ...upright, text: { field: 'mark' } })),
    ].map((layer, place) => (place === 0 ? { ...layer, params: [g.pick('series')] } : layer)),
  });
}

// rows: count, name, time, cost, taken; a null cost is not drawn.
export function tradeoff({ rows, x, y }, page) {
  const there = g.linked(g.complete(rows), (row) => `${row.count} ranks`).sort((a, b) => a.count - b.count);
  const height = 280;
  const [low, high] = g.rangeOf(there, 'time');
  const [cheap, dear] = g.rangeOf(there, 'cost');
  // Room for the words beside the points.
  const across = (field, title, least, most, pixels) =>
    most > 4 * least
      ? { ...g.doubling(field, title, { tickCount: Math.floor(pixels / 90) }), scale: { type: 'log', base: 2, nice: false, padding: 30 } }
      : { ...g.linear(field, title, pixels, { format: '.3~g' }), scale: { zero: false, padding: 30 } };
  const place = { x: across('time', x, low, high, page.width), y: across('cost', y, cheap, dear, height) };
  const taken = { test: 'datum.taken', value: g.css('yes') };
  return g.view(page, height, {
    encoding: place,
    layer: [
      g.layer(there, { ...g.line(1.5), color: g.css('axis') }, { order: { field: 'count', type: 'quantitative' }, detail: { field: 'group' } }),
      g.layer(there, g.dot(110), {
        color: { condition: taken, value: g.css('series-1') },
        opacity: g.opacity(1, { legend: false, faded: 0.25 }),
        tooltip: g.tooltip([['count', 'count'], ['time', x, '.4~g'], ['cost', y, '.4~g']]),
      }),
      ...g.layerOf(there.length > 24 ? there.filter((row) => row.name !== String(row.count)) : there, { type: 'text', dy: -13, fontSize: 12 }, {
        text: { field: 'name' },
        color: { condition: taken, value: g.css('ink') },
        opacity: g.opacity(1, { legend: false, faded: 0.25 }),
      }),
    ],
  });
}

// rows: series, x, value; one line each. log: the values' axis is logarithmic.
export function lines({ rows, x, y, log }, page) {
  const there = g.complete(rows);
  const height = 300;
  const [low, high] = g.rangeOf(there, 'value');
  return g.view(page, height, {
    data: { values: there },
    params: [g.pick('series')],
    mark: { type: 'line', point: true },
    encoding: {
      x: g.doubling('x', x, { tickCount: Math.floor(page.width / 70) }),
      y: log ? g.logarithmic('value', y, low / 1.2, high * 1.2, height * 2) : g.linear('value', y, 560),
      color: g.colours('series', g.distinct(there, 'series'), g.palette, page),
      opacity: g.opacity(1, { link: false }),
      tooltip: g.tooltip([['series', 'which'], ['x', x], ['value', y, '.4g']]),
    },
  });
}

// rows: bar, value.
export function bars({ rows, bar, value }, page) {
  return g.view(page, 32 * rows.length, {
    data: { values: g.complete(rows) },
    mark: { type: 'bar', height: { band: 0.76 }, color: g.css('series-1') },
    encoding: {
      y: g.names('bar', null, page),
      x: g.linear('value', value, page.width * 0.75),
      tooltip: g.tooltip([['bar', bar], ['value', value, '.2f']]),
    },
  });
}
