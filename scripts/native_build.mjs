// Builds the targets of scripts/native.mjs by calling the C++ compiler. A small make of its own, because an install may have neither
// make nor cmake nor Python.
//
// A file is rebuilt when it is older than anything it came from (the compiler lists the headers) or when its
// command has changed (the command is kept beside it). Every result is written under another name and renamed, so
// an interrupted or a second, simultaneous build never leaves half a file behind.

import { Buffer } from 'node:buffer';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  COMMON_FLAGS,
  FAMILIES,
  LIBRARIES,
  MACHINES,
  SANITIZERS,
  SANITIZER_FLAGS,
  TARGETS,
} from './native.mjs';
import { put } from './put.mjs';

const CORES = availableParallelism();

/** A build failed. The message is the compiler's or linker's. */
export class NativeBuildError extends Error {
  name = 'NativeBuildError';
}

/**
 * @param {object} options
 * @param {string} options.root
 * @param {string | undefined} options.sanitize  a name of SANITIZERS; builds into build/<sanitize>/
 * @param {string | undefined} options.machine  a name of MACHINES, if not this one; builds into build/<machine>/
 * @param {boolean} options.warningsAreErrors  false: a source that compiles with warnings is built, and shows them
 * @param {readonly string[]} [options.only]  names of targets; absent: all
 * @param {(done: number, total: number) => void} options.onProgress  files compiled, of those to be
 * @returns {Promise<string | undefined>} why nothing was built, in one sentence, or undefined
 */
export async function buildNative({ root, sanitize, machine, warningsAreErrors, only, onProgress }) {
  const all = allTargets(root);
  const targets = all.filter(({ name }) => only === undefined || only.includes(name));
  if (targets.length === 0) return undefined;
  const compiler = process.platform === 'linux' ? findCompiler(machine) : undefined;
  if (compiler === undefined) return whyNothing(machine);
  const folder = sanitize ?? machine;
  const out = folder === undefined ? 'build' : `build/${folder}`;
  removeAllBut(all, path.join(root, out));
  const extra = sanitize === undefined ? [] : [...SANITIZER_FLAGS, ...SANITIZERS[sanitize]];
  const archiver = machine === undefined ? 'ar' : MACHINES[machine].archiver;
  const build = new Build({ root, out, compiler, archiver, extra, warningsAreErrors, onProgress });
  // Wait for all of it: one broken source does not keep the others from being built, and every error is reported.
  const results = await Promise.allSettled(targets.map((target) => build.target(target)));
  const failures = [...new Set(results.filter((r) => r.status === 'rejected').map((r) => r.reason))];
  const bug = failures.find((reason) => !(reason instanceof NativeBuildError));
  if (bug !== undefined) throw bug;
  if (failures.length > 0) throw new NativeBuildError(failures.map((reason) => reason.message).join('\n'));
  return undefined;
}

/** CXX as a person would set it ("ccache clang++"), else the usual names. The version is there to rebuild by. */
function findCompiler(machine) {
  const asked = process.env.CXX?.trim();
  const usual = asked ? [asked] : ['c++', 'g++', 'clang++'];
  for (const candidate of machine === undefined ? usual : [MACHINES[machine].compiler]) {
    const command = candidate.split(/\s+/);
    const { status, stdout } = spawnSync(command[0], [...command.slice(1), '--version'], {
      encoding: 'utf8',
    });
    if (status === 0) return { command, version: stdout.split('\n')[0] };
  }
  return undefined;
}

function whyNothing(machine) {
  const without = 'the plugin and the demo are not built; merge, inspect and open work without them';
  if (process.platform !== 'linux') return `not Linux: ${without}`;
  if (machine !== undefined)
    return `no ${MACHINES[machine].compiler} (Debian: g++-${machine.replace('_', '-')}-linux-gnu)`;
  const asked = process.env.CXX ? ` (CXX=${process.env.CXX} does not run)` : '';
  return `no C++ compiler${asked}: ${without}; to have them, install one (Debian: g++) and try again`;
}

/** Targets that have sources: a folder which is not there yet is not an error. */
function allTargets(root) {
  const families = FAMILIES.flatMap(({ eachOf, flags, ...rest }) =>
    matching(root, [eachOf]).map((source) => ({
      name: path.basename(source, '.cc'),
      units: [{ sources: [source], flags }],
      ...rest,
    })),
  );
  const targets = [...TARGETS, ...families].filter(
    ({ units }) => matching(root, units[0].sources).length > 0,
  );
  const names = targets.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new NativeBuildError(`two native targets are named ${twice}; rename one`);
  return targets;
}

