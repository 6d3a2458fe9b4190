/**
 * The stack of a bug, in lines of src/. The program is a bundle. Node reads the bundle's source maps only with --enable-source-maps, and
 * then at every start. This code reads them only when there is a bug.
 */

import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectFile } from '../base/project.js';
import { kernelFile } from '../kernel/host/file.js';

/** As Node writes a place: "file:///…/dist/cli/main.js:12:3456". */
const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;

/** As Node writes a function of the kernel: "src/kernel/rows/rowAt (wasm://wasm/7f01ab23:wasm-function[2]:0x7d)". */
const KERNEL_PLACE = /(?<= (?:src\/kernel|~lib)\/\S+ \()wasm:[^\s()]+:0x([0-9a-f]+)/g;

/** Undefined: the error has no stack. */
export function stackInSources(error: Error): string | undefined {
  return error.stack
    ?.replace(KERNEL_PLACE, kernelPlace)
    .replace(PLACE, (place, url: string, line: string, column: string) => {
      const file = fileURLToPath(url);
      // Places count from 1, maps from 0.
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return place;
      const source = relative('', resolve(dirname(file), entry.originalSource));
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    });
}

/** How many bytes before a place may show its line: code that the optimizer made has none. */
const NEAR = 64;

/** A map of WebAssembly has one line, and its columns are bytes. */
function kernelPlace(place: string, offset: string): string {
  const map = mapOf(kernelFile());
  const at = parseInt(offset, 16);
  for (let byte = at; map !== undefined && byte > at - NEAR; byte--) {
    const entry = map.findEntry(0, byte) as Partial<SourceMapping>;
    const { originalSource: name, originalLine, originalColumn } = entry;
    if (name === undefined || originalLine === undefined || originalColumn === undefined) continue;
    const source = name.startsWith('~lib') ? name : relative('', projectFile(name));
    return `${source}:${originalLine + 1}:${originalColumn + 1}`;
  }
  return place;
}

function mapOf(file: string): SourceMap | undefined {
  const map = `${file}.map`;
  if (!existsSync(map)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(map, 'utf8')) as SourceMapPayload);
}
