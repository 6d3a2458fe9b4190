/**
 * The part of a URL that says what the Perfetto UI shows when it has loaded the trace: pinned rows, expanded ranks, the selection and the
 * time. The trace has the URL as an attribute. `open` adds the trace's address. Without an address the user opens the trace by hand.
 * Commands and parameters are the UI's stable automation API.
 */

export const PERFETTO = 'https://ui.perfetto.dev';

/** Pinned rows that the UI shows without scrolling. With more it shows the last ones. */
export const MOST_PINS = 6;

export interface FirstScreen {
  /** Paths of tracks, from the top. */
  readonly pins: readonly TrackPath[];
  /** Titles of processes. */
  readonly expand: readonly string[];
  /** The time to show, ns of REALTIME. null: all. */
  readonly view: readonly [from: bigint, to: bigint] | null;
  /** A flag on the time axis. */
  readonly note: { readonly ts: bigint; readonly text: string } | null;
}

/**
 * Names of a track and of all above it, the last one complete. The others may be prefixes, because the UI adds the pid to a process's name.
 */
export type TrackPath = readonly string[];

export interface StartupCommand {
  readonly id: string;
  readonly args: readonly string[];
}

/**
 * Without leading "&". Rows are pinned in the order of the trace, except that the first one stays on top.
 *
 * Nothing is selected. The UI (v58) looks for a selected slice while it zooms, and when it has found the slice, it pans at the zoom of that
 * moment: which of the two wins is a race. The verdict's row is on top, so its slice, with the report and the arrow, is one click away.
 */
export function startupQuery({ pins, expand, view, note }: FirstScreen): string {
  const [first, ...others] = pins.slice(0, MOST_PINS).map(pathPattern);
  const commands = [
    ...(expand.length === 0 ? [] : [{ id: EXPAND, args: [openPattern(expand), 'path'] }]),
    ...[first, anyOf(others)].flatMap((pattern) =>
      pattern === undefined ? [] : [{ id: PIN, args: [pattern, 'path'] }],
    ),
    ...(note === null ? [] : [{ id: NOTE, args: [String(note.ts), note.text] }]),
    { id: SHOW_QUERY, args: REPORT_TAB },
  ];
  return [...(view ? [`visStart=${view[0]}`, `visEnd=${view[1]}`] : []), ...commandsQuery(commands)].join(
    '&',
  );
}

const anyOf = (patterns: readonly string[]): string | undefined =>
  patterns.length > 1 ? patterns.join('|') : patterns[0];

/** Adds commands after the query's own. */
export function withPins(query: string, names: readonly string[]): string {
  if (names.length === 0) return query;
  const before = new URLSearchParams(query).get('startupCommands');
  const commands = before === null ? [] : (JSON.parse(before) as StartupCommand[]);
  const more = names.map((pattern) => ({ id: PIN, args: [pattern, 'name'] }));
  const rest = query.split('&').filter((part) => part !== '' && !part.startsWith('startupCommands='));
  return [...rest, ...commandsQuery([...commands, ...more])].join('&');
}

/** What `startupQuery` can have written, of a text that was found in a trace. A trace from elsewhere must not choose what the UI runs. */
export function knownQuery(text: string): string {
  const found = new URLSearchParams(text);
  const numbers = ['visStart', 'visEnd'].flatMap((name) => {
    const value = found.get(name) ?? '';
    return /^-?\d{1,19}$/.test(value) ? [`${name}=${value}`] : [];
  });
  return [...numbers, ...commandsQuery(commandsIn(found.get('startupCommands') ?? '[]'))].join('&');
}

function commandsIn(text: string): StartupCommand[] {
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.filter(isKnown) : [];
  } catch {
    return [];
  }
}

function isKnown(found: unknown): found is StartupCommand {
  const { id, args, ...others } = (found ?? {}) as { readonly id?: unknown; readonly args?: unknown };
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string')) return false;
  if (Object.keys(others).length > 0) return false;
  if (id === SHOW_QUERY) return args.join() === REPORT_TAB.join();
  if (id === NOTE) return args.length === 2 && /^\d{1,19}$/.test(args[0]!) && NOTE_TEXT.test(args[1]!);
  return (id === PIN || id === EXPAND) && args.length === 2 && args[1] === 'path';
}

/** `trace`: its address for the UI; null: opened by hand. */
export function startupLink(origin: string, trace: string | null, query: string): string {
  const parts = [...(trace === null ? [] : [`url=${encoded(trace)}`]), query, 'referrer=nccl-trace'];
  return `${origin}/#!/?${parts.filter((part) => part !== '').join('&')}`;
}

const PIN = 'dev.perfetto.PinTracksByRegex';
const EXPAND = 'dev.perfetto.ExpandTracksByRegex';
const NOTE = 'dev.perfetto.AddNoteAtTimestamp';
const SHOW_QUERY = 'dev.perfetto.RunQueryAndShowTab';

/** "19:02:00.123 HUNG" */
const NOTE_TEXT = /^\d\d:\d\d:\d\d\.\d{3} [A-Z]{4,}[A-Z ]{0,20}$/;

/** The report: the arguments of the verdict's slice (trace/tracks/verdict_track.ts). The UI prints the query beside the title. */
const REPORT_TAB = [
  "SELECT string_value AS report FROM args WHERE key GLOB 'debug.line*' ORDER BY key",
  'Report',
] as const;

const commandsQuery = (commands: readonly StartupCommand[]): string[] =>
  commands.length === 0 ? [] : [`startupCommands=${encoded(JSON.stringify(commands))}`];

/**
 * A path is "group > track" in the UI. The pattern is short, because people read links. A track whose name contains its rank needs no
 * process, and a communicator needs only its id.
 */
function pathPattern(path: TrackPath): string {
  const name = path.at(-1)!;
  const isOfOneRank = /^rank \d+ · /.test(name);
  const above = path.slice(0, -1).filter((_, i) => i > 0 || !isOfOneRank);
  return `${above.map((one) => `${escaped(shortest(one))}.*`).join('')}> ${escaped(name)}$`;
}

const shortest = (group: string): string => / 0x[0-9a-f]{16} /.exec(group)?.[0] ?? group.replace(/: .*/, '');

/** Matches processes by the beginning of their names, and their main group. */
const openPattern = (titles: readonly string[]): string =>
  `^(${titles.map(escaped).join('|')})\\b[^>]*(> NCCL)?$`;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Also encodes brackets and similar characters, because terminals end a link there. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
