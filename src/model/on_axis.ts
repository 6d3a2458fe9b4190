/** Turns the ticks of a row into times of the trace. A type of rows is written once, with the type of its times as parameter. */

import type { Ticks, TraceNs } from '../base/time.js';

export type ToTime = (tick: number) => TraceNs;

/** The same row with times of the trace. */
export type OnAxis<T> = T extends Ticks
  ? TraceNs
  : T extends readonly (infer One)[]
    ? readonly OnAxis<One>[]
    : T extends object
      ? { readonly [Name in keyof T]: OnAxis<T[Name]> }
      : T;

/** Names of the columns with unit `tick`. A column of rows has those of its rows. */
export type TickColumns<T> = Partial<{
  readonly [Name in keyof T]: true | TickColumns<Inner<T[Name]>>;
}>;
type Inner<T> = NonNullable<T extends readonly (infer One)[] ? One : T>;

/** A time that is not known (null) stays null. */
export function onAxis<T extends object>(row: T, columns: TickColumns<T>, time: ToTime): OnAxis<T> {
  const moved = { ...row } as Record<string, unknown>;
  for (const [name, inner] of Object.entries(columns) as [string, object | true][]) {
    const value = moved[name] as number | object | readonly object[] | null;
    const move = (one: object): object => onAxis(one, inner as TickColumns<object>, time);
    if (typeof value === 'number') moved[name] = time(value);
    else if (value !== null) moved[name] = Array.isArray(value) ? value.map(move) : move(value);
  }
  return moved as OnAxis<T>;
}
