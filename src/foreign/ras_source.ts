/**
 * Gets answers of RAS: from a file, or from a process of the job (port 28028, NCCL's own protocol). A server may stall, cut or lie, so time
 * and size are limited.
 */

import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { RasError, readRas, type RasAnswer } from './ras_answer.js';

const PORT = 28028;
export const RAS_HERE = `localhost:${PORT}`;
/** RAS itself waits 5 s for the processes of a job, and once more. */
const PATIENCE_MS = 20_000;
/** An answer on 512 ranks has 1.2 MB. */
const MOST_BYTES = 64 * 2 ** 20;

/** `source`: a file, HOST:PORT or HOST. Throws RasError, whose message begins with the source. */
export const rasFrom = (source: string, patienceMs = PATIENCE_MS): Promise<RasAnswer> =>
  from(source, async () => readRas(await statusText(source, patienceMs)));

/** The JSON as RAS sent it, if it is whole. Throws as rasFrom. */
export const rasTextFrom = (source: string, patienceMs = PATIENCE_MS): Promise<string> =>
  from(source, async () => {
    const text = await statusText(source, patienceMs);
    readRas(text);
    return text;
  });

/**
 * What NCCL 2.31 and newer find on all nodes of the job (`ncclras -D`): GPUs, drivers, ECC, NVLink, XIDs, differences of the environment. As text,
 * which is all that RAS has. Throws as rasFrom, also for an older NCCL.
 */
export const rasDiagnosticsFrom = (source: string, patienceMs = PATIENCE_MS): Promise<string> =>
  from(source, async () => {
    if (isFile(source)) throw new RasError('is a file, which cannot be asked for diagnostics');
    const text = await asked(source, patienceMs, STEPS.slice(0, 2), 'DIAGNOSTICS\n');
    if (!text.includes('RAS diagnostics completed in ')) throw new RasError('its diagnostics are cut off');
    return text;
  });

const statusText = (source: string, patienceMs: number): string | Promise<string> =>
  isFile(source) ? fileText(source) : asked(source, patienceMs, STEPS, 'VERBOSE STATUS\n');

async function from<T>(source: string, get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!(error instanceof RasError) && !('code' in error)) throw error;
    const why = error instanceof RasError ? error.message : `cannot be read (${String(error.code)})`;
    throw new RasError(`${source}: ${why}`, { cause: error });
  }
}

const isFile = (source: string): boolean => statSync(source, { throwIfNoEntry: false })?.isFile() === true;

function fileText(path: string): string {
  if (statSync(path).size > MOST_BYTES) throw new RasError('is larger than 64 MiB');
  return readFileSync(path, 'utf8');
}

/** What is sent first, and what must come before the next. */
const STEPS: readonly { readonly say: string; readonly expect: RegExp }[] = [
  { say: 'CLIENT PROTOCOL 2\n', expect: /^SERVER PROTOCOL \d+$/i },
  { say: 'TIMEOUT 5\n', expect: /^OK$/i },
  { say: 'SET FORMAT json\n', expect: /^OK$/i },
];

/** The answer to `last` ends when the server closes. */
function asked(source: string, patienceMs: number, steps: typeof STEPS, last: string): Promise<string> {
  const [, host = '', port = ''] = /^\[?([^\]]*?)\]?(?::(\d{1,5}))?$/.exec(source) ?? [];
  if (host === '' || Number(port) > 65_535)
    throw new RasError(`is no file, and no HOST:PORT of RAS (${RAS_HERE})`);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: port === '' ? PORT : Number(port) });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new RasError(why));
    };
    const timer = setTimeout(() => {
      fail(`RAS did not answer in full within ${patienceMs / 1000} s`);
    }, patienceMs);
    let [step, received] = [0, Buffer.alloc(0)];
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.on('connect', () => socket.write(steps[0]!.say));
    socket.on('data', (chunk) => {
      if ((bytes += chunk.length) > MOST_BYTES) fail('its answer is larger than 64 MiB');
      received = step === steps.length ? chunk : Buffer.concat([received, chunk]);
      for (let end = received.indexOf('\n'); end >= 0 && step < steps.length; end = received.indexOf('\n')) {
        const line = received.subarray(0, end).toString('latin1').trim();
        received = received.subarray(end + 1);
        if (!steps[step]!.expect.test(line)) {
          fail(`is no RAS, or refuses JSON: it says "${shown(line)}"`);
          return;
        }
        socket.write(steps[++step]?.say ?? last);
      }
      if (step === steps.length) {
        chunks.push(received);
        // It keeps the connection after a command that it does not know.
        const refusal = /^(?:ERROR|BUSY): .*(?=\r?\n)/.exec(
          Buffer.concat(chunks.slice(0, 4)).toString('latin1'),
        );
        if (refusal) fail(`RAS refuses: it says "${shown(refusal[0])}"`);
      } else if (received.length > 4096) fail('is no RAS: its first line does not end');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fail(`RAS cannot be reached (${error.code}); NCCL_RAS_ENABLE and NCCL_RAS_ADDR say where it listens`);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      if (step < steps.length) reject(new RasError('is no RAS: it closed before it answered'));
      else resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

const shown = (line: string): string => line.replace(/[^\x20-\x7e]/g, '?').slice(0, 60);
