// SPDX-License-Identifier: Apache-2.0
// Roofs, ceilings and what was placed under them.
import * as g from './grammar.js';

const steps = 64;
const curve = (roofs, [low, high], rate) =>
  roofs.flatMap((roof) =>
    Array.from({ length: steps + 1 }, (_, i) => {
      const intensity = low * (high / low) ** (i / steps);
      return { precision: roof.precision, intensity, rate: rate(roof, intensity) };
    }));

// Names of the levels stand on their lines, which are parallel: one whose line is too near another's begins where that
// one's name ends.
function placedNames(levels, low, slope, perDecade) {
  const placed = [];
  const first = Math.max(14, 13 * Math.tan(slope) + 4); // so far that a steep one stays right of the axis
  for (const level of [...levels].sort((a, b) => b.rate - a.rate)) {
    const apart = (other) => Math.log10(other.rate / level.rate) * perDecade * Math.cos(slope);
    const near = placed.filter((other) => apart(other) < 14);
    placed.push({ ...level, intensity: low, start: Math.max(first, ...near.map((other) => other.end)) });
    placed.at(-1).end = placed.at(-1).start + g.textWidth(level.level, 11) + 12;
  }
  return placed.map((level) => ({ ...level, rate: level.rate * low }));
}

// roofs: precision, peak (GFLOP/s), ridge; products: precision, intensity, rate, shape, fraction; levels: level, rate (GB/s).
export function roofline({ roofs, products, levels }, page) {
  const height = 400;
  const width = page.width - 75;
  const gemms = g.linked(g.complete(products), (row) => row.precision);
  // Half an octave wider than what is measured.
  const low = Math.min(0.05, ...gemms.map((row) => row.intensity / Math.SQRT2));
  const high = Math.max(64, ...gemms.map((row) => row.intensity * Math.SQRT2));
  const range = [low, high];
  const lines = curve(roofs, range, (roof, intensity) => roof.peak * Math.min(1, intensity / roof.ridge));
  const peak = Math.max(...roofs.map((roof) => roof.peak));
  // Room above the peak for points that beat it.
  const lowest = Math.min(g.rangeOf(lines, 'rate')[0], ...levels.map((level) => level.rate * low)) / 1.3;
  const highest = peak * 1.5;
  const acrossDecades = Math.log10(high / low);
  const upDecades = Math.log10(highest / lowest);
  // Of a line of slope 1 in a plot of these logarithmic ranges.
  const slope = Math.atan2(height / upDecades, width / acrossDecades);
  const ceilings = levels.flatMap((level) =>
    [low, peak / level.rate].map((intensity) => ({ level: level.level, intensity, rate: level.rate * intensity })));
  const grey = { color: { value: g.css('muted') } };
  const tips = [['precision', 'precision'], ['intensity', 'FLOP/B', '.3~g'], ['rate', 'GFLOP/s', '.3~g']];
  const faded = { opacity: g.opacity(1, { link: false }) };
  return g.view(page, height, {
    encoding: {
      x: g.logarithmic('intensity', 'arithmetic intensity (FLOP/B)', low, high, width),
      y: g.logarithmic('rate', 'rate (GFLOP/s)', lowest, highest, 2 * height),
      color: g.colours('precision', roofs.map((roof) => roof.precision), g.palette, page),
    },
    layer: [
      ...g.layerOf(ceilings, g.line(1, [2, 3]), { detail: { field: 'level' }, ...grey }),
      ...g.layerOf(placedNames(levels, low, slope, height / upDecades), {
        type: 'text',
        align: 'left',
        baseline: 'bottom',
        dx: { expr: 'datum.start' },
        dy: -2,
        fontSize: 11,
        angle: { expr: `-atan2(height * ${acrossDecades}, width * ${upDecades}) * 180 / PI` },
      }, { text: { field: 'level' }, ...grey }),
      { ...g.layer(lines, g.line(2), faded), params: [g.pick('precision')] },
      ...g.layerOf(gemms, { type: 'point', shape: 'diamond', filled: false, size: 130, strokeWidth: 2 }, {
        tooltip: g.tooltip([['shape', 'matrix product'], ...tips, ['fraction', 'of its roof', '.1%']]),
        opacity: g.opacity(1),
      }),
    ],
  });
}

// From the datasheet's rate to the measured one (TFLOP/s); steps: step, change.
export function waterfall({ datasheet, measured, steps: changes }, page) {
  const rows = [{ step: 'datasheet', from: 0, to: datasheet, change: datasheet, kind: 'rate' }];
  let rate = datasheet;
  for (const { step, change } of changes) {
    const after = rate + change;
    rows.push({ step, from: Math.min(rate, after), to: Math.max(rate, after), change, kind: change < 0 ? 'loss' : 'gain' });
    rate = after;
  }
  rows.push({ step: 'measured', from: 0, to: measured, change: measured, kind: 'rate' });
  const [blue, amber, red] = g.palette;
  return g.view(page, 34 * rows.length, {
    data: { values: rows },
    params: [g.pick('kind')],
    mark: { type: 'bar', height: 20 },
    encoding: {
      y: g.names('step', null, page, { labelLimit: page.narrow ? 130 : 220 }),
      x: g.linear('from', 'rate (TFLOP/s)', page.width * 0.7),
      x2: { field: 'to' },
      color: g.colours('kind', ['rate', 'loss', 'gain'], [blue, red, amber], page),
      opacity: g.opacity(1, { link: false }),
      tooltip: g.tooltip([
        ['step', 'step'],
        ['change', 'change (TFLOP/s)', '+.4~g'],
        ['to', 'up to (TFLOP/s)', '.4~g'],
      ]),
    },
  });
}
