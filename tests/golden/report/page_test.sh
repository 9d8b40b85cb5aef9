#!/usr/bin/env bash
# page_test.sh WRITE_PAGE CHARTS: the fixture's HTML report in headless Chromium, with scripts allowed and forbidden.
# WRITE_PAGE is the program that writes the page, CHARTS is ON when the build has the chart library.
# Exit 77 (skipped) when no Chromium is installed.
set -euo pipefail
write_page=$1
charts=$2

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "skipped: no chromium, chromium-browser or google-chrome in PATH"
  exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect NAME ACTUAL OPERATOR WANTED
expect() {
  if [ "$2" "$3" "$4" ]; then
    echo "ok: $1 ($2)"
  else
    echo "FAILED: $1: $2, wanted $3 $4"
    failures=$((failures + 1))
  fi
}

# How often a pattern stands in the page's own part, before the chart library's code.
count() { sed '/^<script>$/,$d' "$2" | { grep -o -- "$1" || true; } | wc -l; }

# load PAGE DOM [WIDTH]: the document as it stands after its scripts have run, in a window of 1280 pixels.
load() {
  local page=$1 dom=$2 width=${3:-1280}
  timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$folder/profile" --window-size="$width,900" \
    --virtual-time-budget=10000 --dump-dom "file://$page" >"$dom" 2>"$folder/log"
}

