/** Why a rank is suspect, as a label at the end of its process's name: the most important first. `schemas/trace.md` explains each. */
export const SUSPECT_LABELS = [
  'SILENT',
  'STOPPED',
  'GONE',
  'NO FILE',
  'NOT CALLED',
  'INSIDE NCCL',
  'OTHER CALL',
  'ALONE',
  'BEHIND',
  'LATE',
  'SLOW SENDS',
  'LEFT',
  // It may only wait for one of the others.
  'STUCK',
] as const;

export type SuspectLabel = (typeof SUSPECT_LABELS)[number];

export interface Suspected {
  readonly label: SuspectLabel | null;
  /** ns in which all others waited for it alone. */
  readonly aloneNs: number;
}

/** Orders rows of ranks: the cause before its victims, then those that cost most. */
export const mostSuspectFirst = (a: Suspected, b: Suspected): number =>
  placeOf(a) - placeOf(b) || b.aloneNs - a.aloneNs;

const placeOf = ({ label }: Suspected): number =>
  label === null ? SUSPECT_LABELS.length : SUSPECT_LABELS.indexOf(label);
