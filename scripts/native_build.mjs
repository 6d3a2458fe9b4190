// Builds the targets of scripts/native.mjs by calling the C++ compiler. A small make of its own, because an install may have neither
// make nor cmake nor Python.
//
// A file is rebuilt when it is older than anything it came from (the compiler lists the headers) or when its
// command has changed (the command is kept beside it). Every result is written under another name and renamed, so
// an interrupted or a second, simultaneous build never leaves half a file behind.

import { Buffer } from 'node:buffer';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
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
 * @param {() => void} [options.onStart]  called once there is a compiler
 * @param {(done: number, total: number) => void} [options.onProgress]  files compiled, of those to be
 * @returns {Promise<string | undefined>} why nothing was built, in one sentence, or undefined
 */
export async function buildNative({ root, sanitize, machine, warningsAreErrors, only, onStart, onProgress }) {
  const all = allTargets(root);
  const unresolved = all.filter(({ name }) => only === undefined || only.includes(name));
  if (unresolved.length === 0) return undefined;

  const without = 'the plugin and the demo are not built; merge, inspect and open work without them';
  if (process.platform !== 'linux') return `not Linux: ${without}`;
  const cross = machine === undefined ? undefined : MACHINES[machine];
  const compiler = findCompiler(cross?.compiler);
  if (compiler === undefined) {
    if (cross !== undefined)
      return `no ${cross.compiler} (Debian: g++-${machine.replace('_', '-')}-linux-gnu)`;
    const asked = process.env.CXX ? ` (CXX=${process.env.CXX} does not run)` : '';
    return `no C++ compiler${asked}: ${without}; to have them, install one (Debian: g++) and try again`;
  }

  onStart?.();
  const libraries = findLibraries(root, compiler, unresolved);
  const targets = unresolved.map((target) => withLibraries(target, libraries));
  const build = new Build(root, compiler, {
    sanitize,
    warningsAreErrors,
    folder: sanitize ?? machine,
    archiver: cross?.archiver ?? 'ar',
    onProgress,
  });
  build.removeAllBut(all);
  // Wait for all of it: one broken source does not keep the others from being built, and every error is reported.
  const results = await Promise.allSettled(targets.map((target) => build.target(target)));
  const failures = [...new Set(results.filter((r) => r.status === 'rejected').map((r) => r.reason))];
  const bug = failures.find((reason) => !(reason instanceof NativeBuildError));
  if (bug !== undefined) throw bug;
  if (failures.length > 0) throw new NativeBuildError(failures.map((reason) => reason.message).join('\n'));
  return undefined;
}

/** Targets that have sources: a folder which is not there yet is not an error. */
function allTargets(root) {
  const families = FAMILIES.flatMap(({ eachOf, flags, ...rest }) =>
    matching(root, eachOf).map((source) => ({
      name: path.basename(source, '.cc'),
      units: [{ sources: [source], flags }],
      ...rest,
    })),
  );
  const targets = [...TARGETS, ...families].filter(({ units }) => sourcesOf(root, units[0]).length > 0);
  const names = targets.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new NativeBuildError(`two native targets are named ${twice}; rename one`);
  return targets;
}

function sourcesOf(root, unit) {
  return unit.sources.flatMap((pattern) => matching(root, pattern));
}