/** Files that match "folder/*.cc", sorted: the order on the link line must not depend on the file system. */
const matching = (root, patterns) =>
  patterns.flatMap((pattern) => {
    const folder = path.dirname(pattern);
    if (!existsSync(path.join(root, folder))) return [];
    const names = readdirSync(path.join(root, folder)).sort();
    const [head, tail] = path.basename(pattern).split('*');
    const isIn = (name) =>
      tail === undefined ? name === head : name.startsWith(head) && name.endsWith(tail);
    return names.filter(isIn).map((name) => `${folder}/${name}`);
  });

/** A program whose source is gone would still be there to be run, so it goes as well. */
function removeAllBut(targets, out) {
  const stamps = existsSync(`${out}/obj`)
    ? readdirSync(`${out}/obj`).filter((name) => name.endsWith('.cmd'))
    : [];
  for (const stamp of stamps) {
    const name = path.basename(stamp, '.cmd');
    if (!targets.some((target) => target.name === name))
      for (const file of [name, `obj/${stamp}`]) rmSync(`${out}/${file}`, { force: true });
  }
}

class Build {
  /** One promise per object file, archive or library: targets that share one wait for the same. */
  #steps = new Map();
  #running = new Set();
  #compiled = { done: 0, total: 0 };

  constructor(facts) {
    Object.assign(this, facts);
  }

