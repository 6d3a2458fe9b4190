// Compares packages for zstd: `node bench/zstd.mjs [--with DIR]`. Frames of 1 MiB of slots from samples/ are unpacked and
// packed by our package, Node's gzip for comparison, Node's own zstd (22.15 on), and of fzstd, zstd-codec and
// zstddec those installed below DIR (`npm install --prefix DIR fzstd zstd-codec zstddec`). Interleaved, medians over the rounds.
// Then each gets bad frames: it must return an error quickly, without much memory.

import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import zlib from 'node:zlib';
import * as ours from '@bokuweb/zstd-wasm';
import { decompressFrame } from '../build/modules/rankfile/zstd.js'; // initializes the package

const MiB = 1 << 20;
const ROUNDS = 9;
const withDir = process.argv[process.argv.indexOf('--with') + 1];
const require = createRequire(
  process.argv.includes('--with') ? path.resolve(withDir, 'x.js') : import.meta.url,
);

const raws = slots();
const ways = await allWays();
const times = Object.fromEntries(ways.map(({ name }) => [name, { unpack: [], pack: [] }]));
for (let round = 0; round < ROUNDS; round++)
  for (const way of ways) {
    times[way.name].unpack.push(seconds(() => way.frames.forEach((frame) => way.unpack(frame))));
    if (way.pack) times[way.name].pack.push(seconds(() => raws.forEach((raw) => way.pack(raw))));
  }
console.log(`${raws.length} MiB of slots, node ${process.version}, medians of ${ROUNDS} rounds`);
for (const { name, pack } of ways) {
  const packed = pack ? raws.reduce((sum, raw) => sum + pack(raw).length, 0) : 0;
  const packing = pack
    ? `pack ${speed(times[name].pack)} MB/s to ${((100 * packed) / (raws.length * MiB)).toFixed(1)} %`
    : '';
  console.log(`${name.padEnd(30)} unpack ${speed(times[name].unpack)} MB/s   ${packing}`);
}
for (const [what, frame, size] of hostileFrames(ways[0].frames[0]))
  console.log(`${what.padEnd(30)} ${hostile(frame, size)}`);

function slots() {
  const samples = fileURLToPath(new URL('../samples', import.meta.url));
  const files = readdirSync(samples, { recursive: true }).filter((name) => name.endsWith('.bin'));
  const all = Buffer.concat(
    files.sort().map((name) => readFileSync(path.join(samples, name)).subarray(8192)),
  );
  return Array.from({ length: Math.min(4, Math.floor(all.length / MiB)) }, (_, i) =>
    all.subarray(i * MiB, (i + 1) * MiB),
  );
}

async function allWays() {
  const frames = raws.map((raw) => ours.compress(raw, 1));
  const found = [
    {
      name: '@bokuweb/zstd-wasm level 1',
      frames,
      unpack: (f) => decompressFrame(f, MiB),
      pack: (r) => ours.compress(r, 1),
    },
  ];
  found.push({
    name: '@bokuweb/zstd-wasm level 3',
    frames,
    unpack: (f) => decompressFrame(f, MiB),
    pack: (r) => ours.compress(r, 3),
  });
  found.push({
    name: 'node gzip level 6',
    frames: raws.map((r) => zlib.gzipSync(r)),
    unpack: (f) => zlib.gunzipSync(f),
    pack: (r) => zlib.gzipSync(r),
  });
  if (zlib.zstdCompressSync) {
    const params = { [zlib.constants.ZSTD_c_compressionLevel]: 1 };
    found.push({
      name: 'node zstd level 1',
      frames,
      unpack: (f) => zlib.zstdDecompressSync(f),
      pack: (r) => zlib.zstdCompressSync(r, { params }),
    });
  }
  await tryTo('fzstd', (fzstd) => {
    const into = new Uint8Array(MiB);
    found.push({ name: 'fzstd', frames, unpack: (f) => fzstd.decompress(f, into) });
  });
  await tryTo('zstd-codec', async ({ ZstdCodec }) => {
    const simple = new (await new Promise((resolve) => ZstdCodec.run(resolve))).Simple();
    found.push({
      name: 'zstd-codec level 1',
      frames,
      unpack: (f) => simple.decompress(f),
      pack: (r) => simple.compress(r, 1),
    });
  });
  await tryTo('zstddec', async ({ ZSTDDecoder }) => {
    const decoder = new ZSTDDecoder();
    await decoder.init();
    found.push({ name: 'zstddec', frames, unpack: (f) => decoder.decode(f, MiB) });
  });
  return found;
}

async function tryTo(name, use) {
  let found;
  try {
    found = require.resolve(name);
  } catch {
    return;
  }
  await use(await import(pathToFileURL(found).href));
}

function hostileFrames(good) {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xe0]);
  const claim = (size) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(size);
    return Buffer.concat([header, bytes, good.subarray(9)]);
  };
  const bomb = ours.compress(new Uint8Array(64 * MiB), 1);
  return [
    ['cut short', good.subarray(0, good.length >> 1), MiB],
    ['claims 1 GiB', claim(1n << 30n), MiB],
    ['claims 2^63 bytes', claim(1n << 63n), MiB],
    [
      'claims 1 MiB, holds 64 MiB',
      Buffer.concat([bomb.subarray(0, 4), Buffer.from([0xa0, 0, 0, 16, 0]), bomb.subarray(10)]),
      MiB,
    ],
    ['a bit changed', Buffer.from(good).fill(good[5000] ^ 1, 5000, 5001), MiB],
  ];
}

function hostile(frame, size) {
  const before = process.memoryUsage().rss;
  const start = process.hrtime.bigint();
  const got = decompressFrame(frame, size);
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  const grown = Math.max(0, (process.memoryUsage().rss - before) / MiB);
  return `${got === null ? 'refused' : `${got.length} bytes`} in ${ms.toFixed(1)} ms, ${grown.toFixed(0)} MiB more memory`;
}

function seconds(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function speed(list) {
  const median = [...list].sort((a, b) => a - b)[list.length >> 1];
  return ((raws.length * MiB) / 1e6 / median).toFixed(0).padStart(4);
}
