/**
 * `nccl-trace top`: the ranks of a running job in a terminal, those in trouble first. It runs beside the job and only reads. Node's readline
 * reads the keys, and a terminal has a second screen: no more is needed to leave the first one as it was.
 */

import { spawn } from 'node:child_process';
import path from 'node:path';
import { emitKeypressEvents } from 'node:readline';
import type { Command } from 'commander';
import { Interrupted, UsageError } from '../base/errors.js';
import { SORTS, topLine, topLines, topRows, type TopState, type TopView } from '../live/top_screen.js';
import type { Sight } from '../live/follow.js';
import { SeenJob } from '../live/seen_job.js';
import type { Look } from '../live/watch.js';
import { printable } from '../report/text.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { commandWith } from './help.js';
import { interruptible } from './interrupts.js';
import { followJob } from './look_process.js';
import { print } from './streams.js';
import { addRunOption, listsRuns } from './run_option.js';
import { addVerdictOptions } from './verdict_options.js';
import { EVERY } from './watch.js';
import { coloured } from './watching.js';

interface Options {
  readonly run?: string;
  readonly hungAfter?: number;
  readonly every: number;
}

const EXAMPLES = `Examples, beside the job:
  $ nccl-trace top nccl-trace/             the ranks of the newest run; q ends it
  $ nccl-trace top nccl-trace/ > top.log   without a terminal: a line when the verdict changes
`;

export function topCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('top', EXAMPLES)
    .description('Show the ranks of a running job in a terminal.')
    .argument('<dir>', 'the NCCL_TRACE_DIR of the job, or of one run')
    .option(...EVERY);
  return addVerdictOptions(addRunOption(command)).action(async (folder: string, options: Options) => {
    setExit(await run(folder, options));
  });
}

async function run(folder: string, options: Options): Promise<ExitCode> {
  if (await listsRuns([folder], options)) return ExitCode.ok;
  const { stdin, stdout } = process;
  if (stdout.isTTY && !stdin.isTTY)
    throw new UsageError('top needs a keyboard: give it the terminal as input, or send its output to a file');
  try {
    await interruptible(async (interrupt) => {
      const quit = new AbortController();
      const screen = new (stdout.isTTY ? Screen : Lines)(folder, () => {
        quit.abort();
      });
      const note = (text: string): void => {
        screen.say(text);
      };
      try {
        await followJob(folder, options, screen, note, AbortSignal.any([interrupt, quit.signal]));
      } finally {
        screen.close();
      }
    });
    return ExitCode.ok;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return error.signal === undefined ? ExitCode.ok : exitCodeOf(error);
  }
}

/** Bandwidths of a rank that are kept. */
const MOST_RATES = 12;

abstract class Shown extends SeenJob {
  private readonly rates = new Map<string, number[]>();
  protected note = '';

  constructor(protected readonly folder: string) {
    super();
  }

  abstract close(): void;
  abstract show(): void;

  override see(sight: Sight): void {
    if (sight.run !== this.sight.run) this.rates.clear();
    super.see(sight);
    this.show();
  }

  override take(look: Look): void {
    super.take(look);
    for (const { rank, sent } of look.work?.seen.ranks ?? [])
      if (sent !== null) this.rates.set(rank, [...(this.rates.get(rank) ?? []), sent].slice(-MOST_RATES));
    this.show();
  }

  say(text: string): void {
    this.note = text;
    this.show();
  }

  protected get state(): TopState {
    const { folder, sight, look, work, rates, note } = this;
    return { folder, sight, look, work, rates, note, now: Date.now() / 1000 };
  }
}

/** Without a terminal. */
class Lines extends Shown {
  private said = '';

  constructor(
    folder: string,
    private readonly onClosed: () => void,
  ) {
    super(folder);
  }

  show(): void {
    const text = topLine(this.state);
    if (text === this.said) return;
    this.said = text;
    void print(`${new Date().toISOString().slice(0, 19)}Z  ${printable(text)}\n`).then((isRead) => {
      if (!isRead) this.onClosed();
    });
  }

  close(): void {
    this.said = '';
  }
}

