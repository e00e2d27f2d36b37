import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { BIN, nebula, projectFolder } from './support/nebula-process.ts';
import { hasScript, PSEUDO_TERMINAL } from './support/pseudo-terminal.ts';
import { Terminal } from './support/terminal.ts';

const SLOW = `
id: slow
name: Slow
nodes:
  first: { action: core.set@1, with: { value: 1 } }
  left: { action: core.sleep@1, needs: [first], with: { duration: 700ms } }
  right: { action: core.sleep@1, needs: [first], with: { duration: 400ms } }
  last: { action: core.set@1, needs: [left, right], with: { value: 2 } }
`;

/** Runs the program on a pseudo terminal; `act` is called with everything that it has written so far. */
function onTerminal(
  args: string,
  cwd: string,
  act: (text: string, press: () => void) => void,
  term = 'xterm-256color',
): Promise<{ text: string; code: number | null }> {
  const command = `stty rows 20 cols 70; exec '${process.execPath}' '${BIN}' ${args}`;
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...env } = process.env;
  const child = spawn(PSEUDO_TERMINAL, ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...env, TERM: term },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
    // A keyboard sends this for Ctrl-C; the terminal turns it into the signal.
    act(text, () => child.stdin.write('\x03'));
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ text, code })));
}

// Pseudo terminals are made with util-linux' `script`, which other systems do not have.
describe.skipIf(!hasScript())('on a real terminal', () => {
  test('[CLI-51, CLI-54, CLI-55] the tree is repainted in place and stays at the end', async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    const { text, code } = await onTerminal('run slow.yaml', cwd, () => undefined);
    expect(code).toBe(0);
    expect(text.split('\x1b[?2026h').length).toBeGreaterThan(5);
    const terminal = new Terminal(70);
    terminal.write(text.replaceAll('\r\n', '\n'));
    const screen = terminal.screen().join('\n');
    expect(terminal.isCursorShown).toBe(true);
    expect(screen).toMatch(
      /^✓ Slow · completed · .* · 4\/4 · exe_\w+\n\n✓ first +\d+ms\n├─ ✓ left +7\d\dms\n├─ ✓ right +4\d\dms\n✓ last +\d+ms\n/,
    );
    expect(screen).toMatch(/\n\n\{ "last": 2 \}\n$/);
    expect(screen.match(/first/g)).toHaveLength(1);
  });

  test('[CLI-43, CLI-55] Ctrl-C from the keyboard', async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    let isPressed = false;
    const { text, code } = await onTerminal('run slow.yaml', cwd, (seen, press) => {
      if (isPressed || !/left/.test(seen) || !/0\.\ds/.test(seen)) return;
      isPressed = true;
      press();
    });
    expect(code).toBe(130);
    expect(text).toMatch(/nebula resume exe_\w+/);
    expect(text.lastIndexOf('\x1b[?25h')).toBeGreaterThan(text.lastIndexOf('\x1b[?25l'));
    expect((await nebula(['resume'], { cwd })).code).toBe(0);
  });

  test('[CLI-10] --no-color keeps the tree and drops the colours; a dumb terminal gets plain lines', async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    const plain = await onTerminal('run slow.yaml --no-color', cwd, () => undefined);
    expect(plain.text).toContain('\x1b[?2026h');
    expect(plain.text).not.toContain('\x1b[32m');
    const dumb = await onTerminal('run slow.yaml', cwd, () => undefined, 'dumb');
    expect(dumb.text).not.toContain('\x1b');
    expect(dumb.text).toContain('✓ left completed in');
  });
});