  async target({ name, units, library = [], link = [], linkUnlessSanitized = [], versionScript }) {
    const output = `${this.out}/${name}`;
    try {
      const objects = (await Promise.all(units.map((unit) => this.#objects(unit)))).flat();
      const archives = (await Promise.all(library.map((unit) => this.#archive(unit)))).flat();
      const script =
        versionScript !== undefined && existsSync(this.#at(versionScript)) ? [versionScript] : [];
      const flags = [
        ...link,
        ...[...units, ...library].flatMap(({ uses }) => (this.#has(uses) ? LIBRARIES[uses].link : [])),
        ...(this.extra.length === 0 ? linkUnlessSanitized : this.extra),
        ...script.map((file) => `-Wl,--version-script=${file}`),
      ];
      await this.#make({
        output,
        stamp: `${this.out}/obj/${name}.cmd`,
        inputs: [...objects, ...archives, ...script],
        command: (to) => [...this.compiler.command, '-pthread', '-o', to, ...objects, ...archives, ...flags],
      });
    } catch (error) {
      // What is there was built from other sources. Nobody shall run or test it by mistake.
      rmSync(this.#at(output), { force: true });
      throw error;
    }
  }

  /** Whether a library can be linked into a shared library here, hidden as in the plugin. */
  #has(library) {
    return (
      library !== undefined &&
      this.#once(library, () => {
        const { probe, link } = LIBRARIES[library];
        const flags = [
          '-shared',
          '-fPIC',
          '-Wl,--no-undefined,--exclude-libs,ALL',
          '-o',
          '/dev/null',
          '-x',
          'c++',
          '-',
        ];
        const [program, ...args] = [...this.compiler.command, ...flags, '-x', 'none', ...link];
        return spawnSync(program, args, { input: probe }).status === 0;
      })
    );
  }

  #sources({ sources, uses, sourcesWith = [], sourcesWithout = [] }) {
    const more =
      matching(this.root, sourcesWith).length > 0 && this.#has(uses) ? sourcesWith : sourcesWithout;
    return matching(this.root, [...sources, ...more]);
  }

  #objects(unit) {
    const sources = this.#sources(unit);
    const apart = unit.inParts === undefined ? sources : this.#parts(sources, unit.inParts);
    return Promise.all(apart.map((source) => this.#object(source, unit.flags ?? [])));
  }

  /** Writes sources that include those given, `count` or fewer: the headers are read once for each. */
  #parts(sources, count) {
    const size = Math.ceil(sources.length / count);
    return Array.from({ length: Math.ceil(sources.length / size) }, (_, part) => {
      const included = sources.slice(part * size, (part + 1) * size);
      const text = included.map((source) => `#include "${path.relative('native', source)}"\n`).join('');
      const file = `${this.out}/obj/${hash(sources)}.${part}.cc`;
      put(this.#at(file), Buffer.from(text));
      return file;
    });
  }

  #object(source, unitFlags) {
    const output = `${this.out}/obj/${hash(unitFlags)}/${source.replaceAll('/', '.')}.o`;
    const flags = [...COMMON_FLAGS, ...unitFlags, ...this.extra];
    return this.#once(output, () =>
      this.#make({
        output,
        stamp: `${output}.cmd`,
        // The compiler lists them: the source and all headers but the system's.
        inputs: 'listed',
        command: (to) => [
          ...this.compiler.command,
          ...flags,
          '-MMD',
          '-MF',
          `${to}.d`,
          '-c',
          source,
          '-o',
          to,
        ],
        // A compiler newer than ours may know new warnings. They must not cost anybody the plugin.
        more: this.warningsAreErrors ? [] : ['-Wno-error'],
      }),
    );
  }

  #archive(unit) {
    const output = `${this.out}/obj/${hash(unit.flags ?? [])}/${hash(unit.sources)}.a`;
    return this.#once(output, async () => {
      const objects = await this.#objects(unit);
      const command = (to) => [this.archiver, 'rcs', to, ...objects];
      return objects.length === 0
        ? []
        : [await this.#make({ output, stamp: `${output}.cmd`, inputs: objects, command })];
    });
  }

  #once(key, start) {
    if (!this.#steps.has(key)) this.#steps.set(key, start());
    return this.#steps.get(key);
  }

  async #make(step) {
    if (this.#isFresh(step)) return step.output;
    const isSource = step.inputs === 'listed' ? 1 : 0;
    this.#progress(0, isSource);
    const [output, stamp, draft] = [step.output, step.stamp, `${step.output}.${process.pid}.tmp`].map(
      (file) => this.#at(file),
    );
    for (const file of [output, stamp]) mkdirSync(path.dirname(file), { recursive: true });
    const started = new Date();
    try {
      const said = await this.#run([
        ...step.command(`${step.output}.${process.pid}.tmp`),
        ...(step.more ?? []),
      ]);
      if (said !== '')
        process.stderr.write(`${said}
`);
      // A source saved while the compiler was running is newer than what came of it.
      utimesSync(draft, started, started);
      if (isSource) renameSync(`${draft}.d`, `${output}.d`);
      renameSync(draft, output);
      // What was made with warnings is made again, and refused where they are errors.
      if (said === '') writeFileSync(stamp, this.#signature(step));
      else rmSync(stamp, { force: true });
    } finally {
      this.#progress(isSource, 0);
      for (const file of [draft, `${draft}.d`]) rmSync(file, { force: true });
    }
    return step.output;
  }

  #progress(done, total) {
    this.#compiled.done += done;
    this.#compiled.total += total;
    if (done + total > 0) this.onProgress(this.#compiled.done, this.#compiled.total);
  }

  #isFresh(step) {
    const [output, stamp] = [this.#at(step.output), this.#at(step.stamp)];
    if (!existsSync(output) || !existsSync(stamp)) return false;
    if (readFileSync(stamp, 'utf8') !== this.#signature(step)) return false;
    const made = statSync(output).mtimeMs;
    const inputs = step.inputs === 'listed' ? inputsListedIn(`${output}.d`) : step.inputs;
    // What is gone is no reason to believe what came from it.
    const changed = (file) => statSync(this.#at(file), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    return inputs.length > 0 && inputs.every((file) => changed(file) <= made);
  }

  #at(file) {
    return path.resolve(this.root, file);
  }

  #signature(step) {
    return `${this.compiler.version}\n${step.command(step.output).join('\n')}\n`;
  }

  /** As many at a time as there are cores. Returns what the program said; throws it if the program failed. */
  async #run([program, ...args]) {
    while (this.#running.size >= CORES) await Promise.race(this.#running);
    const run = promisify(execFile)(program, args, { cwd: this.root, maxBuffer: 2 ** 26 });
    const over = run
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.#running.delete(over));
    this.#running.add(over);
    const { message, stdout, stderr } = await run.catch((error) => error);
    const said = `${stdout}${stderr}`.trim();
    if (message !== undefined) throw new NativeBuildError(said || message);
    return said;
  }
}

/** The files named in a compiler's dependency rule ("out.o: a.cc a.h \\"); none when it is not there. */
function inputsListedIn(file) {
  if (!existsSync(file)) return [];
  const rule = readFileSync(file, 'utf8').replaceAll('\\\n', ' ');
  const names = rule.slice(rule.indexOf(': ') + 2).match(/(?:\\ |\S)+/g) ?? [];
  return names.map((name) => name.replaceAll('\\ ', ' '));
}

const hash = (parts) => createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
