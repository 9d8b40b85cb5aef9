// SPDX-License-Identifier: Apache-2.0
// A header's first activation sorts by the column, largest number first, the second the other way round, the
// third restores the order of the report, which often has a meaning.

const orders = ['none', 'descending', 'ascending'];

// A number where the cell has one, else its text; what is absent goes last in both directions.
function keyOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.textContent === 'n/a' || cell.textContent === '' ? null : cell.textContent;
}

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

export function sortable(table) {
  const body = table.tBodies[0];
  const given = [...body.rows];
  if (given.length < 2) return;
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener('click', () => {
      const now = header.getAttribute('aria-sort') ?? 'none';
      const order = orders[(orders.indexOf(now) + 1) % orders.length];
      for (const other of headers) other.removeAttribute('aria-sort');
      const rows = [...given];
      if (order !== 'none') {
        header.setAttribute('aria-sort', order);
        const sign = order === 'ascending' ? 1 : -1;
        rows.sort((first, second) => {
          const a = keyOf(first, column);
          const b = keyOf(second, column);
          if (a === null || b === null) return (a === null) - (b === null);
          return sign * compare(a, b);
        });
      }
      body.append(...rows);
    });
  });
}
