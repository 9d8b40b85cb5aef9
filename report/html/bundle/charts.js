// SPDX-License-Identifier: Apache-2.0
// Draws each <script class="chart-spec"> into the figure that holds it.
import embed from 'vega-embed';
import { expressionInterpreter } from 'vega-interpreter';

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
    },
    legend: { ...words, labelFontSize: 12, orient: 'top', symbolStrokeWidth: 2, symbolOpacity: 1, labelLimit: 400 },
    header: { ...words, labelColor: 'var(--ink)', labelFontSize: 13, labelFontWeight: 600 },
    text: { fill: 'var(--ink)', fontSize: 12 },
  },
  expr: expressionInterpreter,
  mode: 'vega-lite',
  renderer: 'svg',
};

async function draw(script) {
  const figure = script.closest('figure');
  const canvas = figure.querySelector('.canvas');
  const fallback = canvas.innerHTML;
  try {
    await embed(canvas, JSON.parse(script.textContent), options);
    figure.dataset.drawn = 'yes';
  } catch (error) {
    canvas.innerHTML = fallback;
    canvas.querySelector('.fallback').textContent =
      `The chart could not be drawn (${error.message}); the tables below hold the numbers.`;
    figure.dataset.drawn = 'failed';
  }
}

document.querySelectorAll('script.chart-spec').forEach(draw);