/** Files that match "folder/*.cc", sorted: the order on the link line must not depend on the file system. */
function matching(root, pattern) {
  const folder = path.dirname(pattern);
  if (!existsSync(path.join(root, folder))) return [];
  const [head, tail = ''] = path.basename(pattern).split('*');
  const isWild = pattern.includes('*');
  return readdirSync(path.join(root, folder))
    .filter((name) => (isWild ? name.startsWith(head) && name.endsWith(tail) : name === head))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** CXX as a person would set it ("ccache clang++"), else the usual names. The version is there to rebuild by. */
function findCompiler(cross) {
  const asked = process.env.CXX?.trim();
  const candidates = cross ? [cross] : asked ? [asked] : ['c++', 'g++', 'clang++'];
  for (const candidate of candidates) {
    const command = candidate.split(/\s+/);
    const answer = spawnSync(command[0], [...command.slice(1), '--version'], { encoding: 'utf8' });
    if (answer.status === 0) return { command, version: answer.stdout.split('\n')[0] };
  }
  return undefined;
}

/** Names of those that can be linked into a shared library here, among those that have sources to be used with. */
function findLibraries(root, compiler, targets) {
  const units = targets.flatMap(({ units, library = [] }) => [...units, ...library]);
  const wanted = units.filter(
    ({ uses, sourcesWith }) => uses && sourcesOf(root, { sources: sourcesWith }).length > 0,
  );
  return new Set(
    [...new Set(wanted.map(({ uses }) => uses))].filter((name) => canLink(compiler, LIBRARIES[name])),
  );
}

function canLink(compiler, { probe, link }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-build-'));
  try {
    // As the plugin does it: hidden, so that an archive of position-independent programs' code will do.
    const hidden = ['-Wl,--no-undefined', '-Wl,--exclude-libs,ALL'];
    const flags = ['-shared', '-fPIC', ...hidden, '-o', path.join(folder, 'probe.so'), '-x', 'c++', '-'];
    const options = { input: probe, encoding: 'utf8' };
    return (
      spawnSync(compiler.command[0], [...compiler.command.slice(1), ...flags, '-x', 'none', ...link], options)
        .status === 0
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The target with its units' sources and what it links decided. */
function withLibraries({ units, library = [], link = [], ...rest }, libraries) {
  const used = [...units, ...library].map(({ uses }) => uses).filter((name) => libraries.has(name));
  const resolve = ({ sources, uses, sourcesWith = [], sourcesWithout = [], ...unit }) => ({
    sources: [...sources, ...(libraries.has(uses) ? sourcesWith : sourcesWithout)],
    ...unit,
  });
  return {
    units: units.map(resolve),
    library: library.map(resolve),
    link: [...link, ...[...new Set(used)].flatMap((name) => LIBRARIES[name].link)],
    ...rest,
  };
}

class Build {
  #root;
  #compiler;
  #sanitizerFlags;
  #warningsAreErrors;
  #archiver;
  #out;
  /** One promise per object file or archive: targets that share one wait for the same. */
  #steps = new Map();
  #free = availableParallelism();
  #waiting = [];
  #onProgress;
  #compiled = { done: 0, total: 0 };

  constructor(root, compiler, { sanitize, warningsAreErrors, folder, archiver, onProgress }) {
    this.#onProgress = onProgress ?? (() => undefined);
    this.#root = root;
    this.#compiler = compiler;
    this.#sanitizerFlags = sanitize === undefined ? [] : [...SANITIZER_FLAGS, ...SANITIZERS[sanitize]];
    this.#warningsAreErrors = warningsAreErrors;
    this.#archiver = archiver;
    this.#out = folder === undefined ? 'build' : `build/${folder}`;
  }

  /** A program whose source is gone would still be there to be run, so it goes as well. */
  removeAllBut(targets) {
    const stamps = path.join(this.#root, this.#out, 'obj');
    if (!existsSync(stamps)) return;
    for (const file of readdirSync(stamps).filter((name) => name.endsWith('.cmd'))) {
      const name = path.basename(file, '.cmd');
      if (targets.some((target) => target.name === name)) continue;
      rmSync(path.join(this.#root, this.#out, name), { force: true });
      rmSync(path.join(stamps, file));
    }
  }

  async target({ name, units, library = [], link = [], linkUnlessSanitized = [], versionScript }) {
    const output = `${this.#out}/${name}`;
    try {
      const objects = (await Promise.all(units.map((unit) => this.#objects(unit)))).flat();
      const archives = (await Promise.all(library.map((unit) => this.#archive(unit)))).flat();
      const script = versionScript !== undefined && existsSync(this.#at(versionScript));
      const flags = [
        ...link,
        ...(this.#sanitizerFlags.length === 0 ? linkUnlessSanitized : this.#sanitizerFlags),
        ...(script ? [`-Wl,--version-script=${versionScript}`] : []),
      ];
      await this.#make({
        output,
        stamp: `${this.#out}/obj/${name}.cmd`,
        inputs: [...objects, ...archives, ...(script ? [versionScript] : [])],
        command: (to) => [...this.#compiler.command, '-pthread', '-o', to, ...objects, ...archives, ...flags],
      });
    } catch (error) {
      // What is there was built from other sources. Nobody shall run or test it by mistake.
      rmSync(this.#at(output), { force: true });
      throw error;
    }
  }

  #objects(unit) {
    const sources = sourcesOf(this.#root, unit);
    const apart = unit.inParts === undefined ? sources : this.#parts(sources, unit.inParts);
    return Promise.all(apart.map((source) => this.#object(source, unit.flags ?? [])));
  }

  /** Writes sources that include those given, `count` or fewer: the headers are read once for each. */
  #parts(sources, count) {
    const size = Math.ceil(sources.length / count);
    return Array.from({ length: Math.ceil(sources.length / size) }, (_, part) => {
      const included = sources.slice(part * size, (part + 1) * size);
      const text = included.map((source) => `#include "${path.relative('native', source)}"\n`).join('');
      const file = `${this.#out}/obj/${hash(sources)}.${part}.cc`;
      put(this.#at(file), Buffer.from(text));
      return file;
    });
  }

  #object(source, unitFlags) {
    const flags = [...COMMON_FLAGS, ...unitFlags, ...this.#sanitizerFlags];
    const output = `${this.#objectFolder(unitFlags)}/${source.replaceAll('/', '.')}.o`;
    return this.#once(output, async () => {
      const step = (extra) => ({
        output,
        stamp: `${output}.cmd`,
        // The compiler lists them: the source and all headers but the system's.
        inputs: 'listed',
        command: (to) => [
          ...this.#compiler.command,
          ...flags,
          ...extra,
          ...['-MMD', '-MF', `${to}.d`, '-c', source, '-o', to],
        ],
      });
      if (this.#warningsAreErrors) return this.#make(step([]));
      // A compiler newer than ours may know new warnings. They must not cost anybody the plugin.
      const lenient = step(['-Wno-error']);
      if (this.#isFresh(lenient)) return output;
      return this.#make(step([]), { quiet: true }).catch(() => this.#make(lenient));
    });
  }

  #archive(unit) {
    const output = `${this.#objectFolder(unit.flags ?? [])}/${hash(unit.sources)}.a`;
    return this.#once(output, async () => {
      const objects = await this.#objects(unit);
      if (objects.length === 0) return [];
      await this.#make({
        output,
        stamp: `${output}.cmd`,
        inputs: objects,
        command: (to) => [this.#archiver, 'rcs', to, ...objects],
      });
      return [output];
    });
  }

  #objectFolder(unitFlags) {
    return `${this.#out}/obj/${hash(unitFlags)}`;
  }

  #once(output, start) {
    if (!this.#steps.has(output)) this.#steps.set(output, start());
    return this.#steps.get(output);
  }

  async #make(step, { quiet = false } = {}) {
    if (this.#isFresh(step)) return step.output;
    const isSource = step.inputs === 'listed';
    if (isSource) this.#progress({ total: 1 });
    const output = this.#at(step.output);
    const temporary = `${step.output}.${process.pid}.tmp`;
    mkdirSync(path.dirname(output), { recursive: true });
    mkdirSync(path.dirname(this.#at(step.stamp)), { recursive: true });
    const started = new Date();
    try {
      const { failed, said } = await this.#run(step.command(temporary));
      if (failed) throw new NativeBuildError(said);
      if (said !== '' && !quiet) process.stderr.write(`${said}\n`);
      // A source saved while the compiler was running is newer than what came of it.
      utimesSync(this.#at(temporary), started, started);
      if (step.inputs === 'listed') renameSync(this.#at(`${temporary}.d`), `${output}.d`);
      renameSync(this.#at(temporary), output);
      writeFileSync(this.#at(step.stamp), this.#signature(step));
    } finally {
      if (isSource) this.#progress({ done: 1 });
      rmSync(this.#at(temporary), { force: true });
      rmSync(this.#at(`${temporary}.d`), { force: true });
    }
    return step.output;
  }

  #progress({ done = 0, total = 0 }) {
    this.#compiled.done += done;
    this.#compiled.total += total;
    this.#onProgress(this.#compiled.done, this.#compiled.total);
  }

  #isFresh(step) {
    const [output, stamp] = [this.#at(step.output), this.#at(step.stamp)];
    if (!existsSync(output) || !existsSync(stamp)) return false;
    if (readFileSync(stamp, 'utf8') !== this.#signature(step)) return false;
    const made = statSync(output).mtimeMs;
    const inputs = step.inputs === 'listed' ? inputsListedIn(`${output}.d`) : step.inputs;
    return inputs.length > 0 && inputs.every((file) => mtimeMs(this.#at(file)) <= made);
  }

  #at(file) {
    return path.resolve(this.#root, file);
  }

  #signature(step) {
    return `${this.#compiler.version}\n${step.command(step.output).join('\n')}\n`;
  }

  /** As many at a time as there are cores. */
  async #run(command) {
    if (this.#free === 0) await new Promise((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await new Promise((resolve) => {
        execFile(
          command[0],
          command.slice(1),
          { cwd: this.#root, maxBuffer: 2 ** 26 },
          (error, stdout, stderr) => {
            const said = `${stdout}${stderr}`.trim();
            resolve({ failed: error !== null, said: said || (error?.message ?? '') });
          },
        );
      });
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** The files named in a compiler's dependency rule ("out.o: a.cc a.h \\"); none when it is not there. */
function inputsListedIn(file) {
  if (!existsSync(file)) return [];
  const rule = readFileSync(file, 'utf8').replaceAll('\\\n', ' ');
  const names = rule.slice(rule.indexOf(': ') + 2).match(/(?:\\ |\S)+/g) ?? [];
  return names.map((name) => name.replaceAll('\\ ', ' '));
}

/** Infinity for a file that is gone: whatever came from it is out of date. */
function mtimeMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
}

function hash(parts) {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
}
