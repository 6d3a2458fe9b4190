/**
 * Who may know whom. The two tables are the architecture, row by row; the rest of this file holds the code to them
 * and shows on made-up sources that it notices when they are broken.
 */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/**
 * A room is a folder of src/, or one that is named here below it; what lies directly in src/ is the room `merge`. Every room
 * may use itself. "Types of" means `import type`: nothing of it is left at run time. "Outside" means files, threads,
 * processes and the network: a room without it consists of functions of their arguments.
 */
const LAYERS = table(`
  layer          | calls                                              | types of      | packages   | outside
  base           |                                                    |               |            | no
  kernel         |                                                    |               |            | no
  kernel/host    | base kernel/result_rows rankfile/format rankfile/folds model/roots | model rankfile |            | yes
  foreign        | base output/file_start                             |               |            | yes
  foreign/beside | base output/file_start foreign kernel/host/drawing kernel/host/drawn_rows model runs clocks cluster study/scanned_run trace trace/perfetto trace/tracks | study | node-sqlite3-wasm | yes
  rankfile       | base output/file_start kernel/host foreign/known_files |               | @bokuweb/zstd-wasm | yes
  model          | base rankfile/format kernel/result_rows                             | rankfile clocks |          | no
  runs           | base rankfile                                      | scan          |            | no
  scan           | base rankfile kernel/host kernel/result_rows model clocks/lower_hull clocks/gpu_votes |        |            | yes
  clocks         | base                                               | rankfile      |            | no
  clocks/evidence | base clocks model scan/step_file scan/step_sample scan/gpu_stamps  | rankfile scan runs |       | yes
  cluster        | base rankfile/format model clocks clocks/evidence runs scan/transfer_totals scan/time_counts |  |            | no
  verdict        | base rankfile/format model scan/read_order cluster clocks | scan runs |           | no
  trace/tracks   | base cluster model                                 |               |            | no
  trace/perfetto | base kernel/host                                   | trace/tracks model/detail | protobufjs | no
  trace          | base rankfile kernel/host model runs scan clocks cluster output verdict/facts clocks/evidence trace/tracks trace/perfetto | study verdict | fzstd | yes
  pytorch        | base verdict/facts verdict/finding foreign/known_files          | verdict       |            | yes
  analysis       | base model/work_end_table runs cluster clocks scan/transfer_totals verdict/facts verdict/finding trace | scan study trace/tracks clocks/evidence verdict | | no
  output         | base rankfile/format rankfile/addon                |               |            | yes
  study          | base rankfile model runs scan clocks clocks/evidence cluster verdict output trace export/steps |       | piscina    | yes
  report         | base foreign/ras_beside foreign/beside/with_file foreign/beside/training_steps rankfile model runs scan clocks clocks/evidence cluster verdict output trace study analysis pytorch trace/tracks/flow_census | trace/perfetto foreign foreign/beside | console-table-printer | yes
  export         | base kernel/host model rankfile runs clocks output study trace analysis report foreign/beside | clocks/evidence | parquet-wasm apache-arrow @duckdb/node-api | yes
  page/client    | base report/run_tables                             | page report analysis pytorch | chart.js | no
  page           | base output report/text report/exposed_steps       | report live foreign/beside |            | yes
  live           | base rankfile runs verdict output report clocks cluster analysis model/work_end_table model/waits | study model/pending | prom-client protobufjs @opentelemetry/api @opentelemetry/exporter-metrics-otlp-proto @opentelemetry/resources @opentelemetry/sdk-metrics | yes
  merge          | base rankfile runs clocks clocks/evidence verdict output trace trace/tracks/selection study analysis report pytorch foreign/beside |             |            | yes
  shards         | base rankfile runs model/work_end scan/step_file study output trace report pytorch merge finish | scan clocks/evidence verdict analysis | | yes
  cli            | base foreign rankfile runs output trace report export pytorch page live merge shards kernel/host/file kernel/host/memory_limit | verdict analysis foreign/beside | commander  | yes
`);

const ROOMS = new Set(LAYERS.map((row) => row.layer?.[0]));

