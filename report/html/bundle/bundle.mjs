// SPDX-License-Identifier: Apache-2.0
// Bundles page.js with everything it imports into charts.min.js and writes the licences of the
// packages that ended up in it to licences.txt. Run inside a folder where `npm ci` has run.
import { build } from 'esbuild';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const result = await build({
  entryPoints: ['page.js'],
  outfile: 'charts.min.js',
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});

function packageOf(input) {
  const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
  return match ? match[1] : null;
}

function licence(folder) {
  const file = existsSync(folder) && readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const { name, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text = file ? readFileSync(join(folder, file), 'utf8') : `${name}: ${license}\n`;
  return { name, text: text.trim().replaceAll('*/', '* /') };
}

const namesByText = new Map();
for (const folder of new Set(Object.keys(result.metafile.inputs).map(packageOf).filter(Boolean))) {
  const { name, text } = licence(folder);
  namesByText.set(text, [...(namesByText.get(text) ?? []), name]);
}
const parts = [...namesByText].map(([text, names]) => `${names.sort().join(', ')}\n\n${text}\n`);
writeFileSync('licences.txt', parts.sort().join(`\n${'-'.repeat(72)}\n\n`));
