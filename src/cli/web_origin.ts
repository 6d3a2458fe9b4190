/** `--origin`: the address of a Perfetto UI. */

import { InvalidArgumentError } from 'commander';
import { UsageError } from '../base/errors.js';

/** Exactly what a browser sends as Origin: scheme, host and port. */
export function webOrigin(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidArgumentError('must be a URL such as https://perfetto.example.org.');
  }
  if (!['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('must begin with http:// or https://.');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--origin ${text}: the UI must be at the root of its server; try ${url.origin}`);
  }
  return url.origin;
}
