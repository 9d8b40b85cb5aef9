// SPDX-License-Identifier: Apache-2.0
// Collectives over message sizes, a picture for each. A facet takes one data set, so that fitted values and points
// are kinds of rows.
import * as g from './grammar.js';

const of = (kind) => `datum.kind === '${kind}'`;

// points: collective, mode, bytes, busbw, low, high, time, size; fits: the first four of these.
export function busbw({ points, fits }, page) {
  const dots = g.complete(points).map((row) => ({ ...row, kind: 'point' }));
  const rows = g.linked([...dots, ...g.complete(fits).map((row) => ({ ...row, kind: 'fit' }))], (row) => row.mode);
  const [low, high] = g.rangeOf(dots, 'busbw');
  const modes = ['isolated', 'back to back'];
  return g.facets(rows, g.distinct(dots, 'collective'), page, {
    columns: 3,
    height: 190,
    cell: (width) => ({
      encoding: {
        x: g.sizes(g.rangeOf(dots, 'bytes')[1], width),
        y: g.logarithmic('busbw', 'bus bandwidth (GB/s)', low / 1.5, high * 1.5, 400),
        color: g.colours('mode', modes, g.palette, page),
        opacity: g.opacity(1),
      },
      layer: [
        { ...g.where(of('fit'), g.line(1.5)), params: [g.pick('mode')] },
        g.where(of('point'), { type: 'rule', strokeWidth: 1.5 }, g.intervalEnds),
        g.where(of('point'), g.dot(36), {
          tooltip: g.tooltip([
            ['collective', 'collective'],
            ['mode', 'mode'],
            ['size', 'message'],
            ['time', 'time (us)', '.3~g'],
            ['busbw', 'busbw (GB/s)', '.3~g'],
          ]),
        }),
      ],
    }),
  });
}

// Simple is solid; the shorter the messages that a protocol is for, the shorter its dashes.
const dashes = { LL: [2, 3], LL128: [7, 3], Simple: [1, 0] };

// rows: kind (line: a fitted way, curve: the fastest, forced: measured, choice: NCCL's own), collective, algorithm,
// protocol, bytes, busbw, time, size.
export function nccl({ rows }, page) {
  const there = g.linked(g.complete(rows), (row) => (row.kind === 'curve' ? undefined : row.algorithm));
  const ways = there.filter((row) => row.kind === 'line' || row.kind === 'forced');
  const protocols = g.distinct(ways, 'protocol').sort();
  const times = g.rangeOf(there, 'time');
  const messages = g.rangeOf(there, 'bytes');
  const order = g.distinct(there, 'collective');
  const room = 1.8; // for a ring at both ends
  const columns = order.length === 1 ? 1 : order.length === 2 || order.length === 4 ? 2 : 3;
  const height = [340, 280, 250][columns - 1];
  const colour = g.colours('algorithm', g.distinct(ways, 'algorithm'), g.palette, page);
  const dash = {
    field: 'protocol',
    type: 'nominal',
    title: null,
    legend: { symbolSize: 400 },
    scale: { domain: protocols, range: protocols.map((protocol) => dashes[protocol] ?? [10, 3, 2, 3]) },
  };
  const tips = g.tooltip([
    ['algorithm', 'algorithm'],
    ['protocol', 'protocol'],
    ['size', 'message'],
    ['time', 'time (us)', '.3~g'],
    ['busbw', 'busbw (GB/s)', '.3~g'],
  ]);
  return g.facets(there, order, page, {
    columns,
    height,
    cell: (width) => {
      const x = g.sizes(messages[1], width);
      x.scale.domain = [messages[0] / room, messages[1] * room];
      return {
        encoding: { x, y: g.logarithmic('time', 'time (us)', times[0] / 1.5, times[1] * 1.5, 2 * height) },
        layer: [
          g.where(of('curve'), { ...g.line(9), opacity: 0.18, color: g.css('ink'), clip: true }),
          {
            ...g.where(of('line'), { ...g.line(1.75), clip: true }, { color: colour, strokeDash: dash, opacity: g.opacity(1) }),
            params: [g.pick('algorithm')],
          },
          g.where(of('forced'), g.dot(22), { color: colour, tooltip: tips, opacity: g.opacity(0.9) }),
          g.where(of('choice'), { type: 'point', filled: false, size: 70, color: g.css('ink') }, { tooltip: tips }),
        ],
      };
    },
  });
}
