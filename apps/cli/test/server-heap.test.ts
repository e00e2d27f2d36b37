import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('../bin/server-heap.js', import.meta.url).href;
const SCRIPT = `
  const { limitServerHeap } = await import('${MODULE}');
  limitServerHeap();
  process.stdout.write(JSON.stringify({ flags: process.execArgv, words: process.argv.slice(1) }));`;

async function limited(given: readonly string[], options = ''): Promise<{ flags: string[]; words: string[] }> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...given, '--input-type=module', '-e', SCRIPT, 'serve', '--port=0'],
    { env: { ...process.env, NODE_OPTIONS: options } },
  );
  return JSON.parse(stdout) as { flags: string[]; words: string[] };
}

// Windows cannot replace a process.
it.skipIf(process.platform === 'win32')('[CLI-480] a server limits the young generation of its heap', async () => {
  const { flags, words } = await limited(['--no-warnings']);

  expect(flags.slice(0, 2)).toEqual(['--max-semi-space-size=4', '--no-warnings']);
  expect(words).toEqual(['serve', '--port=0']);
});

it('[CLI-480] a limit that the environment sets stays', async () => {
  expect((await limited([], '--max-semi-space-size=16')).flags.join(' ')).not.toContain('semi-space');
});
