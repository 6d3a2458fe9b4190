// The compiler's errors, mistakes that types allow, and the house rules that can be told from one file. Formatting is
// prettier's business. Which folder may import which is test/layers.test.ts.

import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import ts from 'typescript';
import tseslint from 'typescript-eslint';

const plainJavaScript = ['**/*.js', '**/*.mjs'];
const typeScript = ['**/*.ts'];

/** The linter has the compiler's programs. tsc beside it would read all again, and what the page imports once more. */
const compiler = {
  rules: {
    errors: {
      create: (context) => ({
        Program(node) {
          const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
          for (const { start, messageText } of program.getSemanticDiagnostics(
            esTreeNodeToTSNodeMap.get(node),
          ))
            context.report({
              loc: context.sourceCode.getLocFromIndex(start),
              message: ts.flattenDiagnosticMessageText(messageText, '\n'),
            });
        },
      }),
    },
  },
};

export default defineConfig([
  { ignores: ['dist/', 'build/', 'coverage/', 'src/trace/perfetto/generated/', 'src/shards/generated/'] },
  // AssemblyScript: its own compiler and tsc check it.
  { ignores: ['src/kernel/*.ts', 'src/kernel/draw/*.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,

  {
    files: plainJavaScript,
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },

  {
    files: typeScript,
    plugins: { compiler },
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.test.json', './src/page/client/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'compiler/errors': 'error',
      eqeqeq: 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Bulk data lies in columns, and tsc cannot know that an index below `length` is there: say so with `!`.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Numbers are what we print most.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // `while (true)` with a way out inside is how a state machine reads best.
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // A named type reads better than an index signature in some places and worse in others.
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },

  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression:matches([callee.object.name="Math"], [callee.property.name=/^(push|unshift)$/][callee.object.type!="ThisExpression"]) > SpreadElement',
          message: 'Every element goes on the stack, and lists may be long: use base/extremes.ts.',
        },
      ],
    },
  },

  {
    // Pure functions between stages: words, arguments, environment and exit codes belong to the command line.
    files: ['src/**/*.ts'],
    ignores: ['src/cli/**'],
    rules: {
      'no-console': 'error',
      'no-restricted-globals': [
        'error',
        { name: 'process', message: 'Only src/cli knows the process; take what you need as an argument.' },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['process', 'node:process', 'console', 'node:console'].map((name) => ({
            name,
            message: 'Only src/cli.',
          })),
        },
      ],
    },
  },
]);