# A script of this test at the end of a page, which writes what it finds into the document as "name: value".
cat >"$folder/probe.js" <<'PROBE'
addEventListener('load', () => setTimeout(() => {
  const found = [];
  const say = (name, value) => found.push(`${name}: ${value}`);
  const page = document.scrollingElement;
  say('height', page.scrollHeight);
  say('sideways', page.scrollWidth > innerWidth ? page.scrollWidth : 'no');
  say('open sections', document.querySelectorAll('details.section[open]').length);
  say('tiles', document.querySelectorAll('.tile').length);
  say('title', document.title);
  const sections = [...document.querySelectorAll('details.section')];
  // A link of the navigation opens its section.
  document.querySelector('nav a').click();
  say('opened by link', sections.findIndex((section) => section.open));
  dispatchEvent(new Event('beforeprint'));
  say('closed in print', sections.filter((section) => !section.open).length);
  say('sideways when open', page.scrollWidth > innerWidth ? page.scrollWidth : 'no');
  dispatchEvent(new Event('afterprint'));
  say('open after print', sections.filter((section) => section.open).length);
  const words = document.body.cloneNode(true);
  words.querySelectorAll('script, style, #next').forEach((node) => node.remove());
  // Flags of other programs are advice.
  const flags = words.textContent.match(/(^|[\s(;,])--[a-z][a-z-]*|`/g) ?? [];
  say('flags', flags.filter((flag) => !flag.includes('--overlap-grad-reduce')).join(' ') || 'none');
  // Every table: by its last column of numbers down, up, and back to the order of the report.
  const numbers = (rows, column) =>
    rows.map((row) => row.cells[column].dataset.value).filter((value) => value !== undefined).map(Number);
  let sorted = 0;
  const wrong = [];
  for (const table of document.querySelectorAll('details.section table')) {
    const rows = () => [...table.tBodies[0].rows];
    const given = rows();
    const column = given[0].cells.length - 1 - [...given[0].cells].reverse().findIndex((cell) => cell.dataset.value);
    const button = table.tHead.rows[0].cells[column]?.querySelector('button.sort');
    if (!button) continue;
    const header = button.closest('th');
    button.click();
    const down = numbers(rows(), column);
    const absent = rows().slice(down.length).every((row) => row.cells[column].dataset.value === undefined);
    const said = [header.getAttribute('aria-sort')];
    button.click();
    const up = numbers(rows(), column);
    said.push(header.getAttribute('aria-sort'));
    button.click();
    said.push(header.getAttribute('aria-sort'));
    const holds = down.every((value, i) => i === 0 || down[i - 1] >= value) && absent &&
      up.every((value, i) => i === 0 || up[i - 1] <= value) &&
      rows().every((row, i) => row === given[i]) && said.join() === 'descending,ascending,';
    if (!holds) wrong.push(table.dataset.table);
    ++sorted;
  }
  say('tables sorted', sorted);
  say('sorted wrongly', wrong.join(' ') || 'none');
  // Of a decision: the table of the page's own script, and that of the program.
  const panel = document.querySelector('.what-if table');
  const plain = (text) => text.replaceAll('\u00a0', ' ').replace('$', '');
  for (const row of panel ? panel.tBodies[0].rows : []) {
    say('page', [...row.cells].slice(0, 4).map((cell) => plain(cell.textContent)).join('|'));
    if (row.classList.contains('chosen')) say('page chose', row.cells[0].textContent.replaceAll(',', ''));
  }
  const table = document.querySelector('table[data-table="decision"]');
  const columns = table ? [...table.tHead.rows[0].cells].map((cell) => cell.dataset.column) : [];
  for (const row of table ? table.tBodies[0].rows : []) {
    const of = (id) => (columns.includes(id) ? plain(row.cells[columns.indexOf(id)].textContent) : 'passes');
    say('program', [of('count'), of('time_s'), of('cost_usd'), of('gate')].join('|'));
  }
  for (const tile of document.querySelectorAll('.tile'))
    say(`tile ${tile.querySelector('p').textContent.replace(' (recomputed)', '')}`, tile.querySelector('strong').textContent);
  say('says', document.querySelector('.what-if .note')?.textContent ?? 'nothing');
  say('headline', document.querySelector('.headline').textContent);
  const result = document.body.appendChild(document.createElement('pre'));
  result.id = 'probe';
  result.textContent = `\n${found.join('\n')}\n`;
}, 500));
PROBE

# probe PAGE[#HASH] WIDTH: what the probe finds.
probe() {
  local page=${1%%#*} hash=""
  [ "$page" = "$1" ] || hash="#${1#*#}"
  { sed '/^<\/body>$/,$d' "$page"; printf '<script>'; cat "$folder/probe.js"; printf '</script>\n</body>\n</html>\n'; } >"$folder/probed.html"
  load "$folder/probed.html$hash" "$folder/probed.dom" "$2"
  sed -n '/^<pre id="probe">/,/^<\/pre>/p' "$folder/probed.dom"
}

# value NAME: of the probe's answer on stdin.
value() { sed -n "s/^$1: //p"; }

# With a price there are five charts; without, the cost curve is a sentence that says how to give one. A
# node whose GPUs alone were measured has their waterfall and their roofline.
for variant in price:5:5:15 no-price:4:5:15 gpus:2:2:15 attribution:4:4:15 decide:3:4:5 serving:2:2:2 mfu:0:0:2; do
  IFS=: read -r name wanted places tables <<<"$variant"
  [ "$charts" = ON ] || wanted=0
  page=$folder/$name.html
  "$write_page" "$name" >"$page"
  expect "$name: outside files named by the page" "$(count '<\(script\|img\|iframe\)[^>]* src=\|<link' "$page")" -eq 0

  expect "$name: chart grammar outside the scripts" "$(count '"encoding"\|"strokeWidth"' "$page")" -eq 0
  load "$page" "$folder/$name.dom"
  expect "$name: charts drawn" "$(count 'data-drawn="yes"' "$folder/$name.dom")" -eq "$wanted"
  expect "$name: charts that failed" "$(count 'data-drawn="failed"' "$folder/$name.dom")" -eq 0
  expect "$name: pictures" "$(count '<svg' "$folder/$name.dom")" -eq "$wanted"
  expect "$name: broken numbers" "$(count '>NaN<\|>undefined<\|>null<' "$folder/$name.dom")" -eq 0

  # The browser's least width; every chart has been drawn for it.
  load "$page" "$folder/$name.narrow" 500
  expect "$name, narrow: charts drawn" "$(count 'data-drawn="yes"' "$folder/$name.narrow")" -eq "$wanted"
  widest=$(grep -o '<svg[^>]*' "$folder/$name.narrow" | sed -n 's/.* width="\([0-9]*\).*/\1/p' | sort -n | tail -1)
  expect "$name, narrow: width of the widest chart" "${widest:-0}" -le 460

  if [ "$charts" = ON ]; then
    probe "$page" 1280 >"$folder/wide"
    expect "$name: height before anything is opened" "$(value height <"$folder/wide")" -lt 4000
    expect "$name: sections open at first" "$(value 'open sections' <"$folder/wide")" -eq $((places == 0))
    expect "$name: section opened by its link" "$(value 'opened by link' <"$folder/wide")" -eq 0
    expect "$name: sections closed in print" "$(value 'closed in print' <"$folder/wide")" -eq 0
    expect "$name: key figures" "$(value tiles <"$folder/wide")" -ge 2
    expect "$name: words of the command line" "$(value flags <"$folder/wide")" = none
    expect "$name: tables that sort" "$(value 'tables sorted' <"$folder/wide")" -ge 1
    expect "$name: tables sorted wrongly" "$(value 'sorted wrongly' <"$folder/wide")" = none
    probe "$page" 390 >"$folder/narrow"
    expect "$name: sideways scroll on a phone" "$(value sideways <"$folder/narrow")" = no
    expect "$name: the same with all sections open" "$(value 'sideways when open' <"$folder/narrow")" = no
  fi

  # A page policy without scripts is what a reader with JavaScript off, or a strict server, gives it.
  sed "s/script-src 'unsafe-inline'/script-src 'none'/" "$page" >"$folder/$name-plain.html"
  load "$folder/$name-plain.html" "$folder/$name.plain"
  expect "$name without JavaScript: charts drawn" "$(count 'data-drawn' "$folder/$name.plain")" -eq 0
  expect "$name without JavaScript: tables" "$(count '<table ' "$folder/$name.plain")" -ge "$tables"
  expect "$name without JavaScript: texts in place of charts" "$(count 'class="fallback"' "$folder/$name.plain")" -eq "$places"
done

# A click in the legend of the ranks' bars (4 ranks, 8 parts each) leaves one part; the pointer on rank 0 of the
# timeline leaves rank 0 of the bars; Ctrl and the wheel show less of the timeline's 20 ms, the wheel alone scrolls.
if [ "$charts" = ON ]; then
  cat "$folder/attribution.html" - >"$folder/use.html" <<'END'
<script>
const bars = (figure) => [...document.querySelectorAll(`#chart-${figure} .mark-rect path[aria-roledescription=bar]`)];
const faded = () => bars('ledger').filter((bar) => bar.getAttribute('opacity') < 1).length;
const fire = (target, ...events) => events.forEach((name) => target.dispatchEvent(new MouseEvent(name, { bubbles: true })));
const ticks = () => [...document.querySelectorAll('#chart-timeline .role-axis-label text')].map((text) => text.textContent).join();
const steps = [
  () => fire([...document.querySelectorAll('#chart-ledger .role-legend text')].find((text) => text.textContent === 'exposed wait'), 'click'),
  () => (document.body.dataset.clicked = faded()),
  () => fire([...document.querySelectorAll('#chart-ledger .role-legend text')].find((text) => text.textContent === 'exposed wait'), 'click'),
  () => fire(bars('timeline')[0], 'pointerover', 'mouseover'),
  () => (document.body.dataset.hovered = faded()),
  () => (document.body.dataset.before = ticks()),
  () => bars('timeline')[0].dispatchEvent(new WheelEvent('wheel', { bubbles: true, deltaY: -600 })),
  () => (document.body.dataset.scrolled = ticks() === document.body.dataset.before ? 'yes' : 'no'),
  () => bars('timeline')[0].dispatchEvent(new WheelEvent('wheel', { bubbles: true, deltaY: -600, ctrlKey: true })),
  () => (document.body.dataset.zoomed = ticks() === document.body.dataset.before ? 'no' : 'yes'),
];
steps.forEach((step, index) => setTimeout(step, 2000 + 400 * index));
</script>
END
  load "$folder/use.html" "$folder/use.dom"
  for wanted in 'data-clicked="28"' 'data-hovered="24"' 'data-scrolled="yes"' 'data-zoomed="yes"'; do
    expect "use of the charts: $wanted" "$(count "$wanted" "$folder/use.dom")" -eq 1
  done
fi

expect "hint that a price is needed" "$(count 'No price was given' "$folder/no-price.plain")" -ge 1

# A decision at other prices, values of waiting and deadlines: the page computes what the program prints for them.
if [ "$charts" = ON ]; then
  "$write_page" decide 2.5 0 0 >"$folder/decide.html"
  for terms in 2.5:0:0 3.1:0:0 2.5:40:0 0.37:12.5:0 2.5:0:1.5 19.99:0:2.5 2.5:3:4.3 2.5:0:1 1000:250:0; do
    IFS=: read -r price worth deadline <<<"$terms"
    asked="price=$price&value=$worth"
    [ "$deadline" = 0 ] || asked="$asked&deadline=$deadline"
    probe "$folder/decide.html#$asked" 1280 >"$folder/page"
    "$write_page" decide "$price" "$worth" "$deadline" >"$folder/program.html"
    probe "$folder/program.html" 1280 >"$folder/program"
    chosen=$(sed -n 's/^    "chosen": \([0-9a-z]*\),$/\1/p' "$folder/program.html" | head -1)
    expect "decision at $terms: rows" "$(value page <"$folder/page")" = "$(value program <"$folder/program")"
    expect "decision at $terms: count" "$(value 'page chose' <"$folder/page" | grep . || echo null)" = "$chosen"
    expect "decision at $terms: tiles" "$(grep '^tile' "$folder/page")" = "$(grep '^tile' "$folder/program")"
    cost=$(value 'tile Cost' <"$folder/page")
    expect "decision at $terms: cost ${cost:-none} in the headline" "$(value headline <"$folder/program" | grep -cF -- "${cost:-No }")" -eq 1
    answer="Take $chosen,"
    [ "$chosen" != null ] || answer="No count is within"
    [ "$terms" = 2.5:0:0 ] || expect "decision at $terms: the verdict itself says $answer" "$(value headline <"$folder/page" | grep -cF -- "$answer")" -eq 1
    [ "$terms" = 2.5:0:0 ] || expect "decision at $terms: says so" "$(value says <"$folder/page" | grep -c '^Recomputed')" -eq 1
  done
fi
exit $((failures > 0))
