/**
 * The stack of a bug, in lines of src/. The program is a bundle. Node reads the bundle's source maps only with --enable-source-maps, and
 * then at every start. This code reads them only when there is a bug.
 */

import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** As Node writes a place: "file:///…/dist/cli/main.js:12:3456". */
const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;

/** Undefined: the error has no stack. */
export function stackInSources(error: Error): string | undefined {
  return error.stack?.replace(PLACE, (place, url: string, line: string, column: string) => {
    const file = fileURLToPath(url);
    // Places count from 1, maps from 0.
    const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return place;
    const source = relative('', resolve(dirname(file), entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  const map = `${file}.map`;
  if (!existsSync(map)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(map, 'utf8')) as SourceMapPayload);
}
