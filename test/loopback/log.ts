// One run's callbacks, looked at from all sides.

import { expect } from 'vitest';
import type { TotalsTruth } from '../support/jobs/truth.js';
import { Run, eventsOf, shapeOf } from './loopback.js';
import type { Callback, LoggedEvent } from './loopback.js';

export class Log {
  constructor(
    readonly run: Run,
    readonly lines: Callback[],
    readonly events: Map<number, LoggedEvent>,
    readonly totals: TotalsTruth,
  ) {}

  static async of(
    args: string,
    { rank = 0, echo = {} }: { rank?: number; echo?: Record<string, string> } = {},
  ) {
    const run = await Run.of(`--iterations 1 ${args}`, { echo });
    const lines = run.callbacks(rank);
    const totals = run.totals(rank);
    run.remove();
    expect(run.exit).toMatchObject({ code: 0, stderr: '' });
    return new Log(run, lines, eventsOf(lines), totals);
  }

  ofType(type: string): LoggedEvent[] {
    return [...this.events.values()].filter((event) => event.start.type === type);
  }

  childrenOf(parent: LoggedEvent, type: string): LoggedEvent[] {
    return this.ofType(type).filter((event) => event.start.fields.parent === String(parent.start.handle));
  }

  shapes(thread: Callback['thread']): string[] {
    return this.lines.filter((line) => line.thread === thread).map((line) => shapeOf(line, this.events));
  }
}

export const states = (event: LoggedEvent) => event.states.map(({ state }) => state);
export const stateLine = (event: LoggedEvent, state: number) =>
  event.states.find((line) => line.state === state)!;
export const field = (event: LoggedEvent, name: string) => event.start.fields[name];
