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

# load PAGE DOM [WIDTH]: the document as it stands after its scripts have run.
load() {
  local page=$1 dom=$2 width=${3:-1280}
  timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$folder/profile" \
    --window-size="$width",900 --virtual-time-budget=10000 --dump-dom "file://$page" >"$dom" 2>"$folder/log"
}

# With a price there are five charts; without, the cost curve is a sentence that says how to give one. A
# node whose GPUs alone were measured has their waterfall and their roofline.
for variant in price:5:5:15 no-price:4:5:15 gpus:2:2:15 attribution:4:4:15 decide:3:3:5 serving:2:2:2 mfu:1:1:2; do
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

  # A page policy without scripts is what a reader with JavaScript off, or a strict server, gives it.
  sed "s/script-src 'unsafe-inline'/script-src 'none'/" "$page" >"$folder/$name-plain.html"
  load "$folder/$name-plain.html" "$folder/$name.plain"
  expect "$name without JavaScript: charts drawn" "$(count 'data-drawn' "$folder/$name.plain")" -eq 0
  expect "$name without JavaScript: tables" "$(count '<table>' "$folder/$name.plain")" -ge "$tables"
  expect "$name without JavaScript: texts in place of charts" "$(count 'class="fallback"' "$folder/$name.plain")" -eq "$places"
done

# A click in the legend of the ranks' bars (4 ranks, 8 parts each) leaves one part; the pointer on rank 0 of the
# timeline leaves rank 0 of the bars; the wheel shows less of the timeline's 20 ms.
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
  () => (document.body.dataset.zoomed = ticks() === document.body.dataset.before ? 'no' : 'yes'),
];
steps.forEach((step, index) => setTimeout(step, 2000 + 400 * index));
</script>
END
  load "$folder/use.html" "$folder/use.dom"
  for wanted in 'data-clicked="28"' 'data-hovered="24"' 'data-zoomed="yes"'; do
    expect "use of the charts: $wanted" "$(count "$wanted" "$folder/use.dom")" -eq 1
  done
fi

expect "hint how to give a price" "$(count 'no price was given' "$folder/no-price.plain")" -ge 1
exit $((failures > 0))
