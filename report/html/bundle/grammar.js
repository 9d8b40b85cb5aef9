// SPDX-License-Identifier: Apache-2.0
// Pieces of Vega-Lite that several charts share. Colours are names of the page's CSS variables, so that light, dark
// and print follow its style sheet. A `page` is { width, narrow }: the figure's width in pixels, and whether it is a
// phone's.

export const css = (name) => `var(--${name})`;

// Colours that colour-blind readers can distinguish (Okabe and Ito).
export const palette = [1, 2, 3, 4, 5, 6].map((number) => css(`series-${number}`));

// Width of a text in the charts' font, in pixels; a little more than it takes.
export const textWidth = (text, fontSize = 12) => String(text).length * fontSize * 0.57;
const longest = (texts) => Math.max(0, ...texts.map((text) => textWidth(text)));

export const distinct = (rows, field) => [...new Set(rows.map((row) => row[field]))];

// Without rows that lack a number: C++ writes null for what is not finite.
export const complete = (rows) => rows.filter((row) => Object.values(row).every((value) => value !== null));

// The row's `link` names what it is about ("rank 3", "8 ranks"): charts of a page highlight the same one together.
export const linked = (rows, link) => rows.map((row) => ({ ...row, link: link(row) }));
export const hovered = { name: 'hovered', value: null };
const lit = '!isValid(hovered) || !isValid(datum.link) || datum.link === hovered';

// Click on a name in the legend: it alone is shown; on further ones: these too.
export const pick = (field) => ({
  name: 'shown',
  select: { type: 'point', fields: [field], toggle: 'true' },
  bind: 'legend',
});

// Opacity of what is neither hidden by the legend nor faded because another row is under the pointer.
export const opacity = (value, { legend = true, link = true, faded = 0.1 } = {}) => {
  const tests = [...(legend ? [{ param: 'shown' }] : []), ...(link ? [lit] : [])];
  return { condition: { test: tests.length > 1 ? { and: tests } : tests[0], value }, value: faded * value };
};

// A single view as wide as the page.
export const view = ({ width }, height, rest) => ({
  width,
  height,
  autosize: { type: 'fit-x', contains: 'padding' },
  ...rest,
  params: [hovered, ...(rest.params ?? [])],
});

// Every so many, so that at most `most` are left.
const thin = (values, most) => {
  const every = Math.ceil(values.length / Math.max(1, most));
  return values.filter((_, index) => index % every === 0);
};
const most = (pixels, each) => Math.max(2, Math.floor(pixels / each));

export const linear = (field, title, pixels, axis = {}) => ({
  field,
  type: 'quantitative',
  title,
  axis: { tickCount: Math.min(8, most(pixels, 70)), labelOverlap: true, ...axis },
});

// A logarithmic scale from `low` to `high` with ticks at the powers of ten between them and, where these are few, at
// three times them.
export const logarithmic = (field, title, low, high, pixels) => {
  const channel = { field, type: 'quantitative', title, scale: { type: 'log' } };
  if (!(low > 0) || !(high > low) || !Number.isFinite(high)) return channel;
  const multiples = Math.log10(high / low) < 3 ? [1, 3] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    ticks.push(...multiples.map((multiple) => multiple * 10 ** power));
  }
  const values = thin(ticks.filter((tick) => tick >= low && tick <= high), most(pixels, 44));
  return {
    ...channel,
    scale: { type: 'log', domain: [low, high], nice: false },
    axis: { values, format: ',.3~r', labelOverlap: 'greedy' },
  };
};

// A logarithmic scale of base 2 over the range of the data.
export const doubling = (field, title, axis = {}) => ({
  field,
  type: 'quantitative',
  title,
  scale: { type: 'log', base: 2, nice: false },
  axis: { format: '.3~g', labelOverlap: 'greedy', ...axis },
});

// Counts with ticks at 1, 2, 4 ...
export const counts = (field, title, largest, pixels) => {
  const ticks = [];
  for (let count = 1; count <= largest; count *= 2) ticks.push(count);
  return doubling(field, title, { values: thin(ticks, most(pixels, 36)), format: 'd' });
};

// Message sizes in bytes, labelled "1 KiB", "1 MiB".
export const sizes = (largest, pixels) => {
  const values = [];
  for (let size = 8; size <= Math.max(8, largest); size *= 32) values.push(size);
  const channel = doubling('bytes', 'message', {
    values: thin(values, most(pixels, 50)),
    labelExpr:
      "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : " +
      "datum.value + ' B'",
  });
  delete channel.axis.format;
  return channel;
};

const legendColumns = (names, width) => {
  const fitting = Math.max(1, Math.floor(width / (longest(names) + 32)));
  return Math.ceil(names.length / Math.ceil(names.length / fitting)) || 1; // rows of equal length
};

// A nominal channel with fixed colours in the order of `names`, and a legend in as many columns as fit.
export const colours = (field, names, range, { width }) => ({
  field,
  type: 'nominal',
  title: null,
  scale: { domain: names, range: names.map((_, index) => range[index % range.length]) },
  legend: { columns: legendColumns(names, width) },
});

export const tooltip = (lines) =>
  lines.map(([field, title, format]) => ({ field, title, ...(format ? { type: 'quantitative', format } : {}) }));

// Of the rows for which the expression holds.
export const where = (filter, mark, encoding = {}) => ({ transform: [{ filter }], mark, encoding });
export const layer = (rows, mark, encoding = {}) => ({ data: { values: rows }, mark, encoding });
// None without rows, of which Vega would warn that they have no extent.
export const layerOf = (rows, mark, encoding = {}) => (rows.length ? [layer(rows, mark, encoding)] : []);

export const line = (strokeWidth, strokeDash) => ({ type: 'line', strokeWidth, ...(strokeDash ? { strokeDash } : {}) });
export const dot = (size) => ({ type: 'point', filled: true, size });
export const intervalEnds = { y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } };

// Least and largest of the positive values of a field, [1, 1] for none.
export const rangeOf = (rows, field) => {
  const values = rows.map((row) => row[field]).filter((value) => value > 0);
  return values.length ? [Math.min(...values), Math.max(...values)] : [1, 1];
};

// Names of rows down the left side, in the order of `names`; a long one takes two lines on a phone, broken at its last
// comma.
export const names = (field, order, { narrow }, axis = {}) => ({
  field,
  type: 'nominal',
  sort: order,
  title: null,
  axis: {
    labelLimit: narrow ? 130 : 260,
    ticks: false,
    domain: false,
    labelOverlap: true,
    ...(narrow ? { labelExpr: "split(replace(datum.label, /, ([^,]*)$/, ',\\n$1'), '\\n')", labelFontSize: 11 } : {}),
    ...axis,
  },
});

// One picture for each value of the field `collective`, side by side as many as the page is wide for.
export const facets = (rows, order, page, { columns, height, cell }) => {
  const fitting = page.width >= 760 ? columns : page.width >= 520 ? Math.min(columns, 2) : 1;
  const width = Math.floor((page.width - 66) / fitting - 22);
  return {
    data: { values: rows },
    params: [hovered],
    facet: { field: 'collective', type: 'nominal', title: null, sort: order },
    columns: fitting,
    spacing: 20,
    ...(fitting === 1 ? { resolve: { axis: { x: 'independent' } } } : {}),
    spec: { width, height, ...cell(width) },
  };
};
