import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { stackOf } from '../../src/sandbox-inprocess/stack.ts';

const project = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-stack-')));

async function thrownIn(file: string, code: string): Promise<unknown> {
  const full = path.join(project, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, code);
  const { run } = (await import(pathToFileURL(full).href)) as { run: () => unknown };
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

test("[SBX-56] a stack has the frames of the author's code, with paths in the project", async () => {
  const inner = 'export const run = () => charge({});\nfunction charge(order) {\n  return order.items.length;\n}\n';
  expect(
    stackOf(await thrownIn('actions/charge.mjs', inner), project)
      ?.split('\n')
      .slice(0, 3),
  ).toEqual([
    "TypeError: Cannot read properties of undefined (reading 'length')",
    '    at charge (actions/charge.mjs:3:22)',
    '    at run (actions/charge.mjs:1:26)',
  ]);
  const wrapped = `export async function run() {
  try { JSON.parse('{'); } catch (cause) { throw new Error('the answer\\nis not JSON', { cause }); }
}`;
  const stack = stackOf(await thrownIn('wrapped.mjs', wrapped), project);
  expect(stack).toMatch(/^Error: the answer\nis not JSON\n {4}at run \(wrapped\.mjs:2:\d+\)\n/);
  expect(stack).toMatch(/\ncaused by SyntaxError: .*\n {4}at run \(wrapped\.mjs:2:\d+\)\n/);
});

test('[SBX-56] a stack is bounded, and a frame outside of the project has its whole path', async () => {
  const deep =
    'const sink = (n) => { if (n === 0) throw new Error("deep"); sink(n - 1); };\nexport const run = () => sink(100);';
  const error = await thrownIn('deep.mjs', deep);
  (error as Error).stack = `${(error as Error).stack}\n${'    at x (/elsewhere/x.js:1:1)\n'.repeat(100)}`;
  expect(stackOf(error, project)?.split('\n')).toHaveLength(17);
  expect(stackOf(error, '/elsewhere')).toContain(`at sink (${project}/deep.mjs:1:`);
  let chain = new Error('0');
  for (let n = 1; n < 100; n++) chain = new Error(String(n), { cause: chain });
  expect(stackOf(chain, project)?.match(/^caused by/gm)).toHaveLength(3);
});

test('[SBX-56] without a frame of the author there is no stack, whatever was thrown', () => {
  const own = new Error('own');
  own.stack = `Error: own\n    at run (${path.resolve(import.meta.dirname, '../../src/x.ts')}:1:1)\n    at node:internal/timers:5:1`;
  const broken = new Proxy(new Error('no'), {
    get: () => {
      throw new Error('never');
    },
  });
  const endless = new Error('a');
  endless.cause = endless;
  endless.stack = 'Error: a';
  for (const thrown of [own, broken, endless, 'text', undefined, { stack: '    at f (/a.js:1:1)' }]) {
    expect(stackOf(thrown, project)).toBeUndefined();
  }
});

test('[SBX-56] a message that looks like frames is read in bounded time', () => {
  const page = new Error(`\n at ${'(/'.repeat(200_000)}`);
  const lines = new Error(Array.from({ length: 1_000 }, () => `\n at ${'(/'.repeat(200)}`).join(''));
  const began = process.cpuUsage().user;
  for (const error of [page, lines]) stackOf(error, project);
  expect(process.cpuUsage().user - began).toBeLessThan(2_000_000);
  const odd = new Error('odd');
  odd.stack = `Error: odd\n    at x (file:///%2F/a.js:1:1)\n    at y (${project}/b.js:2:3)`;
  expect(stackOf(odd, project)).toBe('Error: odd\n    at y (b.js:2:3)');
});
