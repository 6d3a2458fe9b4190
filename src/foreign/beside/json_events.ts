/**
 * Reads the JSON of a trace event by event, in bounded memory: `{"traceEvents": [...], ...}`, plain or packed by gzip. Numbers that a double
 * would round keep their digits (json_values.ts). A file that is cut off or damaged is refused as a whole.
 */

import { beginsWith } from '../../output/file_start.js';
import { createReadStream } from 'node:fs';
import { pipeline, Transform, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Interrupted } from '../../base/errors.js';
import { reason } from '../../base/reason.js';
import { knownAt } from '../known_files.js';
import { JsonValues, type Json } from './json_values.js';
import { Refusal } from './refusal.js';

export interface JsonListener {
  /** Each member of `traceEvents`, and its text. */
  readonly event: (event: Json, text: string) => void;
  /** One of KEPT. They may come after the events. */
  readonly member: (name: string, value: Json) => void;
}

/** Members beside `traceEvents` that are read. */
const KEPT = ['baseTimeNanoseconds', 'distributedInfo', 'host_name'];
/** Bytes of one event, and how deep its values are nested. Real ones have some kilobytes and four levels. */
const MOST_BYTES = 64 * 1024 * 1024;
const DEEPEST = 1000;
const CHUNK = 1 << 18;

/** The first byte of U+FEFF. */
const BYTE_ORDER_MARK = 0xef;

/** Throws Refusal, Interrupted. */
export async function readEvents(
  path: string,
  listener: JsonListener,
  interrupt: AbortSignal | undefined,
): Promise<void> {
  const scanner = new Scanner(path, listener);
  try {
    for await (const chunk of unpacked(path)) {
      if (interrupt?.aborted) throw new Interrupted('interrupted', String(interrupt.reason));
      scanner.write(chunk as Buffer);
    }
    scanner.end();
  } catch (error) {
    if (error instanceof Refusal || error instanceof Interrupted) throw error;
    const what = `the file is damaged or cut off (${reason(error)})`;
    const advice = 'copy it again, or export it again: some versions of PyTorch wrote names that are no JSON';
    throw new Refusal('broken', { path, what, offset: scanner.at, advice });
  }
}

function unpacked(path: string): Readable {
  const stream = createReadStream(path, { highWaterMark: CHUNK });
  if (!isPacked(path)) return stream;
  const unpack = createGunzip({ chunkSize: CHUNK });
  const out = new Transform({
    transform: (chunk, _, done) => {
      done(null, chunk);
    },
  });
  // Errors of all three reach the reader.
  pipeline(stream, unpack, out, () => undefined);
  return out;
}

const isPacked = (path: string): boolean => beginsWith(path, '\x1f\x8b');

class Scanner {
  private hasBegun = false;
  private readonly values: JsonValues;

  constructor(
    private readonly path: string,
    { event, member }: JsonListener,
  ) {
    this.values = new JsonValues({
      array: 'traceEvents',
      element: event,
      member: (name, value) => {
        if (KEPT.includes(name)) member(name, value);
      },
      check: (depth, bytes) => {
        if (depth > DEEPEST) throw this.tooLarge(`one that is nested ${DEEPEST} deep`);
        if (bytes > MOST_BYTES) throw this.tooLarge(`one of more than ${MOST_BYTES} bytes`);
      },
    });
  }

  /** Where the value begins that was read last, in unpacked bytes. */
  get at(): number {
    return this.values.newest;
  }

  write(chunk: Buffer): void {
    const isFirst = !this.hasBegun;
    this.hasBegun = true;
    if (isFirst && !/^\uFEFF?\s*\{/.test(chunk.toString('utf8', 0, 4096))) throw this.notATrace();
    this.values.write(isFirst && chunk[0] === BYTE_ORDER_MARK ? chunk.subarray(3) : chunk);
  }

  end(): void {
    if (!this.hasBegun) throw this.notATrace();
    this.values.end();
    if (!this.values.hasArray) throw this.notATrace();
  }

  private tooLarge(found: string): Refusal {
    const what = 'the file has a value that no event has';
    return new Refusal('broken', {
      path: this.path,
      what,
      offset: this.at,
      found,
      advice: 'export it again',
    });
  }

  private notATrace(): Refusal {
    return new Refusal('not-a-trace', {
      path: this.path,
      what: "not a trace of PyTorch's profiler",
      expected: 'a JSON object with "traceEvents"',
      found: knownAt(this.path)?.what,
      advice:
        'name the .json or .json.gz that export_chrome_trace or tensorboard_trace_handler wrote, or what nsys export --type sqlite made',
    });
  }
}
