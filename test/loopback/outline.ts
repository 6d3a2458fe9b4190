/**
 * The callbacks of one rank without times and handles, so that two runs can be compared line by line: the calls of each thread that
 * makes host events in their order, the operations in the order of their starts with the states of all their steps, the kernels and
 * the wake-ups of the proxy as patterns. What depends on when threads meet is left out: how often a send was tried again, and whose
 * turn it was.
 */

export interface Line {
  /** 'api': the one that made the communicator; 'progress': the proxy's; others as they come. */
  readonly thread: string;
  readonly call: 'start' | 'state' | 'stop';
  /** Of a start. */
  readonly type: string;
  readonly handle: string;
  readonly parent: string;
  readonly state: number;
  /** Bytes, in the states that have them. */
  readonly value: string;
  readonly fields: Readonly<Record<string, string>>;
}

interface Event {
  readonly type: string;
  readonly label: string;
  readonly parent: Event | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly states: string[];
  readonly children: Event[];
  isStopped: boolean;
}

const HOST = ['GroupApi', 'CollApi', 'P2pApi', 'KernelLaunch', 'Group', 'Coll', 'P2p'];
/** Of host events: what a rank called, and what became of it. */
const FIELDS = [
  'depth',
  'func',
  'count',
  'datatype',
  'root',
  'peer',
  'captured',
  'seq',
  'nChannels',
  'algo',
  'proto',
];
/** Only in these a step's size is its own. */
const SIZED = [9, 11];

export function outlineOf(lines: readonly Line[]): string[] {
  const events = new Map<string, Event>();
  const host = new Map<string, string[]>();
  const roots: Event[] = [];
  const say = (thread: string, event: Event, text: string): void => {
    if (!HOST.includes(event.type)) return;
    host.set(thread, [...(host.get(thread) ?? []), text]);
  };
  for (const { thread, call, type, handle, parent, state, value, fields } of lines) {
    if (call === 'start') {
      const above = events.get(parent);
      const event = {
        type,
        label: labelOf(type, fields),
        parent: above,
        fields,
        states: [],
        children: [],
        isStopped: false,
      };
      events.set(handle, event);
      (above !== undefined && !HOST.includes(type) ? above.children : roots).push(event);
      say(thread, event, `start ${event.label} < ${above?.type ?? 'NULL'}`);
      continue;
    }
    const event = events.get(handle);
    if (event === undefined) continue;
    if (call === 'stop') {
      event.isStopped = true;
      say(thread, event, `stop ${event.type}`);
      continue;
    }
    const isAgain = state === 20 && event.states.at(-1) === '20';
    if (!isAgain) event.states.push(SIZED.includes(state) ? `${state}(${value})` : String(state));
    say(thread, event, `state ${event.type} ${state}`);
  }
  const threads = [...host].sort(([a], [b]) => Number(b === 'api') - Number(a === 'api'));
  return [
    ...threads.flatMap(([thread, said], i) => [`= ${thread === 'api' ? 'api' : `other ${i}`}`, ...said]),
    '= operations',
    ...operationsOf(roots),
    '= kernels',
    ...roots.flatMap(kernelsOf),
    '= proxy',
    ...[
      ...new Set(roots.filter(({ type }) => type === 'ProxyCtrl').map(({ states }) => states.join(' '))),
    ].sort(),
  ];
}

function labelOf(type: string, fields: Readonly<Record<string, string>>): string {
  return [type, ...FIELDS.filter((name) => name in fields).map((name) => `${name}=${fields[name]}`)].join(
    ' ',
  );
}

const tasksOf = (roots: readonly Event[]): Event[] =>
  roots.filter(({ type }) => type === 'Coll' || type === 'P2p');
const nameOf = ({ fields }: Event, at: number): string => `${at} ${fields.func}`;

/** Task by task, in the order of the operations' starts. */
function operationsOf(roots: readonly Event[]): string[] {
  return tasksOf(roots).flatMap((task, at) =>
    task.children
      .filter(({ type }) => type === 'ProxyOp')
      .map(({ fields, states, children, isStopped }) => {
        const { channel, peer, nSteps, chunkSize, isSend } = fields;
        const way = `ch ${channel} ${isSend === '1' ? 'to' : 'from'} ${peer}`;
        const said = [...states, isStopped ? 'stop' : 'open'].join(' ');
        return `${nameOf(task, at)}: ${way}, ${nSteps} steps of ${chunkSize}, ${said}: ${stepsOf(children)}`;
      }),
  );
}

/** Equal ones in a row once. */
function stepsOf(steps: readonly Event[]): string {
  const runs: { text: string; count: number }[] = [];
  for (const { states, isStopped } of steps) {
    const text = [...states, isStopped ? 'stop' : 'open'].join(' ');
    const last = runs.at(-1);
    if (last?.text === text) last.count++;
    else runs.push({ text, count: 1 });
  }
  const isInOrder = steps.every(({ fields }, at) => fields.step === String(at));
  return `${runs.map(({ text, count }) => `${count} x ${text}`).join(', ')}${isInOrder ? '' : ' OUT OF ORDER'}`;
}

function kernelsOf(event: Event, _: number, roots: readonly Event[]): string[] {
  const index = tasksOf(roots).indexOf(event);
  return event.children
    .filter(({ type }) => type === 'KernelCh')
    .sort((a, b) => Number(a.fields.channel) - Number(b.fields.channel))
    .map(({ fields, states, isStopped }) => {
      const said = [...states, isStopped ? 'stop' : 'open'].join(' ');
      return `${nameOf(event, index)}: ch ${fields.channel} ${said}`;
    });
}