/** Paths below native/ and tools/, by how they begin; the first row that fits counts. `standard` is what C++17 itself has. */
const NATIVE = table(`
  files            | includes                               | but not                                | system
  format/          | format/                                |                                        | standard
  nccl/            | nccl/                                  |                                        | any
  plugin/process   | plugin/process format/                 |                                        | any
  plugin/record    | plugin/record plugin/process format/   |                                        | any
  plugin/persist   | plugin/persist plugin/record plugin/process format/ |                           | any
  plugin/thread    | plugin/ format/                        | plugin/events plugin/abi plugin/plugin | any
  plugin/events    | plugin/ format/                        | plugin/abi plugin/plugin               | any
  plugin/abi       | plugin/abi plugin/events plugin/record plugin/process format/ nccl/ | plugin/plugin | any
  plugin/          | plugin/ format/ nccl/                  |                                        | any
  loopback/        | loopback/ nccl/                        |                                        | any
  addon/           | addon/ format/                         |                                        | any
  test/            | test/ plugin/ format/ nccl/            |                                        | any
  bench/           | bench/ test/ plugin/ format/ nccl/     |                                        | any
`);

/** Standard headers of C have a name with .h, those of C++ have none: <stdint.h>, <array>. No POSIX, no Linux. */
const STANDARD_HEADER =
  /^([a-z_0-9]+|(assert|ctype|errno|float|inttypes|limits|math|std[a-z]+|string|time)\.h)$/;

const OUTSIDE =
  /^node:(child_process|cluster|dgram|dns|fs|http2?|https|net|os|process|tls|worker_threads)(\/|$)/;

describe('layers', () => {
  it('of src/ are kept', () => {
    expect(typeScriptViolations(sources('src', /\.ts$/))).toEqual([]);
  });

  it('of native/ and tools/ are kept', () => {
    const files = { ...sources('native', /\.(h|cc)$/), ...sources('tools', /\.(h|cc)$/) };
    expect(nativeViolations(files)).toEqual([]);
  });

  it('of src/ have no circles', () => {
    expect(inCircles(sources('src', /\.ts$/))).toEqual([]);
    const madeUp = {
      'src/base/time.ts': '',
      'src/kernel/event.ts': `import { Track } from './track'; import { time } from '../base/time.js';`,
      'src/kernel/track.ts': `export type { Event } from './event.js';`,
      'src/kernel/draw.ts': `import type { Track } from './track';`,
    };
    expect(inCircles(madeUp)).toEqual(['src/kernel/event.ts', 'src/kernel/track.ts']);
  });

  it('of src/ would be missed if broken', () => {
    const madeUp = {
      'src/base/time.ts': `import { Ring } from '../rankfile/ring.js';`,
      'src/clocks/fit.ts': `import type { Header } from '../rankfile/file_types.js'; import { scan } from '../rankfile/scan.js';`,
      'src/model/spans.ts': `import { toTrace } from '../clocks/fit.js'; import { State } from '../rankfile/format/nccl.js';`,
      'src/trace/tracks/lanes.ts': `export { type Span } from '../../runs/run.js'; import fs from 'node:fs/promises';`,
      'src/trace/perfetto/writer.ts': `const later = () => import('../../merge.js'); type T = import('../../model/spans.js').Span;`,
      'src/study/pool.ts': `new Worker(new URL('../cli/worker.js', import.meta.url));`,
      'src/cli/inspect.ts': `import { merge } from '../merge.js'; import protobuf from 'protobufjs/minimal.js';`,
      'src/rankfile/door.ts': `import { traceNsFromClockMap } from '../base/time.js';`,
      'src/verdict/text.ts': `import { laneName } from '../trace/tracks/lanes.js';`,
      'src/kernel/steps.ts': `import { Row } from './rows'; import { Ticks } from '../base/time'; import { text } from './host/load';`,
      'src/extra/new.ts': ``,
    };
    expect(typeScriptViolations(madeUp)).toEqual([
      'src/base/time.ts: base must not call rankfile/ring',
      'src/clocks/fit.ts: clocks must not call rankfile/scan',
      'src/model/spans.ts: model must not call clocks/fit',
      'src/trace/tracks/lanes.ts: trace/tracks must not call runs/run',
      'src/trace/tracks/lanes.ts: trace/tracks must not use node:fs/promises',
      'src/trace/perfetto/writer.ts: trace/perfetto must not call merge',
      'src/trace/perfetto/writer.ts: trace/perfetto must not name types of model/spans',
      'src/study/pool.ts: study must not call cli/worker',
      'src/cli/inspect.ts: cli must not use protobufjs',
      'src/rankfile/door.ts: traceNsFromClockMap is for clocks alone',
      'src/verdict/text.ts: verdict must not call trace/tracks/lanes',
      'src/kernel/steps.ts: kernel must not call base/time',
      'src/kernel/steps.ts: kernel must not call kernel/host/load',
      'src/extra/new.ts: extra is not a layer',
    ]);
  });

  it('of native/ would be missed if broken', () => {
    const madeUp = {
      'native/format/rank_file.h': `#include <stdint.h>\n#include <atomic>\n#include <sys/mman.h>\n#include "plugin/record/ring.h"`,
      'native/plugin/record/ring.h': `#include "format/rank_file.h"\n#include "../events/recorder.h"`,
      'native/plugin/events/recorder.h': `#include "../record/ring.h"\n#include "../../nccl/profiler_abi.h"`,
      'native/plugin/process/settings.cc': `#include "plugin/record/image.h"\n  #  include "nccl/profiler_abi.h"`,
      'native/plugin/abi/v5.h': `#include "nccl/profiler_abi.h"\n// #include "loopback/world.h"`,
      'native/addon/scan.cc': `#include <node_api.h>\n#include "plugin/record/ring.h"`,
      'native/extra/new.cc': ``,
    };
    expect(nativeViolations(madeUp)).toEqual([
      'native/format/rank_file.h: must not include <sys/mman.h>',
      'native/format/rank_file.h: must not include plugin/record/ring.h',
      'native/plugin/record/ring.h: must not include plugin/events/recorder.h',
      'native/plugin/events/recorder.h: must not include nccl/profiler_abi.h',
      'native/plugin/process/settings.cc: must not include plugin/record/image.h',
      'native/plugin/process/settings.cc: must not include nccl/profiler_abi.h',
      'native/addon/scan.cc: must not include plugin/record/ring.h',
      'native/extra/new.cc: no row of the table fits',
    ]);
  });
});