const ESC = '\x1b[';
const SECOND_SCREEN = `${ESC}?1049h${ESC}?25l`;
const FIRST_SCREEN = `${ESC}?25h${ESC}?1049l`;

/** ms: what is open grows older. */
const REDRAW = 1_000;

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
}

class Screen extends Shown {
  private view: Omit<TopView, 'width' | 'height'> = {
    sort: 'trouble',
    comm: null,
    selected: null,
    isDetail: false,
  };
  private readonly timer: NodeJS.Timeout;
  private isOpen = true;

  constructor(
    folder: string,
    private readonly quit: () => void,
  ) {
    super(folder);
    const { stdin, stdout } = process;
    emitKeypressEvents(stdin);
    stdin.setRawMode(true).resume();
    stdin.on('keypress', this.pressed);
    stdin.on('end', quit);
    stdout.on('resize', this.show);
    // A crash ends the process without `close`.
    process.on('exit', this.close);
    stdout.write(SECOND_SCREEN);
    this.timer = setInterval(this.show, REDRAW);
    this.show();
  }

  close = (): void => {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearInterval(this.timer);
    const { stdin, stdout } = process;
    stdout.off('resize', this.show);
    process.off('exit', this.close);
    stdin.off('keypress', this.pressed).off('end', this.quit).pause();
    // The terminal may be gone.
    if (stdin.isTTY) stdin.setRawMode(false);
    stdout.write(FIRST_SCREEN);
  };

  show = (): void => {
    if (!this.isOpen) return;
    const { columns: width, rows: height } = process.stdout;
    const lines = topLines(this.state, { ...this.view, width, height });
    const [first = '', ...rest] = lines;
    const text = [coloured(first, process.stdout), ...rest].map((line) => `${line}${ESC}K`).join('\r\n');
    process.stdout.write(`${ESC}H${text}${ESC}J`);
  };

  private readonly pressed = (text: string | undefined, key: Key): void => {
    this.note = '';
    if (text === 'q' || (key.ctrl === true && key.name === 'c')) {
      if (text === 'q') this.quit();
      // Raw mode has turned the signal into a key.
      else process.kill(process.pid, 'SIGINT');
      return;
    }
    this.view = this.after(text ?? '', key.name ?? '');
    if (text === 'w') this.snapshot();
    this.show();
  };

  private after(text: string, name: string): Screen['view'] {
    const { view, state } = this;
    if (text === 's') return { ...view, sort: SORTS[(SORTS.indexOf(view.sort) + 1) % SORTS.length]! };
    if (text === 'c') {
      const comms: (string | null)[] = [null, ...new Set(state.look?.progress.map(({ comm }) => comm))];
      return { ...view, comm: comms[(comms.indexOf(view.comm) + 1) % comms.length]! };
    }
    if (name === 'return') return { ...view, isDetail: !view.isDetail && view.selected !== null };
    if (name === 'escape') return { ...view, isDetail: false };
    const step = { up: -1, k: -1, down: 1, j: 1 }[name];
    if (step === undefined) return view;
    const ranks = topRows(state, view).map(({ rank }) => rank);
    const at = view.selected === null ? (step > 0 ? -1 : ranks.length) : ranks.indexOf(view.selected);
    return { ...view, selected: ranks[Math.min(ranks.length - 1, Math.max(0, at + step))] ?? null };
  }

  /** In a process of its own, so that the screen goes on while gigabytes are copied. */
  private snapshot(): void {
    const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '');
    const folder = path.resolve(`nccl-trace-snapshot-${stamp}`);
    const files = this.sight.members.map((member) => member.path);
    if (files.length === 0) return;
    this.note = `writes ${folder}`;
    const args = [process.argv[1]!, 'snapshot', ...files, '-o', folder, '--quiet'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr.on('data', (said: Buffer) => (complaint = (complaint + said.toString()).slice(-500)));
    child.on('close', (code) => {
      this.say(code === 0 ? `snapshot: ${folder}` : `no snapshot: ${complaint.trim().split('\n').at(-1)}`);
    });
  }
}
