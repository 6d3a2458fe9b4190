/**
 * One run of the benchmark: what the loopback is told, how its files are looked at, and what the verdict should say. All of it is
 * drawn before anything runs, so a run can be had again by its name and the seed.
 */

export interface Case {
  /** "skip#3": the class, and which of its runs. */
  readonly name: string;
  readonly className: string;
  /** The loopback's options. */
  readonly words: string;
  /** NCCL_TRACE_*. */
  readonly settings: Readonly<Record<string, string>>;
  /** null: nothing is wrong. */
  readonly truth: Truth | null;
  readonly look: Look;
  /** What becomes of files before they are looked at. */
  readonly files: FileFate;
}

export interface Truth {
  /** Ranks of the world whose fault it is. */
  readonly culprits: readonly number[];
  /** May be named beside a culprit and do no harm: the other end of a link, who waits for the culprit's data. */
  readonly beside: readonly number[];
  /** Verdicts that tell of such a fault. */
  readonly kinds: readonly VerdictKind[];
  /** false: nobody can be named, and such a verdict is right without a name. */
  readonly needsName?: boolean;
  /** Of a straggler: what is slow. */
  readonly on?: 'host' | 'GPU';
}

export type VerdictKind =
  | 'hung'
  | 'waiting'
  | 'broken'
  | 'mismatch'
  | 'slow'
  | 'unclear'
  | 'working'
  | 'healthy'
  | 'nothing'
  /** No diagnosis at all. */
  | 'none';

export interface Look {
  /** ms after the job's end; `live`: ms after the fault began, while the job stands. */
  readonly after: number;
  readonly isLive: boolean;
  readonly how: 'in place' | 'copy' | 'snapshot' | 'hosts';
}

export interface FileFate {
  /** Ranks whose files are missing. */
  readonly missing: readonly number[];
  /** Ranks whose files are cut, to so many bytes. */
  readonly cut: readonly { readonly rank: number; readonly bytes: number }[];
}

export const ALL_FILES: FileFate = { missing: [], cut: [] };
