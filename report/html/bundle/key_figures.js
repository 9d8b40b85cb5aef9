// SPDX-License-Identifier: Apache-2.0
// The tiles at the head of the page: figures of its tables, with the digits and units printed there.

const byRow = (name) => (rows) => rows.findLast((row) => row.cells[0].textContent === name);
const first = (rows) => rows[0];
const chosen = (rows) => rows.find((row) => row.classList.contains('chosen'));
const largest = (mode) => byRow(mode);
const leading = (rows) => rows.find((row) => row.cells[1].textContent === 'bf16') ?? rows[0];
const memory = (rows) => rows.findLast((row) => row.cells[2].textContent === 'copy') ?? null;

// Of each report those whose tables it has: table, row, column, label, the column of the note and words behind it.
const figures = [
  ['step_parts', byRow('step'), 'time_s', 'Step time', '', 'mean over ranks'],
  ['step_parts', byRow('compute'), 'share', 'Compute', 'time_s', 'of each step'],
  ['step_parts', byRow('exposed transfer'), 'share', 'Exposed transfer', 'time_s', 'of each step'],
  ['step_parts', byRow('exposed wait'), 'share', 'Waiting for a late rank', 'time_s', 'of each step'],
  ['step_parts', byRow('host late'), 'share', 'Host late', 'time_s', 'of each step'],
  ['straggler', chosen, 'lost_usd_per_hour', 'Lost per hour', 'unit', ''],
  ['efficiency', first, 'factor', 'Parallel efficiency', '', 'computing over all GPU time'],
  ['what_if', first, 'saved_share', 'Largest predicted gain', 'what', ''],
  ['step_times', largest('strong'), 'step_time', 'Step time', 'ranks', 'ranks'],
  ['step_times', largest('strong'), 'efficiency', 'Efficiency', 'ranks', 'ranks'],
  ['step_times', largest('strong'), 'tokens_per_second', 'Throughput', 'ranks', 'ranks'],
  ['step_shares', largest('strong'), 'share_exposed_transfer', 'Exposed transfer', 'ranks', 'ranks'],
  ['step_shares', largest('strong'), 'share_exposed_wait', 'Waiting for a late rank', 'ranks', 'ranks'],
  ['model_flop_utilisation', largest('strong'), 'mfu_measured', 'MFU', '', 'of the measured ceiling'],
  ['scaling_laws', largest('strong'), 'cost_optimal_ranks', 'K*, the count of least cost', 'law', ''],
  ['costs', largest('strong'), 'cost_per_million_tokens', 'A million tokens', 'ranks', 'ranks'],
  ['gpu_formats', leading, 'steady', 'Matrix products', 'precision', 'steady'],
  ['gpu_conditions', leading, 'of_datasheet', 'Of the datasheet', 'precision', ''],
  ['gpu_memory_levels', memory, 'rate', 'Memory', 'level', 'copy'],
  ['utilisation', first, 'mfu', 'MFU', 'peak', ''],
  ['utilisation', first, 'hfu', 'HFU', '', 'with what is computed again'],
  ['training', first, 'cost_usd', 'Cost', 'tokens', 'trained tokens'],
  ['training', (rows) => rows[1], 'days', 'Training', 'tokens', 'tokens'],
  ['training', (rows) => rows[1], 'cost_usd', 'Cost of the training', 'tokens', 'tokens'],
  ['batches', chosen, 'output_tokens_per_s', 'Output', 'batch', 'requests at a time'],
  ['batches', chosen, 'time_per_output_token_s', 'Time per output token', '', 'as a client sees it'],
  ['batches', chosen, 'time_to_first_token_s', 'First token', '', 'without a queue'],
  ['batches', chosen, 'per_million_output_tokens_usd', 'Million output tokens', '', 'at full load'],
  ['batches', chosen, 'per_million_input_tokens_usd', 'Million input tokens', '', 'at full load'],
  ['batches', chosen, 'break_even_utilisation', 'Break-even with the API', '', 'utilisation'],
  ['pairs', first, 'parameters_1e9', 'Parameters', 'law', ''],
  ['pairs', first, 'tokens_1e9', 'Tokens', 'law', ''],
  ['pairs', first, 'tokens_per_parameter', 'Tokens per parameter', 'law', ''],
];

// The unit stands in the header where all cells of the column share it.
function printed(table, row, column) {
  const headers = [...table.tHead.rows[0].cells];
  const index = headers.findIndex((header) => header.dataset.column === column);
  if (index < 0) return '';
  const unit = /\(([^()]*)\)$/.exec(headers[index].textContent)?.[1] ?? '';
  const text = row.cells[index].textContent;
  return text === 'n/a' ? '' : `${text} ${unit}`.trim();
}

function figureOf([id, choose, column, label, noteColumn, noteWords]) {
  const table = document.querySelector(`table[data-table="${id}"]`);
  const row = table && choose([...table.tBodies[0].rows]);
  const value = row ? printed(table, row, column) : '';
  if (!value) return [];
  const note = `${noteColumn ? printed(table, row, noteColumn) : ''} ${noteWords}`.trim();
  return [{ label, value, note }];
}

export function keyFigures() {
  return figures.flatMap(figureOf);
}
