/**
 * Saves the trace in the page as a file, or hands it to the Perfetto UI in a new tab. The UI answers PING with PONG when it can take a
 * trace. It loses messages that come earlier. Nothing is uploaded: the trace goes from one tab to the other.
 */

export interface CarriedTrace {
  readonly fileName: string;
  /** Origin of the Perfetto UI, such as https://ui.perfetto.dev. */
  readonly origin: string;
  /** How the UI shows it first: a part of its address. */
  readonly startup: string;
  readonly traceStart: string;
}

/** ns of the trace; null: as `startup` says. */
export type View = readonly [from: number, to: number] | null;

const PING_MS = 50;
const GIVE_UP_MS = 120_000;

export function openTrace(trace: CarriedTrace, title: string, view: View, say: (text: string) => void): void {
  const ui = window.open(addressOf(trace, view));
  if (!ui) {
    say(
      'The browser did not let this page open a tab. Allow it, or save the trace and open it in the Perfetto UI.',
    );
    return;
  }
  say('Waiting for the Perfetto UI. It asks once whether it may open a trace from this page: answer Yes.');
  const timer = setInterval(() => {
    ui.postMessage('PING', trace.origin);
  }, PING_MS);
  const giveUp = setTimeout(() => {
    stop();
    say(`${trace.origin} did not answer. Save the trace and open it there by hand.`);
  }, GIVE_UP_MS);
  function stop(): void {
    clearInterval(timer);
    clearTimeout(giveUp);
    window.removeEventListener('message', answered);
  }
  function answered({ source, data }: MessageEvent<unknown>): void {
    if (source !== ui || data !== 'PONG') return;
    stop();
    const { buffer } = bytesOf();
    const message = { perfetto: { buffer, title, fileName: trace.fileName, localOnly: true } };
    ui!.postMessage(message, trace.origin, [buffer]);
    say('');
  }
  window.addEventListener('message', answered);
}

/** The address contains the pinned rows and the time to show. */
export function addressOf({ origin, startup, traceStart }: CarriedTrace, view: View): string {
  const own = view
    ? ['visStart', 'visEnd'].map((name, i) => `${name}=${BigInt(traceStart) + BigInt(Math.round(view[i]!))}`)
    : [];
  const isReplaced = (part: string): boolean => view !== null && /^(visStart|visEnd|ts|dur)=/.test(part);
  const parts = [...own, ...startup.split('&').filter((part) => part !== '' && !isReplaced(part))];
  return `${origin}/#!/?${[...parts, 'referrer=nccl-trace'].join('&')}`;
}

export function saveTrace({ fileName }: CarriedTrace): void {
  const url = URL.createObjectURL(new Blob([bytesOf()], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}

function bytesOf(): Uint8Array<ArrayBuffer> {
  const text = atob(document.getElementById('trace')?.textContent ?? '');
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
