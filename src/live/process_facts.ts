/**
 * What the kernel tells about a process of this node: what each of its threads does, how much CPU time it uses, and its connections. Never
 * its arguments or environment, because they may carry secrets. Reading /proc does not disturb the process. Some files of /proc answer with
 * zeros what they may not tell. What is not known is null here.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, livingFolder, openFiles, orNull, statFields, threadsOf } from '../rankfile/index.js';

export type ThreadFacts = Readonly<NonNullable<ReturnType<typeof threadFacts>>>;

export interface Connection {
  readonly local: string;
  readonly remote: string;
  readonly state: string;
  /** Bytes that the other side has not acknowledged, and bytes that the process has not read. */
  readonly sendQueue: number;
  readonly receiveQueue: number;
}

export interface ProcessFacts {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  /** null: the kernel does not tell. */
  readonly residentBytes: number | null;
  /** More threads are only counted. */
  readonly threads: readonly ThreadFacts[];
  readonly threadCount: number;
  /** TCP connections to others, those with waiting bytes first; null: this user may not see them. */
  readonly connections: readonly Connection[] | null;
  readonly connectionCount: number | null;
}

const MOST_THREADS = 256;
const MOST_CONNECTIONS = 256;
/** ms between the two looks at the CPU time. */
const BETWEEN = 500;
/** Linux gives times in 1/100 s (USER_HZ), on all its machines. */
const TICKS_PER_SECOND = 100;

/** null: it has ended. */
export async function processFacts(pid: number): Promise<ProcessFacts | null> {
  const folder = livingFolder(pid);
  const before = threadTimes(pid);
  if (folder === null || before === null) return null;
  const status = fieldsOf(text(`${folder}/status`) ?? '');
  const began = performance.now();
  await pause(BETWEEN);
  const seconds = (performance.now() - began) / 1000;
  const tids = [...before.keys()];
  // Those that used most come first, then in the order in which they were made.
  const threads = tids.flatMap((tid) => threadFacts(pid, tid, before.get(tid)!, seconds) ?? []);
  threads.sort((a, b) => b.cpuShare - a.cpuShare || a.tid - b.tid);
  const connections = connectionsOf(folder);
  return {
    pid,
    name: (text(`/proc/${pid}/comm`) ?? '').trimEnd(),
    state: status.get('State') ?? '',
    residentBytes: kibibytes(status.get('VmRSS')),
    threads: threads.slice(0, MOST_THREADS),
    threadCount: tids.length,
    connections: connections?.slice(0, MOST_CONNECTIONS) ?? null,
    connectionCount: connections?.length ?? null,
  };
}

/** "1234 kB" */
const kibibytes = (text: string | undefined): number | null =>
  text === undefined ? null : Number.parseInt(text) * 1024;

function threadTimes(pid: number): Map<number, number> | null {
  const tids = threadsOf(pid);
  if (tids === null) return null;
  return new Map(
    tids.flatMap((tid) => {
      const fields = statFields(`/proc/${pid}/task/${tid}`);
      return fields === null ? [] : [[Number(tid), cpuTicks(fields)] as const];
    }),
  );
}

function threadFacts(pid: number, tid: number, before: number, seconds: number) {
  const folder = `/proc/${pid}/task/${tid}`;
  const fields = statFields(folder);
  if (fields === null) return null;
  const [state = '?'] = fields;
  const now = cpuTicks(fields);
  return {
    tid,
    name: (text(`${folder}/comm`) ?? '').trimEnd(),
    /** As in ps: R runs, S sleeps, D waits for a device or a disk, T is stopped, Z has ended. */
    state,
    /** What the thread waits for in the kernel; empty: nothing; null: the kernel does not tell this user. */
    waitsIn: waitChannel(state, text(`${folder}/wchan`)),
    cpuSeconds: now / TICKS_PER_SECOND,
    /** Of one core, while it was looked at. */
    cpuShare: Math.max(0, now - before) / TICKS_PER_SECOND / seconds,
    /** The stack inside the kernel; null: only root may read it. */
    kernelStack:
      text(`${folder}/stack`)
        ?.split('\n')
        .filter((line) => line !== '') ?? null,
  };
}

/** The kernel writes 0 for a thread that waits for nothing, and for one of which it may not tell. */
function waitChannel(state: string, wchan: string | null): string | null {
  if (wchan !== '0') return wchan;
  return state === 'R' || hasEnded(state) ? '' : null;
}

const cpuTicks = (fields: readonly string[]): number => Number(fields[11]) + Number(fields[12]);

/** Listening sockets and connections within one address are no wait for a peer on another one, but ranks of one node talk over them. */
function connectionsOf(folder: string): Connection[] | null {
  const open = openFiles(folder);
  // A kernel without IPv6 has no tcp6.
  const [tcp, tcp6] = [text(`${folder}/net/tcp`), text(`${folder}/net/tcp6`) ?? ''];
  if (open === null || tcp === null) return null;
  const inodes = [...open.values()].flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
  const sockets = new Set(inodes);
  const all = [tcp, tcp6].flatMap((table) => {
    const [, ...lines] = table.trimEnd().split('\n');
    return lines.flatMap((line) => connectionIn(line, sockets) ?? []);
  });
  const waiting = (one: Connection): number => one.sendQueue + one.receiveQueue;
  return all.sort((a, b) => waiting(b) - waiting(a));
}

function connectionIn(line: string, sockets: ReadonlySet<string>): Connection | null {
  const [, local = '', remote = '', state = '', queues = '', , , , , inode = ''] = line.trim().split(/\s+/);
  if (!sockets.has(inode) || state === LISTENS) return null;
  const [send = '0', receive = '0'] = queues.split(':');
  return {
    local: address(local),
    remote: address(remote),
    state: TCP_STATES[Number.parseInt(state, 16)] ?? state,
    sendQueue: Number.parseInt(send, 16),
    receiveQueue: Number.parseInt(receive, 16),
  };
}

const LISTENS = '0A';
/** By the kernel's numbers. */
const TCP_STATES = [
  ...['', 'established', 'syn-sent', 'syn-received', 'fin-wait-1', 'fin-wait-2', 'time-wait', 'close'],
  ...['close-wait', 'last-ack', 'listen', 'closing'],
];

/** "0100007F:1F90" → "127.0.0.1:8080". The kernel prints 32-bit words in the machine's byte order, which is little-endian here. */
function address(hex: string): string {
  const [host = '', port = ''] = hex.split(':');
  const bytes = (host.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const at = Number.parseInt(port, 16);
  const four = bytes
    .slice(-4)
    .map((byte) => Number.parseInt(byte, 16))
    .join('.');
  if (bytes.length === 4 || bytes.slice(0, 12).join('') === '00000000000000000000ffff'.toUpperCase())
    return `${four}:${at}`;
  const words = bytes.flatMap((byte, i) => (i % 2 === 0 ? [`${byte}${bytes[i + 1]}`.toLowerCase()] : []));
  return `[${words.map((word) => word.replace(/^0{1,3}/, '')).join(':')}]:${at}`;
}

/** "Name:\tpython" */
const fieldsOf = (status: string): Map<string, string> =>
  new Map(
    status.split('\n').flatMap((line) => {
      const [, name, value] = /^(\w+):\s*(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value!] as const];
    }),
  );

/** null: it is gone, or this user may not read it. */
const text = (path: string): string | null => orNull(() => readFileSync(path, 'latin1'));
