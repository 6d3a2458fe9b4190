/** Times of a table's row, and the button that opens the trace there. */

import { h } from './dom.js';
import { duration } from './format.js';
import type { View } from './open_trace.js';
import type { Column } from './table.js';

export type Show = ((view: View) => void) | null;

export const time = (ns: number): string => (ns === 0 ? '0' : duration(ns));

/** A button for each row that lies somewhere in the trace. */
export function inTrace<Row>(show: Show, viewOf: (row: Row) => View): Column<Row>[] {
  if (show === null) return [];
  return [
    {
      title: 'Trace',
      of: () => null,
      element: (row) => {
        const view = viewOf(row);
        if (view === null) return null;
        const onclick = (): void => {
          show(view);
        };
        return h(
          'button',
          { type: 'button', class: 'small', onclick, title: 'Open the trace there' },
          'Open',
        );
      },
    },
  ];
}

export const around = (from: number, length: number): View => [
  Math.max(0, from - length / 2 - 1e6),
  from + 1.5 * length + 1e6,
];
