// Prints the first screen of the Perfetto UI, read from the trace's packets and its startup commands: the pinned rows, the titles and
// order of the groups below, the flag on the time axis, and the visible time. Rules as seen in UI v58: pinned rows are above all others, in the
// order in which commands pin them. A row is shown by its own name, a process by its name and pid.
//
//   node scripts/first_screen.mjs TRACE   (.pftrace)

import { readFileSync } from 'node:fs';
import { URLSearchParams } from 'node:url';

const REALTIME = 1;
const [BEGIN, END, INSTANT] = [1, 2, 3];
const CLEARED = 1;

/** Characters that have room in the names' column, at its usual width. */
const ROW_CHARACTERS = 36;

/** Tracks by uuid, each with its slices; times in ns since `start`. What never ended ends with the trace and is `isOpen`. */
function readTrace(perfetto, bytes) {
  const tracks = new Map();
  const sequences = new Map();
  const attributes = {};
  let start;
  let last = 0;
  for (const packet of perfetto.protos.Trace.decode(bytes).packet) {
    const id = packet.trustedPacketSequenceId;
    if (((packet.sequenceFlags ?? 0) & CLEARED) !== 0)
      sequences.set(id, { now: 0n, names: new Map(), clock: REALTIME, clocks: new Map() });
    const sequence = sequences.get(id);
    if (packet.tracePacketDefaults?.timestampClockId)
      sequence.clock = packet.tracePacketDefaults.timestampClockId;
    for (const { iid, name } of packet.internedData?.eventNames ?? []) sequence.names.set(Number(iid), name);
    if (packet.clockSnapshot) readClocks(sequence, packet.clockSnapshot.clocks);
    start ??= sequence?.now;
    for (const { key, stringValue } of packet.traceAttributes?.attribute ?? []) attributes[key] = stringValue;
    const descriptor = packet.trackDescriptor;
    if (descriptor)
      tracks.set(String(descriptor.uuid), { ...title(descriptor), slices: [], open: [], samples: 0 });
    if (!sequence || packet.timestamp === null || packet.timestamp === undefined) continue;
    const stamp = BigInt(packet.timestamp.toString());
    const clock = sequence.clocks.get(packet.timestampClockId || sequence.clock);
    const at = clock?.isIncremental ? (sequence.now += stamp) : stamp + (clock?.offset ?? 0n);
    const event = packet.trackEvent;
    if (!event) continue;
    const track = tracks.get(String(event.trackUuid));
    const now = Number(at - start);
    last = Math.max(last, now);
    const name = event.name || sequence.names.get(Number(event.nameIid));
    if (event.type === BEGIN) track.open.push({ name, from: now, depth: track.open.length });
    else if (event.type === END) track.slices.push({ ...track.open.pop(), to: now });
    else if (event.type === INSTANT)
      track.slices.push({ name, from: now, to: now, depth: track.open.length });
    else track.samples++;
  }
  for (const track of tracks.values())
    track.slices.push(...track.open.map((slice) => ({ ...slice, to: last, isOpen: true })));
  return { tracks, attributes, start, last };
}

/** Of a sequence: one clock counts on from packet to packet, the other from the start of the trace. */
function readClocks(sequence, clocks) {
  const realtime = BigInt(clocks.find(({ clockId }) => clockId === REALTIME).timestamp.toString());
  sequence.now = realtime;
  for (const { clockId, timestamp, isIncremental } of clocks)
    if (clockId !== REALTIME)
      sequence.clocks.set(clockId, { isIncremental, offset: realtime - BigInt(timestamp.toString()) });
}

const title = ({ name, process, parentUuid, siblingOrderRank }) => ({
  name: process?.processName ?? name ?? '',
  pid: process?.pid ?? null,
  isProcess: Boolean(process),
  rank: siblingOrderRank ?? 0,
  parent: String(parentUuid || '') === '0' ? '' : String(parentUuid ?? ''),
});

