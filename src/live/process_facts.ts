/**
 * What the kernel tells about a process of this node: what each of its threads does, how much CPU time it uses, and its connections. Never
 * its arguments or environment, because they may carry secrets. Reading /proc does not disturb the process.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../base/reason.js';

export interface ThreadFacts {
  readonly tid: number;
  readonly name: string;
  /** As in ps: R runs, S sleeps, D waits for a device or a disk, T is stopped, Z has ended. */
  readonly state: string;
  /** What the thread waits for in the kernel; empty: nothing, or the kernel does not tell this user. */
  readonly waitsIn: string;
  readonly cpuSeconds: number;
  /** Of one core, while it was looked at. */
  readonly cpuShare: number;
  /** The stack inside the kernel; null: only root may read it. */
  readonly kernelStack: readonly string[] | null;
}

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
  readonly residentBytes: number;
  /** More threads are only counted. */
  readonly threads: readonly ThreadFacts[];
  readonly threadCount: number;
  /** TCP connections to others, those with waiting bytes first; null: this user may not see them. */
  readonly connections: readonly Connection[] | null;
  readonly connectionCount: number;
}

const MOST_THREADS = 256;
const MOST_CONNECTIONS = 256;
/** ms between the two looks at the CPU time. */
const BETWEEN = 500;
/** Linux gives times in 1/100 s (USER_HZ), on all its machines. */
const TICKS_PER_SECOND = 100;

/** null: it has ended. */
export async function processFacts(pid: number): Promise<ProcessFacts | null> {
  const status = fieldsOf(text(`/proc/${pid}/status`) ?? '');
  const before = threadTimes(pid);
  if (status.size === 0 || before === null) return null;
  const began = performance.now();
  await pause(BETWEEN);
  const seconds = (performance.now() - began) / 1000;
  const tids = [...before.keys()];
  // Those that used most come first, then in the order in which they were made.
  const threads = tids.flatMap((tid) => threadFacts(pid, tid, before.get(tid)!, seconds) ?? []);
  threads.sort((a, b) => b.cpuShare - a.cpuShare || a.tid - b.tid);
  const connections = connectionsOf(pid);
  return {
    pid,
    name: status.get('Name') ?? '',
    state: status.get('State') ?? '',
    residentBytes: Number.parseInt(status.get('VmRSS') ?? '0') * 1024,
    threads: threads.slice(0, MOST_THREADS),
    threadCount: tids.length,
    connections: connections?.slice(0, MOST_CONNECTIONS) ?? null,
    connectionCount: connections?.length ?? 0,
  };
}

function threadTimes(pid: number): Map<number, number> | null {
  const tids = names(`/proc/${pid}/task`);
  if (tids === null) return null;
  return new Map(tids.map((tid) => [Number(tid), cpuTicks(stat(pid, Number(tid)))]));
}

function threadFacts(pid: number, tid: number, before: number, seconds: number): ThreadFacts | null {
  const fields = stat(pid, tid);
  if (fields === null) return null;
  const folder = `/proc/${pid}/task/${tid}`;
  const now = cpuTicks(fields);
  const waitsIn = text(`${folder}/wchan`) ?? '';
  return {
    tid,
    name: (text(`${folder}/comm`) ?? '').trimEnd(),
    state: fields[0] ?? '?',
    waitsIn: waitsIn === '0' ? '' : waitsIn,
    cpuSeconds: now / TICKS_PER_SECOND,
    cpuShare: Math.max(0, now - before) / TICKS_PER_SECOND / seconds,
    kernelStack:
      text(`${folder}/stack`)
        ?.split('\n')
        .filter((line) => line !== '') ?? null,
  };
}

/** From the state on. The name before it may contain spaces and parentheses. */
function stat(pid: number, tid: number): string[] | null {
  const line = text(`/proc/${pid}/task/${tid}/stat`);
  return line === null ? null : line.slice(line.lastIndexOf(')') + 2).split(' ');
}

const cpuTicks = (fields: readonly string[] | null): number =>
  fields === null ? 0 : Number(fields[11]) + Number(fields[12]);

/** Listening sockets and connections within one address are no wait for a peer on another one, but ranks of one node talk over them. */
function connectionsOf(pid: number): Connection[] | null {
  const sockets = socketsOf(pid);
  if (sockets === null) return null;
  const all = ['tcp', 'tcp6'].flatMap((table) => {
    const [, ...lines] = (text(`/proc/${pid}/net/${table}`) ?? '').trimEnd().split('\n');
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

function socketsOf(pid: number): Set<string> | null {
  const descriptors = names(`/proc/${pid}/fd`);
  if (descriptors === null) return null;
  const found = new Set<string>();
  for (const one of descriptors) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target(`/proc/${pid}/fd/${one}`)) ?? [];
    if (inode !== undefined) found.add(inode);
  }
  return found;
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
const names = (path: string): string[] | null => orNull(() => readdirSync(path));
const target = (path: string): string => orNull(() => readlinkSync(path, 'latin1')) ?? '';

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === '') throw error;
    return null;
  }
}
