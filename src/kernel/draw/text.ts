/** A string of the trace, which knows its number in each sequence's tables of strings (sequences.ts). */

/**
 * Sequences of events in order of time. One more per track of steps would save 6 % of the bytes, but the importer (v58.2) then takes 5.6 s
 * instead of 4.1 s for a trace of 1,024 such tracks.
 */
export const TIME_SEQUENCES: i32 = 8;
export const SEQUENCES: i32 = TIME_SEQUENCES + 1;

/** Tables of strings. */
export const enum Table {
  Names,
  ArgNames,
  ArgTexts,
}
export const TABLES: i32 = 3;

export class Text {
  /** By sequence and table; 0: not written yet. */
  readonly ids: StaticArray<i32> = new StaticArray<i32>(SEQUENCES * TABLES);

  /** UTF-8. */
  constructor(
    readonly start: usize,
    readonly length: i32,
  ) {}
}