// -- TypeScript ---------------------------------------------------------------------------------------------------

type Sources = Readonly<Record<string, string>>;

interface Import {
  readonly module: string;
  readonly typesOnly: boolean;
  readonly names: readonly string[];
}

function typeScriptViolations(files: Sources): string[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const layer = layerOf(file);
    const row = LAYERS.find((candidate) => candidate.layer?.[0] === layer);
    if (row === undefined) return [`${file}: ${layer} is not a layer`];
    return importsOf(file, text)
      .map((one) => violation(file, layer, row, one))
      .filter((words) => words !== undefined)
      .map((words) => `${file}: ${words}`);
  });
}

function violation(
  file: string,
  layer: string,
  row: Row,
  { module, typesOnly, names }: Import,
): string | undefined {
  if (!module.startsWith('.')) {
    if (module.startsWith('node:')) {
      return OUTSIDE.test(module) && row.outside?.[0] !== 'yes'
        ? `${layer} must not use ${module}`
        : undefined;
    }
    const owner = module
      .split('/')
      .slice(0, module.startsWith('@') ? 2 : 1)
      .join('/');
    return row.packages?.includes(owner) ? undefined : `${layer} must not use ${owner}`;
  }
  if (names.includes('traceNsFromClockMap') && layer !== 'clocks')
    return 'traceNsFromClockMap is for clocks alone';
  const target = path.posix.join(path.posix.dirname(file), module);
  const unit = target.replace(/^src\//, '').replace(/\.js$/, '');
  const isIn = (list: readonly string[] = []) =>
    list.includes(layerOf(target)) ||
    list.some((one) => unit === one || (one.includes('/') && unit.startsWith(`${one}/`)));
  if (layerOf(target) === layer || isIn(row.calls)) return undefined;
  if (!typesOnly) return `${layer} must not call ${unit}`;
  return isIn(row['types of']) ? undefined : `${layer} must not name types of ${unit}`;
}

/** Files that import themselves by way of others, types included: what is left without those that import, or are imported by, nothing else. */
function inCircles(files: Sources): string[] {
  const edges = Object.entries(files).flatMap(([from, text]) =>
    importsOf(from, text)
      .filter(({ module }) => module.startsWith('.'))
      .map(({ module }) => ({
        from,
        to: `${path.posix.join(path.posix.dirname(from), module).replace(/\.js$/, '')}.ts`,
      })),
  );
  for (let left = edges; ;) {
    const [sources, targets] = [new Set(left.map(({ from }) => from)), new Set(left.map(({ to }) => to))];
    const next = left.filter(({ from, to }) => targets.has(from) && sources.has(to));
    if (next.length === left.length) return [...new Set(next.map(({ from }) => from))].sort();
    left = next;
  }
}

/** `src/trace/tracks/lanes.ts` → `trace/tracks`, where that is a room of its own. */
function layerOf(file: string): string {
  const [, folder = '', inside, below] = file.split('/');
  if (inside === undefined) return 'merge';
  return below !== undefined && ROOMS.has(`${folder}/${inside}`) ? `${folder}/${inside}` : folder;
}

/** `import { type A }` counts as a call: with verbatimModuleSyntax the module is still loaded. */
function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (module: ts.Node | undefined, typesOnly: boolean, names: readonly string[] = []) => {
    if (module !== undefined && ts.isStringLiteral(module))
      found.push({ module: module.text, typesOnly, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const clause = node.importClause;
      add(node.moduleSpecifier, clause?.phaseModifier === ts.SyntaxKind.TypeKeyword, namesIn(clause));
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node)) {
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    } else if (ts.isNewExpression(node) && node.expression.getText() === 'URL') {
      // How a worker names its code. Other files beside the code (package.json) are nobody's layer.
      const [module] = node.arguments ?? [];
      if (module !== undefined && ts.isStringLiteral(module) && module.text.endsWith('.js'))
        add(module, false);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true));
  return found;
}

