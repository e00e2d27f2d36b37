import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
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

const SOURCE = `interface Order {
  readonly items?: readonly string[];
}

export const run = (): number => charge({});

function charge(order: Order): number {
  return order.items!.length;
}
`;

test.each(['beside', 'inline'] as const)(
  '[SBX-60] a built action is shown in its source, with the map %s',
  async (kind) => {
    const dir = mkdtempSync(path.join(project, 'built-'));
    mkdirSync(path.join(dir, 'src'));
    writeFileSync(path.join(dir, 'src/charge.ts'), SOURCE);
    const tsc = path.resolve(import.meta.dirname, '../../../../node_modules/typescript/bin/tsc');
    const maps = kind === 'inline' ? ['--inlineSourceMap'] : ['--sourceMap', '--sourceRoot', '../src'];
    const options = ['--module', 'esnext', '--target', 'es2022', '--outDir', 'out', ...maps];
    execFileSync(process.execPath, [tsc, 'src/charge.ts', ...options, '--ignoreConfig'], { cwd: dir });
    renameSync(path.join(dir, 'out/charge.js'), path.join(dir, 'out/charge.mjs'));
    const { run } = (await import(pathToFileURL(path.join(dir, 'out/charge.mjs')).href)) as { run: () => unknown };
    let thrown: unknown;
    try {
      run();
    } catch (error) {
      thrown = error;
    }
    const [, first, second] = stackOf(thrown, dir)?.split('\n') ?? [];
    expect([first, second]).toEqual(['    at charge (src/charge.ts:8:23)', '    at run (src/charge.ts:5:34)']);
  },
);

test('[SBX-60] a map that is missing, broken or of another place changes nothing', async () => {
  const code = (comment: string) =>
    `export const run = () => { throw new Error('no'); };\n//# sourceMappingURL=${comment}\n`;
  for (const comment of [
    'none.map',
    'data:application/json,{',
    'https://example.com/x.map',
    'data:application/json,{"version":3,"sources":[],"mappings":""}',
  ]) {
    const name = `odd-${comment.length}.mjs`;
    expect(stackOf(await thrownIn(name, code(comment)), project), comment).toContain(`at run (${name}:1:`);
  }
});

test('[SBX-61] a long message leaves room for the frames, and no part of a secret', async () => {
  const code =
    "export const run = () => { throw new Error('\\n    at x (/p/x.js:1:1)'.repeat(10_000) + 'secret'); };\n";
  const stack = stackOf(await thrownIn('long.mjs', code), project) ?? '';
  expect(stack.length).toBeLessThan(2_000);
  expect(stack).toContain('\n    at run (long.mjs:1:');
  const near = "export const run = () => { throw new Error('x'.repeat(990) + 'top secret'); };\n";
  const redacted = stackOf(await thrownIn('near.mjs', near), project, (text) =>
    text.replace('top secret', '[redacted]'),
  );
  expect(redacted).not.toContain('top');
});
