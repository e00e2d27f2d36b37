import { describe, expect, it } from 'vitest';
import { checkAmbient } from '../checks/ambient.ts';
import { repositoryOf } from '../checks/repository.ts';

function problemsOf(text: string, file = 'packages/core/src/a.ts'): readonly string[] {
  return checkAmbient(repositoryOf({ [file]: text })).problems;
}

describe('ambient names in core and engine', () => {
  it.each([
    'const at = Date.now();',
    "const at = Date['now']();",
    'const at = Date?.now();',
    'const at = new Date();',
    'const at = new Date;',
    'const at = Date();',
    'const { now } = Date;',
    'const now = [1].map(Date);',
    'const key = "now"; Date[key as never];',
    'const roll = Math.random();',
    'const { random } = Math;',
    'const id = crypto.randomUUID();',
    'crypto.getRandomValues(new Uint8Array(4));',
    'const started = performance.now();',
    'setTimeout(() => {}, 1);',
    'setInterval(() => {}, 1);',
    'setImmediate(() => {});',
    'const later = setTimeout;',
    'const all = { setTimeout };',
    'const signal = AbortSignal.timeout(10);',
    'const { env } = process;',
    'process.exit(1);',
    'function run(process: { exit(): void }) { return process; }',
    "globalThis['set' + 'Timeout'](() => {}, 1);",
    'console.log(1);',
    'clearTimeout(timer);',
    'clearInterval(timer);',
    'clearImmediate(timer);',
    "await fetch('https://example.com');",
    "new WebSocket('wss://example.com');",
    'new XMLHttpRequest();',
    'const load = require;',
    'global.gc();',
    'const at = Temporal.Now.instant();',
    "import { process } from './a.ts';",
    'export { process };',
    "eval('1');",
    "const f = new Function('return 1');",
    'const at = (Date as unknown as { now(): number }).now();',
    'const at = Date!.now();',
    'const make = (Date satisfies unknown);',
    'const make = <unknown>Date;',
    'const make = Map<string, typeof setTimeout>; setTimeout<[]>;',
    "import { readFileSync } from 'node:fs';",
    "import fs from 'fs';",
    "import type { Readable } from 'node:stream';",
    "export { createHash } from 'node:crypto';",
    "const fs = await import('node:fs');",
    "type Stream = import('node:stream').Readable;",
    'const found = await import(somewhere);',
    "const fs = require('node:fs');",
  ])('refuses %s', (text) => {
    expect(problemsOf(text)).not.toEqual([]);
    expect(problemsOf(text, 'packages/engine/src/deep/a.ts')).not.toEqual([]);
  });

  it.each([
    'const day = new Date(at).toISOString();',
    'const at = Date.parse(text) + Date.UTC(2026, 1);',
    'const is = value instanceof Date;',
    'function day(at: Date): Date { return new Date(at.getTime()); }',
    'const top = Math.max(1, 2);',
    'clock.setTimeout(1); queue.process(); engine.console.log();',
    'const options = { process: 1, setTimeout: 2 };',
    'class Timer { setTimeout() {} performance = 1; }',
    'interface Clock { setTimeout(ms: number): void; process: string }',
    'type Env = typeof process.env;',
    "const text = 'Date.now() and setTimeout'; // Math.random()",
    "const digest = await crypto.subtle.digest('SHA-256', bytes);",
    'const stop = AbortSignal.any([a, b]);',
    "import { parse } from 'yaml';",
    "import { process as handle } from './a.ts';",
    'export { handle as process };',
    'const here = import.meta.url;',
  ])('accepts %s', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it('leaves drivers, apps and tests alone', () => {
    for (const file of ['packages/drivers/src/a.ts', 'apps/cli/src/a.ts', 'packages/core/test/a.ts']) {
      expect(problemsOf('setTimeout(() => Date.now(), 1);', file)).toEqual([]);
    }
  });

  it('reports the position and an alternative', () => {
    expect(problemsOf('\nconst at = Date.now();')).toEqual([
      'packages/core/src/a.ts:2 Date.now is reserved here: ask the clock port',
    ]);
  });
});
