/**
 * What the Perfetto UI is told to do with the trace when it has loaded it: which rows are pinned, which ranks expanded, what is selected and
 * which stretch of time is seen. It is a part of a URL; the trace carries it as an attribute, `open` puts the trace's address in front
 * of it, and without one it opens the UI for a trace that is then opened by hand. Commands and parameters are the UI's stable automation
 * API.
 */

export const PERFETTO = 'https://ui.perfetto.dev';

/** What the UI shows of pinned rows without scrolling; of more it shows the last ones. */
export const MOST_PINS = 6;

export interface FirstScreen {
  /** Paths of tracks, from the top. */
  readonly pins: readonly TrackPath[];
  /** Titles of processes. */
  readonly expand: readonly string[];
  /** ns of REALTIME; a duration of -1 is one that has not ended. */
  readonly select: { readonly ts: bigint; readonly dur: bigint } | null;
  readonly view: readonly [from: bigint, to: bigint] | null;
}

/** Names of a track and of all above it, the last one in full. Above it a name may go on: the UI adds the pid to a process's. */
export type TrackPath = readonly string[];

export interface StartupCommand {
  readonly id: string;
  readonly args: readonly string[];
}

/** Without leading "&". Rows are pinned in the order of the trace, but for the first one, which stays above all others. */
export function startupQuery({ pins, expand, select, view }: FirstScreen): string {
  const [first, ...others] = pins.slice(0, MOST_PINS).map(pathPattern);
  const commands = [
    ...(expand.length === 0 ? [] : [{ id: EXPAND, args: [openPattern(expand), 'path'] }]),
    ...[first, anyOf(others)].flatMap((pattern) =>
      pattern === undefined ? [] : [{ id: PIN, args: [pattern, 'path'] }],
    ),
  ];
  return [
    ...(select ? [`ts=${select.ts}`, `dur=${select.dur}`] : []),
    ...(view ? [`visStart=${view[0]}`, `visEnd=${view[1]}`] : []),
    ...commandsQuery(commands),
  ].join('&');
}

const anyOf = (patterns: readonly string[]): string | undefined =>
  patterns.length > 1 ? patterns.join('|') : patterns[0];

/** The query with further commands behind its own. */
export function withPins(query: string, names: readonly string[]): string {
  if (names.length === 0) return query;
  const before = new URLSearchParams(query).get('startupCommands');
  const commands = before === null ? [] : (JSON.parse(before) as StartupCommand[]);
  const more = names.map((pattern) => ({ id: PIN, args: [pattern, 'name'] }));
  const rest = query.split('&').filter((part) => part !== '' && !part.startsWith('startupCommands='));
  return [...rest, ...commandsQuery([...commands, ...more])].join('&');
}

/** `trace`: where the UI finds it; null: it is opened by hand. */
export function startupLink(origin: string, trace: string | null, query: string): string {
  const parts = [...(trace === null ? [] : [`url=${encoded(trace)}`]), query, 'referrer=nccl-trace'];
  return `${origin}/#!/?${parts.filter((part) => part !== '').join('&')}`;
}

const PIN = 'dev.perfetto.PinTracksByRegex';
const EXPAND = 'dev.perfetto.ExpandTracksByRegex';

const commandsQuery = (commands: readonly StartupCommand[]): string[] =>
  commands.length === 0 ? [] : [`startupCommands=${encoded(JSON.stringify(commands))}`];

/**
 * A path is "group > track" in the UI. As short as it can be, for links are read by people: a name that says its rank needs no process, and
 * of a communicator the id is enough.
 */
function pathPattern(path: TrackPath): string {
  const name = path.at(-1)!;
  const isOfOneRank = /^rank \d+ · /.test(name);
  const above = path.slice(0, -1).filter((_, i) => i > 0 || !isOfOneRank);
  return `${above.map((one) => `${escaped(shortest(one))}.*`).join('')}> ${escaped(name)}$`;
}

const shortest = (group: string): string => / 0x[0-9a-f]{16} /.exec(group)?.[0] ?? group.replace(/: .*/, '');

/** Processes, whatever stands behind their titles, and the group in them that holds all the rest. */
const openPattern = (titles: readonly string[]): string =>
  `^(${titles.map(escaped).join('|')})\\b[^>]*(> NCCL)?$`;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Brackets and the like as well: terminals would end the link there. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
