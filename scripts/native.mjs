// The table of targets built from native/ and tools/. scripts/native_build.mjs builds them.
//
// To add a program, drop a .cc file into native/test/ or native/bench/: each one becomes build/<its name>. To add
// anything else, add a target here. Flags are given per unit (a set of sources compiled alike), so that a source
// used by several targets is compiled once.

/**
 * @typedef {object} Unit      sources compiled with one set of flags
 * @property {string[]} sources  patterns below the root; `*` stands for a file name's part
 * @property {string[]} [flags]  in addition to COMMON_FLAGS
 * @property {number} [inParts]  compile so many files that include the sources, rather than each
 * @property {keyof typeof LIBRARIES} [uses]  a library that may be missing, and
 * @property {string[]} [sourcesWith]     further patterns if it is there
 * @property {string[]} [sourcesWithout]  or if it is not
 *
 * @typedef {object} Target    one file below build/
 * @property {string} name
 * @property {Unit[]} units      linked whole
 * @property {Unit[]} [library]  linked as an archive: only what the units need of it
 * @property {string[]} [link]   flags and libraries, after the objects
 * @property {string[]} [linkUnlessSanitized]  the same, but left out of a sanitizer's build
 * @property {string} [versionScript]  names the exported symbols; used when the file is there
 *
 * @typedef {object} Family    one target per source file, named after it
 * @property {string} eachOf
 * @property {string[]} [flags]
 * @property {Unit[]} [library]
 * @property {string[]} [link]
 */

import { fileURLToPath } from 'node:url';

/** Warnings are errors for us (`npm run build`, `npm run check`); an install or a test run only shows them. */
export const COMMON_FLAGS = [
  '-std=c++17',
  '-O2',
  '-g',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-pthread',
  '-Inative',
  // The same bytes wherever the checkout lies: its path would be in the debug information.
  `-ffile-prefix-map=${fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')}=.`,
];

/** Replaces -O2 where a sanitizer watches: shallow inlining and frame pointers keep its stacks readable. */
export const SANITIZER_FLAGS = ['-O1', '-fno-omit-frame-pointer', '-fno-sanitize-recover=all', '-Wno-error'];

export const SANITIZERS = {
  address: ['-fsanitize=address'],
  thread: ['-fsanitize=thread'],
  // The plugin has no run-time types, which is what the `vptr` check looks at.
  undefined: ['-fsanitize=undefined', '-fno-sanitize=vptr'],
};

/** Machines of the package, by what Node and Debian's cross compilers call them. For another machine than this one: built into build/<name>/. */
export const MACHINES = {
  x86_64: { arch: 'x64', compiler: 'x86_64-linux-gnu-g++', archiver: 'x86_64-linux-gnu-ar' },
  aarch64: { arch: 'arm64', compiler: 'aarch64-linux-gnu-g++', archiver: 'aarch64-linux-gnu-ar' },
};

/** What we use where the build finds it: as an archive that can be linked into a shared library, with its headers. */
export const LIBRARIES = {
  zstd: {
    probe: '#include <zstd.h>\nsize_t probe(void* to) { return ZSTD_compress(to, 99, to, 9, 1); }\n',
    link: ['-l:libzstd.a'],
  },
};

/** What a person needs, and what `npm pack` ships. Everything else is for our tests and benchmarks. */
export const ADDON = 'nccl-trace-decoder.node';
export const PLUGIN = 'libnccl-profiler-trace.so';
export const SHIPPED = [ADDON, PLUGIN, 'nccl-trace-loopback'];

// From the ground up: a room includes those before it (test/layers.test.ts).
const PLUGIN_ROOMS = ['process', 'record', 'persist', 'thread', 'events', 'abi', 'chain'];

