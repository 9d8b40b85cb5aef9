// SPDX-License-Identifier: Apache-2.0
// An amount as the program prints it (format_money() of report/quantity.cpp, with the unbreakable spaces of the page):
// no digit beyond the spread. tests/golden/report/numbers_test.mjs compares the two.

const mostDigits = 5;
// Arms whose shorter one is at least this part of the longer print as one.
const alike = 0.7;

// With so many places after the point, exact ties to the even digit as printf does; never "-0.00".
function fixed(value, decimals) {
  if (decimals < 0) {
    const unit = 10 ** -decimals;
    return fixed(Math.round(value / unit) * unit, 0);
  }
  let text = value.toFixed(decimals);
  const exact = value.toFixed(Math.min(100, decimals + 60));
  const rest = exact.slice(exact.indexOf('.') + 1 + decimals);
  if (/^50*$/.test(rest) && /[13579]$/.test(text)) {
    // toFixed rounds a tie away from 0: one unit less in the last place is the even digit.
    text = (value - Math.sign(value) * 0.5 * 10 ** -decimals).toFixed(decimals);
  }
  return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

function leadingPosition(value) {
  return Math.floor(Math.log10(Math.abs(value)));
}

function decimalsForDigits(value, digits) {
  if (value === 0) return 0;
  const decimals = digits - 1 - leadingPosition(value);
  const rounded = Math.round(value * 10 ** decimals) / 10 ** decimals;
  return rounded === 0 ? decimals : digits - 1 - leadingPosition(rounded);
}

function withInterval(value, low, high) {
  const half = 0.5 * (high - low);
  const finest = value === 0 ? mostDigits - 1 : mostDigits - 1 - leadingPosition(value);
  const smallest = 10 ** -finest;
  if (!(half >= 0.5 * smallest)) return `${fixed(value, finest)}\u00a0±\u00a0<${fixed(smallest, finest)}`;
  const leading = leadingPosition(half);
  const finer = Math.min(finest, half < 1.95 * 10 ** leading ? 1 - leading : -leading);
  const upper = high - value;
  const lower = value - low;
  const longer = Math.max(upper, lower);
  const nearer = Math.min(upper, lower);
  if (nearer >= alike * longer || fixed(upper, finer) === fixed(lower, finer)) {
    return `${fixed(value, finer)}\u00a0±\u00a0${fixed(longer, finer)}`;
  }
  const coarse = half >= 1.5 * 10 ** leading && nearer >= 10 ** leading;
  const decimals = Math.min(finest, coarse ? -leading : 1 - leading);
  return `${fixed(value, decimals)} [${fixed(low, decimals)},\u00a0${fixed(high, decimals)}]`;
}

function grouped(text) {
  return text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

function withoutInterval(value) {
  const size = Math.abs(value);
  return size >= 1 ? grouped(fixed(value, size < 99.995 ? 2 : 0)) : fixed(value, decimalsForDigits(value, 3));
}

// "$133,333", "46.72 EUR", "$196 ± 3"; `low` and `high` are null where the value has no interval.
export function money({ value, low = null, high = null }, currency) {
  const text = low === null || high === null ? withoutInterval(value) : withInterval(value, low, high);
  if (currency !== 'USD') return `${text} ${currency}`;
  return text.startsWith('-') ? `-$${text.slice(1)}` : `$${text}`;
}
