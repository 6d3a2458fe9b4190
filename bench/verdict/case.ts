/**
 * One run of the benchmark: the loopback's options, how its files are read, and the expected verdict. All of it is chosen at random
 * before anything runs, so a run can be repeated by its name and the seed.
 */

export interface Case {
  /** "skip#3": the class, and which of its runs. */
  readonly name: string;
  readonly className: string;
  /** The loopback's options. */
  readonly args: string;
  /** NCCL_TRACE_*. */
  readonly settings: Readonly<Record<string, string>>;
  /** null: nothing is wrong. */
  readonly truth: Truth | null;
  readonly look: Look;
  /** Options of `nccl-trace control` that change the running job, one second apart. */
  readonly control?: readonly string[];
  /** Another job in the same folder, which began before: a replica, or the job before it was restarted. */
  readonly earlier?: {
    readonly args: string;
    readonly isOver: boolean;
    /** Only the files of these ranks are left of it. Absent: all. */
    readonly left?: readonly number[];
  };
  /** What is done to the files before they are read. */
  readonly files: FileFate;
}

export interface Truth {
  /** The culprits, as ranks of the world. */
  readonly culprits: readonly number[];
  /** May be named together with a culprit: the other end of a link, or a rank that waits for the culprit's data. */
  readonly beside: readonly number[];
  /** Verdicts that are right for such a fault. */
  readonly kinds: readonly VerdictKind[];
  /** false: no rank can be named, and a verdict without a name is right. */
  readonly needsName?: boolean;
  /** Of a straggler: what is slow. */
  readonly on?: 'host' | 'GPU';
  /** Source of the known bug of NCCL that must be told. */
  readonly bug?: string;
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
  /** NCCL chose another algorithm, protocol or number of channels than in the earlier job. */
  | 'chosen otherwise'
  /** No diagnosis at all. */
  | 'none';

export interface Look {
  /** ms after the job's end; `live`: ms after the fault began, while the job is stuck. */
  readonly after: number;
  readonly isLive: boolean;
  /** `dumps`: those of PyTorch's Flight Recorder, and no rank file. `diff`: compared with the earlier job. */
  readonly how: 'in place' | 'copy' | 'snapshot' | 'hosts' | 'dumps' | 'diff';
  /** The files of so many ranks are put into one, as of a process with several GPUs. Absent: 1. */
  readonly gpusPerProcess?: number;
  /** In the dumps the wall clock of rank 0 is ahead by so many minutes. */
  readonly aheadMinutes?: number;
}

export interface FileFate {
  /** Ranks whose files are missing. */
  readonly missing: readonly number[];
  /** Ranks whose files are cut, and to how many bytes. */
  readonly cut: readonly { readonly rank: number; readonly bytes: number }[];
}

export const ALL_FILES: FileFate = { missing: [], cut: [] };
