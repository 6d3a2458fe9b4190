// Draws docs/straggler.svg: the first screen of a merged sample, from the trace's own packets, in the layout of
// the Perfetto UI. A picture of the UI itself cannot be made where there is no network; this one can be made again anywhere.
//
//   node scripts/picture.mjs                  writes docs/straggler.svg
//   node scripts/picture.mjs --check          fails if that is not what the sample gives now
//   node scripts/picture.mjs --screen TRACE   prints what the UI shows first of a trace (.pftrace): pinned rows, groups, selection

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstScreen, readTrace, screenText } from './first_screen.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = path.join(root, 'docs/straggler.svg');
const { perfetto } = await import(new URL('../src/trace/perfetto/generated/protos.js', import.meta.url).href);

function mergedSample(name) {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-picture-'));
  try {
    const output = path.join(folder, 'trace.pftrace');
    const words = [
      path.join(root, 'bin/nccl-trace.js'),
      'merge',
      path.join(root, 'samples', name),
      '-qo',
      output,
    ];
    execFileSync(process.execPath, words);
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function draw(tracks) {
  const rows = rowsOf(tracks);
  const last = Math.max(...rows.flatMap(({ slices = [] }) => slices.map(({ to }) => to)));
  const [left, width, top, height] = [250, 960, 34, 20];
  const x = (ns) => left + (ns / last) * (width - left - 10);
  const body = rows.map(({ words, head, slices = [] }, i) => {
    const y = top + i * height;
    const frame = `<rect x="0" y="${y}" width="${width}" height="${height}" fill="${head ? '#262f3c' : i % 2 ? '#f4f8fa' : '#fff'}"/>`;
    const label = `<text x="${head ? 8 : 22}" y="${y + 14}" fill="${head ? '#fff' : '#222'}">${escape(words)}</text>`;
    return frame + label + slices.map((slice) => bar(slice, x, y, height)).join('');
  });
  const tick = 20e6;
  const ticks = Array.from({ length: Math.ceil(last / tick) }, (_, i) => i * tick);
  const axis = ticks.map(
    (ns) =>
      `<line x1="${x(ns).toFixed(1)}" x2="${x(ns).toFixed(1)}" y1="22" y2="${top + rows.length * height}" stroke="#ccd3d8"/>` +
      `<text x="${(x(ns) + 3).toFixed(1)}" y="18" fill="#555">${(ns / 1e6).toFixed(0)} ms</text>`,
  );
  const total = top + rows.length * height + 6;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" font-family="Roboto, Helvetica, sans-serif" font-size="11">\n` +
    `<rect width="${width}" height="${total}" fill="#fff"/>\n${body.join('\n')}\n${axis.join('')}\n</svg>\n`
  );
}

/** The cluster's lane, and of each rank its collectives and where one connection's steps waited. */
function rowsOf(tracks) {
  const all = [...tracks].map(([uuid, track]) => ({ uuid, ...track }));
  const above = (track) =>
    tracks.has(track.parent) ? [track.parent, ...above(tracks.get(track.parent))] : [];
  const lanes = all.filter(
    ({ name, parent }) => tracks.get(parent)?.name.startsWith('Cluster') && /\(\d+ ranks\)$/.test(name),
  );
  const rows = [
    { words: 'Cluster', head: true },
    ...lanes.map(({ name, slices }) => ({ words: name, slices })),
  ];
  for (const rank of all.filter(({ isProcess }) => isProcess).sort((a, b) => a.rank - b.rank)) {
    const own = all.filter((track) => above(track).includes(rank.uuid));
    rows.push({ words: rank.name, head: true });
    const named = (pattern) => own.filter(({ name }) => pattern.test(name));
    for (const { name, slices } of named(/ · collectives$/)) rows.push({ words: name, slices });
    for (const { uuid, name } of named(/ · ch00 recv from \d+$/)) {
      const steps = own.filter((track) => track.parent === uuid);
      rows.push({
        words: `${name}: waits`,
        slices: steps.flatMap(({ slices }) => slices.filter(({ name: word }) => word in WAITS)),
      });
    }
  }
  return rows;
}

const WAITS = { 'recv wait': '#d1495b', 'GPU wait': '#9aa5b1', 'flush wait': '#edae49' };

function bar({ name, from, to, depth }, x, y, height) {
  const width = Math.max(0.5, x(to) - x(from));
  const colour = WAITS[name] ?? '#3d6fb4';
  const box = `<rect x="${x(from).toFixed(1)}" y="${y + 3}" width="${width.toFixed(1)}" height="${height - 6}" fill="${colour}"${depth > 0 ? ' opacity="0.8"' : ''}/>`;
  const room = width > name.length * 6.2 + 6;
  return room
    ? `${box}<text x="${(x(from) + 4).toFixed(1)}" y="${y + 14}" fill="#fff">${escape(name)}</text>`
    : box;
}

function escape(text) {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

const [mode, trace] = process.argv.slice(2);
if (mode === '--screen') {
  process.stdout.write(screenText(firstScreen(readTrace(perfetto, readFileSync(trace)))));
} else {
  const finished = ({ tracks }) => {
    for (const track of tracks.values())
      track.slices = track.slices.filter(({ from, to, isOpen }) => to > from && !isOpen);
    return tracks;
  };
  const picture = draw(finished(readTrace(perfetto, mergedSample('straggler'))));
  if (mode !== '--check') writeFileSync(target, picture);
  else if (readFileSync(target, 'utf8') !== picture) {
    process.stderr.write('docs/straggler.svg is not what its sample gives: node scripts/picture.mjs\n');
    process.exitCode = 1;
  }
}
