// Runs build/nccl-trace-loopback and reads what it leaves behind: the summary, the truth files, and the callback logs
// of the echo plugin (native/loopback/test/echo_plugin.cc).

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtNative } from '../support/jobs/native.js';
import {
  proxyOpsOf,
  readTruth,
  tasksOf,
  totalsOf,
  type ProxyOpTruth,
  type TaskTruth,
  type TotalsTruth,
  type TruthLine,
} from '../support/jobs/truth.js';

export const [program, echoPlugin] = await builtNative('nccl-trace-loopback', 'libnccl-profiler-echo.so');

export interface Counts {
  collectives: number;
  p2ps: number;
  bytes: number;
  verified: number;
  wrong: number;
  callbacks: number;
}

export interface Summary {
  ending: string;
  exitCode: number;
  ranks: number;
  plugin: string | null;
  pluginVersion: number;
  elapsedMs: number;
  counts: Counts;
  perRank: { rank: number; pid: number; ended: string; iterations: number; counts: Counts }[];
}

export interface Exit {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function runRaw(args: string, env: Record<string, string> = {}): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args.split(' ').filter(Boolean), {
      // The echo plugin tells threads apart by their names.
      env: { PATH: '/usr/bin', NCCL_SET_THREAD_NAME: '1', ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

/** One run with everything it tells. `echo` logs all callbacks; its options are the environment of the plugin. */
export class Run {
  private constructor(
    readonly exit: Exit,
    readonly summary: Summary,
    private readonly folder: string,
  ) {}

  static async of(args: string, options: { echo?: Record<string, string> } = {}): Promise<Run> {
    const folder = mkdtempSync(path.join(tmpdir(), 'loopback-'));
    const env: Record<string, string> =
      options.echo === undefined
        ? { NCCL_PROFILER_PLUGIN: 'none' }
        : { NCCL_PROFILER_PLUGIN: echoPlugin, ECHO_FILE: path.join(folder, 'echo'), ...options.echo };
    const exit = await runRaw(`${args} --json --quiet --timeout 600 --truth ${folder}`, env);
    const summary = JSON.parse(exit.stdout) as Summary;
    return new Run(exit, summary, folder);
  }

  truth(rank: number): TruthLine[] {
    return readTruth(this.folder, rank);
  }

  proxyOps(rank: number): ProxyOpTruth[] {
    return proxyOpsOf(this.truth(rank));
  }

  tasks(rank: number): TaskTruth[] {
    return tasksOf(this.truth(rank));
  }

  totals(rank: number): TotalsTruth {
    return totalsOf(this.truth(rank));
  }

  callbacks(rank: number): Callback[] {
    const text = readFileSync(path.join(this.folder, `echo.${rank}`), 'utf8');
    return text.trimEnd().split('\n').map(parseCallback);
  }

  files(): string[] {
    return readdirSync(this.folder);
  }

  remove() {
    rmSync(this.folder, { recursive: true });
  }
}

/** One line of the echo plugin. */
export interface Callback {
  thread: 'api' | 'launch' | 'callback' | 'progress' | 'socket' | 'profiler';
  call: 'init' | 'start' | 'state' | 'stop' | 'finalize';
  type: string; // of a start
  handle: number; // of init and finalize: the context
  state: number; // of a state
  fields: Record<string, string>;
}

function parseCallback(line: string): Callback {
  const words = line.trimEnd().split(' ');
  const [thread, call] = words as [Callback['thread'], Callback['call']];
  const isStart = call === 'start';
  const handleAt = isStart ? 3 : 2;
  return {
    thread,
    call,
    type: isStart ? words[2]! : '',
    handle: Number(words[handleAt]),
    state: call === 'state' ? Number(words[3]) : -1,
    fields: Object.fromEntries(
      words
        .filter((word) => word.includes('='))
        .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    ),
  };
}

/** An event: its start and all that was said about its handle, until the handle was given out again. */
export interface LoggedEvent {
  start: Callback;
  states: Callback[];
  stops: number;
  /** Places in the log. */
  startAt: number;
  stopAt: number;
}

/** All events by handle: the echo plugin never uses one twice. */
export function eventsOf(log: Callback[]): Map<number, LoggedEvent> {
  const events = new Map<number, LoggedEvent>();
  log.forEach((line, at) => {
    if (line.call === 'start') {
      events.set(line.handle, { start: line, states: [], stops: 0, startAt: at, stopAt: -1 });
    } else if (line.call === 'state') {
      events.get(line.handle)?.states.push(line); // none: nobody's handle
    } else if (line.call === 'stop') {
      const event = events.get(line.handle);
      if (event === undefined) return; // stop(NULL)
      event.stops += 1;
      event.stopAt = at;
    }
  });
  return events;
}

/** One line's bare shape, handles replaced by the type of the event they name: "state GroupApi 23". */
export function shapeOf(line: Callback, events: Map<number, LoggedEvent>): string {
  const nameOf = (handle: number) => events.get(handle)?.start.type ?? 'NULL';
  switch (line.call) {
    case 'start':
      return `start ${line.type} < ${nameOf(Number(line.fields.parent))}`;
    case 'state':
      return `state ${nameOf(line.handle)} ${line.state}${line.fields.args === 'NULL' ? ' NULL' : ''}`;
    case 'stop':
      return `stop ${nameOf(line.handle)}`;
    default:
      return line.call;
  }
}
