/** The log of a recording under NCCL's own host code (`tee/`: one line per callback) as lines for outline.ts. */

import type { Line } from './outline.js';

const NAMES: Readonly<Record<string, string>> = {
  dt: 'datatype',
  graph: 'captured',
  nch: 'nChannels',
  ch: 'channel',
  chunk: 'chunkSize',
};

/** `comms`: of these communicators alone, by name. */
export function teeLines(text: string, comms: readonly string[]): Line[] {
  const contexts = new Set<string>();
  const known = new Set<string>();
  const threads = new Map<string, string>();
  const lines: Line[] = [];
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, thread = '', , call = '', ...words] = line.split(' ');
    const fields = Object.fromEntries(
      words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]),
    );
    if (call === 'I') {
      threads.set(thread, 'api');
      if (comms.includes(fields.name ?? '')) contexts.add(fields.ctx ?? '');
    }
    const type = call === 'S' ? (words.find((word) => !word.includes('=')) ?? '') : '';
    if (['ProxyCtrl', 'ProxyOp'].includes(type)) threads.set(thread, 'progress');
    const handle = fields.h ?? '';
    if (call === 'S') {
      if (contexts.has(fields.ctx ?? '')) known.add(handle);
      else known.delete(handle);
    }
    if (!known.has(handle) || !['S', 'R', 'P'].includes(call)) continue;
    const renamed = Object.entries(fields).map(([name, value]) => [NAMES[name] ?? name, value]);
    lines.push({
      thread: threads.get(thread) ?? thread,
      call: call === 'S' ? 'start' : call === 'R' ? 'state' : 'stop',
      type,
      handle,
      parent: fields.parent ?? '',
      state: Number(fields.st ?? -1),
      value: fields.v ?? '',
      fields: Object.fromEntries(renamed) as Record<string, string>,
    });
  }
  return lines;
}
