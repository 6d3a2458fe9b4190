/** The values in the files between the steps of a merge: plain data. */

import type { FoundClocks } from '../clocks/evidence/run_clocks.js';
import type { Sentence } from '../base/sentence.js';
import type { Lease } from '../rankfile/file_types.js';
import type { Aliases } from '../runs/redact.js';
import type { OtherRun } from '../runs/run.js';
import type { RankScan } from '../scan/scan.js';
import type { ConvertJob, ConvertResult } from '../trace/convert.js';
import type { SelectionRequest } from '../trace/selection.js';

/** By kind of file and tag: what a section holds. */
export interface StoredValues {
  readonly scan: { readonly head: ScanHead; readonly file: StoredScan };
  readonly study: { readonly head: StudyHead; readonly file: StoredScan; readonly job: ConvertJob };
  readonly part: { readonly head: PartHead; readonly block: StoredBlock };
}

/** At the beginning of a .scan. */
export interface ScanHead {
  /** All files that were examined, and the requested run. */
  readonly files: readonly InputFile[];
  readonly run?: string | undefined;
  /** The selected time. Only this part of stream files was read. */
  readonly select?: SelectionRequest | undefined;
  /** Problems found while looking for files, and files that cannot be used. */
  readonly problems: readonly Sentence[];
  readonly unusable: readonly Sentence[];
}

/** Shows whether the same files would be read again. */
export interface InputFile {
  readonly path: string;
  readonly bytes: number;
  /** When it last changed, ns. */
  readonly changed: bigint;
}

/** One file of a .scan. Its steps follow. */
export interface StoredScan {
  readonly scan: RankScan;
  readonly leases: readonly Lease[];
  /** A newer heartbeat of its process was seen after the file was read. */
  readonly isAlive: boolean;
  /** Sections that its steps take. */
  readonly stepSections: number;
}

/** At the beginning of a .study. */
export interface StudyHead {
  /** A hash of the scans that it was made from, and of the options. */
  readonly id: string;
  readonly options: StoredOptions;
  readonly run: StoredRun;
  readonly members: readonly StudyMember[];
}

/** What the user asked for. */
export interface StoredOptions {
  readonly run?: string | undefined;
  readonly redact?: boolean | undefined;
  readonly clock?: 'auto' | 'realtime' | undefined;
  readonly alike?: number | undefined;
  readonly wander?: number | undefined;
  readonly hungAfter?: number | undefined;
  readonly select?: SelectionRequest | undefined;
}

export interface StoredRun {
  readonly worldSize: number;
  readonly missing: readonly number[];
  readonly others: readonly OtherRun[];
  readonly problems: readonly string[];
  readonly unusable: readonly string[];
  /** Notes about the search for files. */
  readonly notes: readonly string[];
  readonly records: number;
  readonly aliases: Aliases | null;
  readonly clocks: FoundClocks;
  readonly alive: readonly boolean[];
}

/** By file, as the run's members. */
export interface StudyMember {
  readonly rank: number | null;
  readonly ranks: readonly number[];
  readonly isReplaced: boolean;
  /** Its process (`processKey`), wherever its file lies. */
  readonly process: string;
  readonly isDrawn: boolean;
}

/** At the beginning of a part. */
export interface PartHead {
  readonly study: string;
  /** Members in it, ascending. */
  readonly files: readonly number[];
}

/** A member's block. Its pieces follow, in a section each. */
export interface StoredBlock {
  readonly file: number;
  readonly result: ConvertResult;
}
