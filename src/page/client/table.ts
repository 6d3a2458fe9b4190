/** A table that sorts by any column, filters by any text, and copies what it shows as CSV. Numbers are copied as they are, not as shown. */

import { csvCell } from '../../base/csv.js';
import { h, shown } from './dom.js';
import { count } from './format.js';

export type Value = string | number | null;

export interface Column<Row> {
  readonly title: string;
  readonly about?: string;
  readonly of: (row: Row) => Value;
  /** Default: as it is. */
  readonly show?: (value: never, row: Row) => string;
  /** A bar behind the number, as a part of the column's largest. */
  readonly bar?: boolean;
  /** In place of text. */
  readonly element?: (row: Row) => Node | null;
  /** Hidden on narrow screens. */
  readonly minor?: boolean;
  /** Left out if all rows have the same value. */
  readonly ifVaries?: boolean;
  /** A number that is a name: a rank, a channel. */
  readonly isName?: boolean;
}

export interface TableOptions<Row> {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Rows shown before somebody asks for all. */
  readonly first?: number;
  /** Shown instead of a table without rows. */
  readonly none: string;
}

/** With more rows a browser gets slow. The CSV has all of them. */
const MOST_SHOWN = 1000;

export function table<Row>({ name, columns: all, rows, none, ...options }: TableOptions<Row>): HTMLElement {
  if (rows.length === 0) return h('p', { class: 'none' }, none);
  const columns = all.filter((column) => saysSomething(column, rows));
  const isRight = columns.map((column) => isNumeric(column, rows));
  let sorted: { column: number; down: boolean } | null = null;
  let filters: string[] = [];
  // If only a few rows are left, they are shown instead of a button.
  const first = Math.max(options.first ?? 12, rows.length <= 15 ? rows.length : 0);
  let isWhole = rows.length <= first;
  const body = h('tbody');
  const heads = columns.map((column, i) =>
    headOf(column, isRight[i]!, () => {
      sortBy(i);
    }),
  );
  const status = h('span', { class: 'status', role: 'status' });
  const more = h('button', {
    type: 'button',
    onclick: () => {
      isWhole = !isWhole;
      render();
    },
  });
  const copy = h('button', { type: 'button', onclick: () => void copyRows() }, 'Copy CSV');
  const filter = h('input', {
    type: 'search',
    placeholder: 'Filter',
    'aria-label': `Filter ${name}`,
    oninput: () => {
      filters = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      render();
    },
  });
  const largest = columns.map(({ bar, of }) =>
    bar ? rows.reduce((most, row) => Math.max(most, Number(of(row) ?? 0)), 0) : 0,
  );

  function sortBy(column: number): void {
    sorted = { column, down: sorted?.column === column ? !sorted.down : isRight[column]! };
    render();
  }

  function chosen(): Row[] {
    const fitting = rows.filter((row) => {
      if (filters.length === 0) return true;
      const text = columns
        .map((column) => textOf(column, row))
        .join(' ')
        .toLowerCase();
      return filters.every((part) => text.includes(part));
    });
    if (sorted === null) return fitting;
    const { column, down } = sorted;
    const { of } = columns[column]!;
    return [...fitting].sort((a, b) => (down ? -1 : 1) * compare(of(a), of(b)));
  }

  function render(): void {
    const all = chosen();
    const visible = all.slice(0, isWhole ? MOST_SHOWN : first);
    body.replaceChildren(
      ...visible.map((row) =>
        h('tr', {}, ...columns.map((column, i) => cell(column, row, largest[i]!, isRight[i]!))),
      ),
    );
    heads.forEach((head, i) => {
      const isSorted = sorted?.column === i;
      head.setAttribute('aria-sort', isSorted ? (sorted!.down ? 'descending' : 'ascending') : 'none');
    });
    status.textContent =
      all.length === rows.length
        ? `${count(visible.length)} of ${count(rows.length)}`
        : `${count(visible.length)} of ${count(all.length)} that fit, ${count(rows.length)} in all`;
    more.hidden = all.length <= first;
    more.textContent = isWhole ? 'Show fewer' : 'Show all';
  }

  async function copyRows(): Promise<void> {
    const csv = [
      columns.map(({ title }) => title),
      ...chosen().map((row) => columns.map(({ of }) => of(row))),
    ]
      .map((cells) => cells.map((cell) => csvCell(cell, shown)).join(','))
      .join('\n');
    await copyText(`${csv}\n`);
    copy.textContent = 'Copied';
    setTimeout(() => {
      copy.textContent = 'Copy CSV';
    }, 1500);
  }

  render();
  const wide = h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': name });
  wide.append(h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body));
  return h('div', { class: 'table' }, h('div', { class: 'tools' }, filter, status, more, copy), wide);
}

/** False for a column that is empty, or that always says the same. */
function saysSomething<Row>({ of, element, ifVaries }: Column<Row>, rows: readonly Row[]): boolean {
  if (ifVaries && rows.every((row) => of(row) === of(rows[0]!))) return false;
  return (
    rows.some((row) => of(row) !== null && of(row) !== '') ||
    rows.some((row) => (element?.(row) ?? null) !== null)
  );
}

const isNumeric = <Row>({ of, isName }: Column<Row>, rows: readonly Row[]): boolean =>
  !isName && rows.some((row) => typeof of(row) === 'number');

function headOf<Row>(
  { title, about, minor }: Column<Row>,
  isRight: boolean,
  onclick: () => void,
): HTMLElement {
  const button = h('button', { type: 'button', title: about, onclick }, title);
  const classes = [isRight ? 'number' : '', minor ? 'minor' : ''].filter(Boolean);
  return h('th', { scope: 'col', class: classes.join(' ') || undefined }, button);
}

function textOf<Row>({ of, show }: Column<Row>, row: Row): string {
  const value = of(row);
  if (value === null) return '';
  return shown(show ? show(value as never, row) : String(value));
}

function cell<Row>(column: Column<Row>, row: Row, largest: number, isRight: boolean): HTMLElement {
  const value = column.of(row);
  const classes = [isRight ? 'number' : '', column.minor ? 'minor' : ''].filter(Boolean);
  const td = h('td', { class: classes.join(' ') || undefined });
  const element = column.element?.(row);
  td.append(element ?? textOf(column, row));
  if (largest > 0 && typeof value === 'number' && value > 0) {
    td.classList.add('bar');
    td.style.setProperty('--part', `${((100 * value) / largest).toFixed(1)}%`);
  }
  return td;
}

/** Numbers come before text, "rank 10" after "rank 9", and unknown values last. */
function compare(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

/** A page that was opened from a file may not have the newer clipboard API. */
async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    // The one way that is left there.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    document.execCommand('copy');
    area.remove();
  }
}
