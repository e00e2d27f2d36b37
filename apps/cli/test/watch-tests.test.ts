import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { BIN, nebula, projectFolder, startNebula } from './support/nebula-process.ts';
import { hasScript, PSEUDO_TERMINAL } from './support/pseudo-terminal.ts';

const FLOW = 'id: flow\nnodes: { a: { action: my.work@1 } }\noutput: "{{ $a }}"\n';
const TEST = 'workflow: flow.yaml\ntests:\n  - { name: it works, expect: { output: 1 } }\n';
const config = (gives: number) =>
  `import { work } from './actions/work.ts';\nexport default { actions: [work] };\n// ${gives}\n`;
const action = (gives: number) =>
  `import { defineAction } from '@nebula/sdk';
export const work = defineAction({ id: 'my.work', version: '1', effect: 'pure', run: () => ${gives} });\n`;

let dir = '';
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('nebula test --watch', () => {
  test('[CLI-219] runs again when a workflow, a test or an action changes, until Ctrl-C', {
    timeout: 60_000,
  }, async () => {
    dir = projectFolder({
      'nebula.config.ts': config(1),
      'actions/work.ts': action(1),
      'flow.yaml': FLOW,
      'flow.test.yaml': TEST,
    });
    const watching = startNebula(['test', '--watch'], { cwd: dir });
    const rounds = async (count: number, word: string) => {
      await watching.until(new RegExp(`(waiting for changes[^]*){${count}}`));
      const said = watching.stdout().split('waiting for changes')[count - 1];
      expect(said).toContain(word);
      return said;
    };
    await rounds(1, '1 passed');
    writeFileSync(path.join(dir, 'actions/work.ts'), action(2));
    expect(await rounds(2, '1 failed')).toContain('changed: actions/work.ts');
    writeFileSync(path.join(dir, 'flow.test.yaml'), TEST.replace('output: 1', 'output: 2'));
    await rounds(3, '1 passed');
    writeFileSync(path.join(dir, 'flow.yaml'), FLOW.replace('$a', '$a + 1'));
    await rounds(4, '1 failed');
    expect(watching.stdout()).not.toContain('\x1b');
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).toBe(130);
  });

  // Keys need a terminal, which `script` of util-linux makes.
  test.skipIf(!hasScript())('[CLI-219] clears a terminal, and quits on q', { timeout: 60_000 }, async () => {
    dir = projectFolder({
      'flow.yaml': FLOW.replace('my.work@1', 'core.noop@1').replace('$a', '1'),
      'flow.test.yaml': TEST,
    });
    const child = spawn(PSEUDO_TERMINAL, ['-qec', `'${process.execPath}' '${BIN}' test --watch`, '/dev/null'], {
      cwd: dir,
    });
    let said = '';
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdout.on('data', (chunk) => {
      const wasPrompted = said.includes('q quits');
      said += chunk;
      // Pressed once: a key typed at a closing terminal is lost.
      if (!wasPrompted && said.includes('q quits')) child.stdin.write('q');
    });
    expect(await ended).toBe(0);
    expect(said).toContain('\x1b[2J');
    expect(said).toContain('1 passed');
  });

  test('[CLI-219] is no document', async () => {
    dir = projectFolder({});
    const { code, stderr } = await nebula(['test', '--watch', '--json'], { cwd: dir });
    expect([code, stderr]).toEqual([2, expect.stringContaining('error USAGE: --watch runs until it is stopped')]);
  });
});
