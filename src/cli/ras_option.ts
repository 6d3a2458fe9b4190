/** `--ras`: what NCCL's RAS says, beside a diagnosis. An answer that cannot be used is a problem of the diagnosis, which holds without it. */

import { RasError, type RasAnswer } from '../foreign/ras_answer.js';
import { RAS_HERE, rasDiagnosticsFrom, rasFrom, rasTextFrom } from '../foreign/ras_source.js';
import type { Diagnosis } from '../report/diagnosis.js';
import { withRas } from '../report/ras_text.js';

export { RAS_HERE };

/** `source`: a file, or HOST:PORT; undefined: RAS is not asked. `redact`: names of hosts are hidden. */
export async function besideRas(
  found: Diagnosis,
  source: string | undefined,
  redact = false,
): Promise<Diagnosis> {
  if (source === undefined) return found;
  try {
    const answer = await rasFrom(source);
    return withRas(found, redact ? withoutHosts(answer) : answer);
  } catch (error) {
    if (!(error instanceof RasError)) throw error;
    return { ...found, problems: [...found.problems, `${error.message}; RAS is left out`] };
  }
}

/** What an incident keeps: the answer of the moment, and what RAS finds on the nodes. By name of the file. */
export const rasFiles = (source: string): ReadonlyMap<string, () => Promise<string>> =>
  new Map([
    ['ras.json', () => rasTextFrom(source)],
    ['ras-diagnostics.txt', () => rasDiagnosticsFrom(source)],
  ]);

const withoutHosts = ({ communicators, ...answer }: RasAnswer): RasAnswer => ({
  ...answer,
  communicators: communicators.map((one) => ({
    ...one,
    missing: one.missing.map((gone) => ({ ...gone, host: 'a host' })),
  })),
});
