/**
 * What `watch` does about an incident: it starts the user's command at once, and takes the evidence meanwhile, one incident after the other.
 * The command's standard input ends when the evidence is complete, so a command that ends the job can wait for that.
 */

import { counted } from '../base/units.js';
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { OutputError } from '../base/errors.js';
import { reason } from '../base/reason.js';
import type { Alarm } from '../live/alarm.js';
import { newIncident, takeIncident, type Incident, type IncidentOptions } from '../live/incident.js';
import type { Member } from '../live/follow.js';
import { hasFrames } from '../live/stacks.js';
import type { HeldFolder } from '../output/held_folder.js';
import { checkOwnFolder, openOwnFolder } from '../output/own_folder.js';
import type { Diagnosis } from '../report/diagnosis.js';
import { printable } from '../report/text.js';
import { quoted } from '../trace/commands.js';
import { complain, print } from './streams.js';

interface Options extends IncidentOptions {
  /** Folder of all incidents. */
  readonly output: string;
  readonly incidents: number;
  readonly exec?: string;
  readonly hungAfter?: number;
  readonly json?: true;
  readonly note: (text: string) => void;
}

export class Incidents {
  /** Evidence and commands of all incidents so far. */
  done: Promise<unknown> = Promise.resolve();
  private evidence: Promise<void> = Promise.resolve();
  private taken = 0;
  private held: HeldFolder | null = null;

  constructor(private readonly options: Options) {}

  /** Makes nothing. Throws OutputError if another user could change what will be written. */
  check(): void {
    checkOwnFolder(this.options.output, USER, ADVICE);
  }

  take(alarm: Alarm, found: Diagnosis, members: readonly Member[]): void {
    const { incidents, exec, note } = this.options;
    if (this.taken++ >= incidents) {
      if (this.taken === incidents + 1) note(`no further incident is taken (--incidents ${incidents})`);
      return;
    }
    const at = new Date();
    const folder = this.newFolder(at, alarm);
    const command = exec === undefined ? null : startCommand(exec, alarm, found, folder?.path ?? null, note);
    this.evidence = this.evidence.then(async () => {
      try {
        if (folder !== null) this.tell(await this.collect(folder, at, alarm, found, members), folder.path);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error;
        complain(`the incident is not complete: ${reason(error)}`);
      } finally {
        folder?.close();
        command?.evidenceTaken();
      }
    });
    this.done = Promise.all([this.done, this.evidence, command?.ended]);
  }

  private newFolder(at: Date, alarm: Alarm): HeldFolder | null {
    try {
      this.held ??= openOwnFolder(this.options.output, USER, ADVICE);
      return newIncident(this.held, at, alarm);
    } catch (error) {
      if (!(error instanceof OutputError || (error instanceof Error && 'code' in error))) throw error;
      complain(`no folder for the incident: ${error instanceof OutputError ? error.message : reason(error)}`);
      return null;
    }
  }

  private async collect(
    folder: HeldFolder,
    at: Date,
    alarm: Alarm,
    found: Diagnosis,
    members: readonly Member[],
  ): Promise<Incident> {
    const incident = await takeIncident(folder, at, alarm, found, members, this.options);
    if (this.options.json) await print(`${JSON.stringify({ at: now(), folder: folder.path, incident })}\n`);
    return incident;
  }

  private tell({ files, missing, suspects, ras }: Incident, folder: string): void {
    const { hungAfter, note } = this.options;
    for (const why of missing) note(why);
    const stacks = suspects.filter((one) => one.stacks !== null && hasFrames(one.stacks)).length;
    const taken = [
      counted(files.length, 'rank file'),
      counted(suspects.length, 'process', 'processes'),
      stacks === 0 ? 'no stacks' : `stacks of ${stacks}`,
    ];
    note(`incident: ${folder}: ${[...taken, ...ras].join(', ')}`);
    if (files.length === 0) return;
    const manner = hungAfter === undefined ? '' : ` --hung-after ${hungAfter}`;
    note(`next: nccl-trace report ${quoted(folder)}${manner} -o incident.html`);
  }
}

const USER = { uid: process.geteuid!(), gid: process.getegid!() };
const ADVICE =
  USER.uid === 0
    ? 'name a folder that only root can change: --output /var/lib/nccl-trace/incidents'
    : 'name a folder that only you can change: --output ~/nccl-trace-incidents';

export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** ms, counted from when the evidence is complete. */
const EXEC_AT_MOST = 60_000;

interface Command {
  readonly ended: Promise<void>;
  readonly evidenceTaken: () => void;
}

/** Its output goes to our standard error, because our standard output may be read by a machine. */
function startCommand(
  exec: string,
  { kind, headline, ranks }: Alarm,
  diagnosis: Diagnosis,
  folder: string | null,
  note: (text: string) => void,
): Command {
  const env = {
    ...process.env,
    NCCL_TRACE_VERDICT: kind,
    NCCL_TRACE_HEADLINE: printable(headline),
    NCCL_TRACE_RANKS: ranks,
    NCCL_TRACE_FOLDER: folder === null ? '' : path.resolve(folder),
  };
  // A group of its own, so that all of it can be ended.
  const child: ChildProcess = spawn('sh', ['-c', exec], { env, detached: true, stdio: ['pipe', 2, 2] });
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<void>((done) => {
    child.on('error', (error) => {
      complain(`--exec: ${reason(error)}`);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code !== 0) note(`--exec: ended with ${signal ?? code}`);
      done();
    });
  });
  child.stdin?.on('error', () => undefined); // it need not read
  child.stdin?.write(`${JSON.stringify({ at: now(), kind, headline, folder, diagnosis })}\n`);
  return {
    ended,
    evidenceTaken: () => {
      child.stdin?.end();
      if (child.exitCode !== null || child.signalCode !== null) return;
      timer = setTimeout(() => {
        complain(`--exec: ended after ${EXEC_AT_MOST / 1000} s`);
        process.kill(-child.pid!, 'SIGKILL');
      }, EXEC_AT_MOST);
    },
  };
}