/** @type {Unit} */
const pluginCode = {
  sources: ['native/plugin/*.cc', ...PLUGIN_ROOMS.map((room) => `native/plugin/${room}/*.cc`)],
  uses: 'zstd',
  sourcesWith: ['native/plugin/persist/zstd/*.cc'],
  sourcesWithout: ['native/plugin/persist/no_zstd/*.cc'],
  flags: [
    '-fPIC',
    // NCCL loads us beside anything: export the tables and nothing else.
    '-fvisibility=hidden',
    '-fvisibility-inlines-hidden',
    // A callback finds its ring through one thread-local pointer; the default model of a shared library would
    // call __tls_get_addr for it, which may allocate.
    '-ftls-model=initial-exec',
    // Nothing may unwind through NCCL's C frames.
    '-fno-exceptions',
    '-fno-rtti',
  ],
};

/** @type {Unit} */
const testCode = {
  sources: [],
  uses: 'zstd',
  sourcesWith: ['native/test/zstd/*.cc'],
  sourcesWithout: ['native/test/no_zstd/*.cc'],
};

/** @type {Target[]} */
export const TARGETS = [
  {
    name: PLUGIN,
    units: [pluginCode],
    versionScript: 'native/plugin/exports.map',
    link: [
      '-shared',
      // Threads that end after dlclose still run our thread-exit hook: the code has to stay.
      '-Wl,-z,nodelete',
      '-Wl,-z,relro,-z,now',
      // The host may have an older libstdc++, or none.
      '-static-libstdc++',
      '-static-libgcc',
      // Hidden too: our copy of libstdc++ must not answer for anybody else.
      '-Wl,--exclude-libs,ALL',
      // Before glibc 2.34 these hold what we use of threads and dlsym; the linker here would leave them out.
      '-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state',
    ],
    // A sanitizer's own symbols come from the program that loads us.
    linkUnlessSanitized: ['-Wl,--no-undefined'],
  },
  {
    // What WebAssembly cannot do for the reader (src/rankfile/addon.ts). Node-API is one
    // binary interface for all versions of Node, so no headers of a certain one are needed.
    name: 'nccl-trace-decoder.node',
    units: [
      {
        sources: ['native/addon/*.cc'],
        uses: 'zstd',
        sourcesWith: ['native/addon/zstd/*.cc'],
        sourcesWithout: ['native/addon/no_zstd/*.cc'],
        flags: [
          '-fPIC',
          '-fvisibility=hidden',
          '-DNAPI_VERSION=8',
          '-DNAPI_DISABLE_CPP_EXCEPTIONS',
          '-isystem',
          'node_modules/node-api-headers/include',
          '-isystem',
          'node_modules/node-addon-api',
        ],
      },
    ],
    link: ['-shared', '-static-libstdc++', '-static-libgcc', '-Wl,--exclude-libs,ALL'],
  },
  {
    name: 'nccl-trace-loopback',
    units: [
      {
        sources: ['tools/loopback/*.cc'],
        flags: ['-Itools'],
        // Half of the time of its compiler is the headers that 65 small files include.
        inParts: 4,
      },
      // Each of its own version of NCCL's interface, under the same names.
      { sources: ['tools/loopback/senders/*.cc'], flags: ['-Itools'] },
    ],
    link: ['-ldl', '-Wl,--dynamic-list=tools/loopback/exports.list'],
  },
  {
    // Gets all calls and only counts them. The benchmark of whole jobs compares with it.
    name: 'libnccl-profiler-stub.so',
    units: [{ sources: ['native/bench/stub/*.cc'], flags: ['-fPIC'] }],
    link: ['-shared'],
  },
  // A plugin for each version of the interface, which checks what NCCL promises.
  ...[1, 2, 3, 4, 5, 6, 7].map((version) => ({
    name: `libnccl-profiler-strict-v${version}.so`,
    units: [
      {
        sources: ['native/test/strict/*.cc'],
        flags: ['-fPIC', '-fvisibility=hidden', `-DSTRICT_VERSION=${version}`],
      },
    ],
    link: ['-shared'],
  })),
];

/** @type {Family[]} */
export const FAMILIES = [
  // Tests look inside the plugin, so its code is at hand; those that load the library as NCCL does link none of it.
  { eachOf: 'native/test/*.cc', library: [testCode, pluginCode], link: ['-ldl'] },
  { eachOf: 'native/bench/*.cc', library: [testCode, pluginCode], link: ['-ldl'] },
];
