// SPDX-License-Identifier: Apache-2.0
// Turns the report into a dashboard: the verdict, its figures and the chart that carries it first, sections that open,
// tables that sort, and for a decision the recommendation at other prices. Without it everything is on the page, open.
import './charts.js';
import { sortable } from './sort.js';
import { element, whatIf } from './what_if.js';

const header = document.querySelector('header');
const nav = header.querySelector('nav');
const sections = [...document.querySelectorAll('details.section')];
const data = document.getElementById('page-data');

function show(id) {
  const target = id && document.getElementById(id);
  const section = target && target.closest('details.section');
  if (!section) return;
  section.open = true;
  target.scrollIntoView();
}

// The first sentences stay and the others open.
function shortenVerdict(kept) {
  const list = header.querySelector('.verdict ul');
  const rest = list ? [...list.children].slice(kept) : [];
  if (rest.length < 2) return;
  const more = element('details', { className: 'more' });
  more.append(element('summary', { textContent: `${rest.length} more sentences` }), element('ul', {}, ...rest));
  list.after(more);
}

function openAll(open) {
  for (const section of sections) section.open = open;
}

// What scrolls sideways can be scrolled by keys, too.
function reachable() {
  for (const box of document.querySelectorAll('main .scroll, main pre')) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  }
}

shortenVerdict(innerWidth < 640 || header.querySelector('.verdict .action') ? 0 : 1);
const panel = data && whatIf(JSON.parse(data.textContent), header);
const main = document.querySelector('figure.chart.main:has(.chart-spec)');
if (main) header.append(main);
if (panel) header.append(panel);
header.append(nav);
for (const section of sections) {
  // A chart that was drawn while its section was closed takes the width that it has now.
  section.addEventListener('toggle', () => dispatchEvent(new Event('resize')));
}
addEventListener('resize', reachable);
document.addEventListener('toggle', reachable, true);
openAll(false);
// Without a picture above, the first section is what there is to see.
if (!main && sections.length > 0) sections[0].open = true;
show(location.hash.slice(1));

nav.addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link) show(link.hash.slice(1));
});
addEventListener('hashchange', () => show(location.hash.slice(1)));
const button = element('button', { type: 'button', textContent: 'Open all' });
button.addEventListener('click', () => {
  const open = sections.some((section) => !section.open);
  openAll(open);
  button.textContent = open ? 'Close all' : 'Open all';
});
nav.append(button);

let openBefore = [];
addEventListener('beforeprint', () => {
  openBefore = sections.filter((section) => section.open);
  openAll(true);
  header.querySelectorAll('details.more').forEach((more) => (more.open = true));
});
addEventListener('afterprint', () => {
  openAll(false);
  for (const section of openBefore) section.open = true;
});

document.querySelectorAll('details.section table').forEach(sortable);
reachable();