function namesIn(clause: ts.ImportClause | undefined): string[] {
  const bindings = clause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

// -- C++ ----------------------------------------------------------------------------------------------------------

function nativeViolations(files: Sources): string[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const row = NATIVE.find((candidate) => below(file).startsWith(candidate.files?.[0] ?? ''));
    if (row === undefined) return [`${file}: no row of the table fits`];
    const beginsLike = (name: string, list: readonly string[] = []) =>
      list.some((start) => name.startsWith(start));
    return [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*(<([^>]+)>|"([^"]+)")/gm)].flatMap(
      ([, , system, own]) => {
        if (own === undefined) {
          const allowed = row.system?.[0] === 'any' || STANDARD_HEADER.test(system ?? '');
          return allowed ? [] : [`${file}: must not include <${system ?? ''}>`];
        }
        const name = included(file, own, files);
        const allowed = beginsLike(name, row.includes) && !beginsLike(name, row['but not']);
        return allowed ? [] : [`${file}: must not include ${name}`];
      },
    );
  });
}

/** As the compiler looks for it: beside the including file, then below native/ and tools/. The result is a path below these. */
function included(file: string, name: string, files: Sources): string {
  const beside = path.posix.join(path.posix.dirname(file), name);
  return beside in files || name.startsWith('.') ? below(beside) : name;
}

const below = (file: string): string => file.replace(/^(native|tools)\//, '');

// -- both ---------------------------------------------------------------------------------------------------------

type Row = Readonly<Record<string, readonly string[]>>;

/** Each cell is a list of words; the first line names the columns. */
function table(text: string): Row[] {
  const [head = [], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map((cells) =>
    Object.fromEntries(
      head.map((column, i) => [column, (cells[i] ?? '').split(/\s+/).filter((word) => word !== '')]),
    ),
  );
}

function sources(folder: string, pattern: RegExp): Sources {
  const root = fileURLToPath(new URL('..', import.meta.url));
  if (!existsSync(path.join(root, folder))) return {};
  const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`)
    .filter((name) => pattern.test(name) && !name.startsWith('src/trace/perfetto/generated/'))
    .sort();
  return Object.fromEntries(files.map((name) => [name, readFileSync(path.join(root, name), 'utf8')]));
}
