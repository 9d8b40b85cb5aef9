// SPDX-License-Identifier: Apache-2.0
// The Vega-Lite specification of a chart: C++ writes its `kind` and data, the grammar is here.
import { steps, timeline, waits } from './attribution.js';
import { busbw, nccl } from './collectives.js';
import { roofline, waterfall } from './roofline.js';
import { bars, curves, lines, stacked, tradeoff } from './scaling.js';

const kinds = { bars, busbw, curves, lines, nccl, roofline, stacked, steps, timeline, tradeoff, waits, waterfall };

export function specOf({ kind, ...data }, width) {
  if (!(kind in kinds)) throw new Error(`a chart of unknown kind ${kind}`);
  return kinds[kind](data, { width, narrow: width < 560 });
}

// What the rows of a specification are about, whatever the layer that has them.
export function linksOf(spec) {
  const own = spec.data?.values?.map((row) => row.link) ?? [];
  const links = new Set([...own, ...(spec.layer ?? []).flatMap((layer) => [...linksOf(layer)])]);
  links.delete(undefined);
  return links;
}