function firstScreen({ tracks, attributes, start, last }) {
  const rows = inOrder(tracks);
  const query = new URLSearchParams(attributes['nccl_trace.startup'] ?? '');
  const commands = JSON.parse(query.get('startupCommands') ?? '[]');
  const matching = (verb) =>
    commands
      .filter(({ id }) => id === `dev.perfetto.${verb}TracksByRegex`)
      .flatMap(({ args: [pattern] }) => rows.filter(({ path }) => new RegExp(pattern).test(path)));
  const expanded = new Set(matching('Expand').map(({ uuid }) => uuid));
  const time = (key, other) => (query.has(key) ? Number(BigInt(query.get(key)) - start) : other);
  const view = [time('visStart', 0), time('visEnd', last)];
  const ofVerb = (verb) => commands.filter(({ id }) => id === `dev.perfetto.${verb}`).map(({ args }) => args);
  const notes = ofVerb('AddNoteAtTimestamp').map(([ts, text]) => ({ at: Number(BigInt(ts) - start), text }));
  return {
    pins: matching('Pin').map(({ name, slices }) => ({ name, slices: inView(slices, view) })),
    groups: rows
      .filter(({ depth }) => depth === 0)
      .map(({ uuid, name }) => ({ name, isExpanded: expanded.has(uuid), slices: below(rows, uuid, view) })),
    view,
    notes,
    tabs: ofVerb('RunQueryAndShowTab').map(([, name]) => name),
  };
}

/** Groups without a process first, then the processes; siblings by their ranks; what holds nothing is not shown. */
function inOrder(tracks) {
  const children = new Map();
  for (const [uuid, { parent }] of tracks) children.set(parent, [...(children.get(parent) ?? []), uuid]);
  const isShown = (uuid) => {
    const { slices, samples } = tracks.get(uuid);
    return slices.length + samples > 0 || (children.get(uuid) ?? []).some(isShown);
  };
  const walk = (uuids, above, top) =>
    uuids
      .filter((uuid) => uuid !== '0' && isShown(uuid))
      .sort((a, b) => place(tracks.get(a)) - place(tracks.get(b)))
      .flatMap((uuid) => {
        const { name, pid, slices } = tracks.get(uuid);
        const path = [...above, pid === null ? name : `${name} ${pid}`];
        const root = top ?? uuid;
        const row = { uuid, root, name, path: path.join(' > '), depth: above.length, slices };
        return [row, ...walk(children.get(uuid) ?? [], path, root)];
      });
  return walk(children.get('') ?? [], [], null);
}

const place = ({ isProcess, rank }) => (isProcess ? 2 ** 32 : 0) + rank;

const inView = (slices, [from, to]) => slices.filter((slice) => slice.to >= from && slice.from <= to);

const below = (rows, uuid, view) =>
  rows.filter((row) => row.root === uuid && row.depth > 0).flatMap(({ slices }) => inView(slices, view));

/** As lines of text. */
function screenText({ pins, groups, view: [from, to], notes, tabs }) {
  const ms = (ns) => (ns / 1e6).toFixed(1);
  return [
    `view ${ms(from)} to ${ms(to)} ms`,
    ...notes.map(({ at, text }) => `flag at ${ms(at)} ms: ${text}`),
    ...tabs.map((name) => `tab ${name}`),
    'pinned',
    ...pins.map(({ name, slices }) => `  ${name.padEnd(ROW_CHARACTERS)} ${shownIn(slices)}`.trimEnd()),
    'below',
    ...folded(groups).map((line) => `  ${line}`),
    '',
  ].join('\n');
}

/** Ranks whose title says nothing of them are closed and alike: more than three in a row are one line. */
function folded(groups) {
  const lines = [];
  const isAlike = ({ name, isExpanded }) => !isExpanded && /^rank \d+( · [^A-Z]*)?$/.test(name);
  for (let from = 0; from < groups.length;) {
    let to = from;
    while (to < groups.length && isAlike(groups[to])) to++;
    if (to - from > 3)
      lines.push(`> ${groups[from].name} and ${to - from - 1} more, to ${groups[to - 1].name}`);
    else to = from + 1;
    if (to === from + 1) lines.push(`${groups[from].isExpanded ? 'v' : '>'} ${groups[from].name}`);
    from = to;
  }
  return lines;
}

function shownIn(slices) {
  const names = [...new Set(slices.filter(({ depth }) => depth === 0).map(({ name }) => name))];
  return names.slice(0, 3).join(' | ') + (names.length > 3 ? ' | ...' : '');
}

const { perfetto } = await import(new URL('../src/trace/perfetto/generated/protos.js', import.meta.url).href);
process.stdout.write(screenText(firstScreen(readTrace(perfetto, readFileSync(process.argv[2])))));
