// SPDX-License-Identifier: Apache-2.0
// Draws each <script class="chart-spec"> into the figure that holds it.
import embed from 'vega-embed';
import { expressionInterpreter } from 'vega-interpreter';

// Expressions are interpreted, not compiled, so that a page policy that forbids eval is no obstacle.
const options = {
  actions: false,
  ast: true,
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
