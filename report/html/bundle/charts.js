// SPDX-License-Identifier: Apache-2.0
// Draws each <script class="chart-spec"> into the figure that holds it, as wide as that is, and again when its width
// changes; what one chart has under the pointer all charts highlight.
import embed from 'vega-embed';
import { expressionInterpreter } from 'vega-interpreter';
import { steps, timeline, waits } from './attribution.js';
import { busbw, nccl } from './collectives.js';
import { roofline, waterfall } from './roofline.js';
import { bars, curves, lines, stacked, tradeoff } from './scaling.js';

// The Vega-Lite specification of a chart: C++ writes its `kind` and data, the grammar is here.
const kinds = { bars, busbw, curves, lines, nccl, roofline, stacked, steps, timeline, tradeoff, waits, waterfall };

function specOf({ kind, ...data }, width) {
  if (!(kind in kinds)) throw new Error(`a chart of unknown kind ${kind}`);
  return kinds[kind](data, { width, narrow: width < 560 });
}

// What the rows of a specification are about, whatever the layer that has them.
function linksOf(spec) {
  const own = spec.data?.values?.map((row) => row.link) ?? [];
  const links = new Set([...own, ...(spec.layer ?? []).flatMap((layer) => [...linksOf(layer)])]);
  links.delete(undefined);
  return links;
}

// Expressions are interpreted, not compiled, so that a page policy that forbids eval is no obstacle.
const words = { labelColor: 'var(--muted)', titleColor: 'var(--ink)', titleFontSize: 12, titleFontWeight: 500 };
const options = {
  actions: false,
  ast: true,
  // The look of all charts; colours are those of the page, light or dark.
  config: {
    font: 'system-ui, -apple-system, Segoe UI, Roboto, sans-serif',
    background: 'transparent',
    view: { stroke: null },
    axis: {
      ...words,
      labelFontSize: 12,
      gridColor: 'var(--grid)',
      domainColor: 'var(--axis)',
      tickColor: 'var(--axis)',
      titlePadding: 10,
      labelPadding: 5,
      labelSeparation: 6,
    },
    legend: { ...words, labelFontSize: 12, orient: 'top', symbolStrokeWidth: 2, symbolOpacity: 1, labelLimit: 400 },
    header: { ...words, labelColor: 'var(--ink)', labelFontSize: 13, labelFontWeight: 600 },
    text: { fill: 'var(--ink)', fontSize: 12 },
  },
  expr: expressionInterpreter,
  mode: 'vega-lite',
  renderer: 'svg',
};

let hinted = false;
const drawn = new Map(); // figure -> { view, links }

function highlight(link) {
  for (const { view, links } of drawn.values()) {
    const value = links.has(link) ? link : null;
    if (view.signal('hovered') !== value) view.signal('hovered', value).runAsync();
  }
}

async function draw(figure, data, fallback, width) {
  const canvas = figure.querySelector('.canvas');
  try {
    drawn.get(figure)?.view.finalize();
    const spec = specOf(data, Math.floor(width));
    const legend = { ...options.config.legend, layout: { top: { direction: width < 560 ? 'vertical' : 'horizontal' } } };
    const { view } = await embed(canvas, spec, { ...options, config: { ...options.config, legend } });
    drawn.set(figure, { view, links: linksOf(spec) });
    // A finger scrolls the page up and down, and moves sideways what zooms.
    if (JSON.stringify(spec.params).includes('"scales"')) canvas.style.touchAction = 'pan-y';
    if (!hinted && JSON.stringify(spec.params).includes('"legend"')) {
      hinted = true;
      figure.querySelector('.note').append(' A click on a name above the picture shows it alone, further clicks add others.');
    }
    view.addEventListener('mouseover', (_, item) => highlight(item?.datum?.link));
    view.addEventListener('mouseout', () => highlight());
    figure.dataset.drawn = 'yes';
  } catch (error) {
    canvas.innerHTML = fallback;
    canvas.querySelector('.fallback').textContent =
      `The chart could not be drawn (${error.message}); the tables below hold the numbers.`;
    figure.dataset.drawn = 'failed';
  }
}

// What is folded away has no width yet: that of the page.
function shown() {
  const page = document.querySelector('main');
  const { paddingLeft, paddingRight } = getComputedStyle(page);
  return page.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}

const redraws = new Map(); // by id of the figure: takes a function from the data as written to those to draw

// Draws the chart with other data, where the page has it.
export function redraw(id, change) {
  redraws.get(id)?.(change);
}

for (const script of document.querySelectorAll('script.chart-spec')) {
  const figure = script.closest('figure');
  const canvas = figure.querySelector('.canvas');
  const fallback = canvas.innerHTML;
  const written = JSON.parse(script.textContent);
  let data = written;
  let width = 0;
  let pause;
  redraws.set(figure.id, (change) => {
    data = change(written);
    draw(figure, data, fallback, width);
  });
  const follow = () => {
    const wanted = canvas.clientWidth || shown();
    if (wanted === width) return;
    width = wanted;
    draw(figure, data, fallback, width);
  };
  new ResizeObserver(() => {
    clearTimeout(pause);
    pause = setTimeout(follow, 150);
  }).observe(canvas);
  follow();
}
