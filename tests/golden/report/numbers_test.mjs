// SPDX-License-Identifier: Apache-2.0
// numbers_test.mjs WRITE_PAGE NUMBERS_JS: the page's script prints amounts as format_money() of the program does.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [writePage, source] = process.argv.slice(2);
// A module whatever this version of Node.js takes a file named .js for.
const { money } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(source, 'utf8'))}`);
const lines = execFileSync(writePage, ['money'], { encoding: 'utf8', maxBuffer: 1 << 26 }).trim().split('\n');
let different = 0;
for (const line of lines) {
  const [value, low, high, currency, wanted] = JSON.parse(line);
  const printed = money({ value, low, high }, currency).replaceAll('\u00a0', ' ');
  if (printed === wanted) continue;
  ++different;
  if (different <= 10) console.log(`${value} [${low}, ${high}]: ${printed}, the program prints ${wanted}`);
}
console.log(`${lines.length} amounts, ${different} printed differently`);
process.exit(different > 0 || lines.length < 8000 ? 1 : 0);
