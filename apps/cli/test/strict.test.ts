import { expect, test } from 'vitest';
import { nebula, projectFolder } from './support/nebula-process.ts';

const DOUBTFUL = 'id: doubtful\nnodes:\n  a: { action: core.noop@1, when: false }\n';

test('[VER-53] warnings end validate with 2 under --strict, and with 0 otherwise', async () => {
  const cwd = projectFolder({ 'doubtful.yaml': DOUBTFUL });
  const lenient = await nebula(['validate', 'doubtful.yaml'], { cwd });
  expect([lenient.code, lenient.stdout]).toEqual([0, expect.stringContaining('warning NEVER_RUNS')]);
  expect(lenient.stdout).toContain('✓ doubtful.yaml');
  const strict = await nebula(['validate', 'doubtful.yaml', '--strict'], { cwd });
  expect([strict.code, strict.stdout]).toEqual([2, expect.stringContaining('✗ doubtful.yaml')]);
  const { stdout } = await nebula(['validate', 'doubtful.yaml', '--strict', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({
    valid: false,
    files: [{ valid: false, problems: [{ severity: 'warning' }] }],
  });
});

const DOUBTS = `id: doubts
config: { timeout: 1h, capabilities: { network: [api.example.com] } }
nodes:
  try: { action: http.request@1, with: { url: "https://shop.example.com/orders", timeout: 10s } }
  fallback: { action: core.set@1, with: { value: 1 } }
  next: { needs: [try, fallback], action: core.noop@1 }
  clean: { needs: [next], action: core.noop@1 }
  approve: { needs: [next], wait: { approval: { title: Go }, deadline: 3d } }
  late: { needs: [clean], action: core.noop@1 }
edges:
  - { from: try, to: fallback, on: error }
  - { from: try, to: clean, on: always }
  - { from: approve, to: late, on: result, match: { event: 7 } }
`;

test('[CLI-350] a warning shows its position with a caret, and the correct spelling', async () => {
  const cwd = projectFolder({ 'doubts.yaml': DOUBTS });
  const { code, stdout } = await nebula(['validate', 'doubts.yaml', '--strict'], { cwd });
  expect(code).toBe(2);
  const shown = stdout.split('\n\n').map((block) => block.split('\n'));
  const marked = shown
    .filter(([, line]) => line !== undefined)
    .map((lines) => {
      const caret = lines.find((line) => /│ +\^+$/.test(line)) ?? '';
      const source = lines[lines.indexOf(caret) - 1] ?? '';
      const hint = lines.find((line) => line.startsWith('  hint: '))?.slice(8);
      return [source.slice(caret.indexOf('^'), caret.length), hint];
    });
  const heads = shown
    .map(([head = '']) => head.split(/ {2,}/).slice(0, 2).join(' '))
    .filter((head) => head.includes(' warning '));
  expect(heads).toEqual([
    'doubts.yaml:4:47 warning CAPABILITY_DENIED',
    'doubts.yaml:6:24 warning JOIN_WANTS_ANY',
    'doubts.yaml:8:72 warning WAIT_EXCEEDS_LIMIT',
    'doubts.yaml:12:5 warning ALWAYS_BLOCKED',
    'doubts.yaml:13:60 warning NEVER_TAKEN',
  ]);
  expect(marked.filter(([text]) => text !== '')).toEqual([
    ['"https://shop.example.com/orders"', 'add config: { capabilities: { network: [shop.example.com] } }'],
    ['fallback', "set join: any on 'next' to continue after the first success, or remove the edge from 'fallback'"],
    ['3d', 'raise config.timeout above 3d, or shorten the wait'],
    ['{ from: try, to: clean, on: always }', 'also replace the success edge by { from: next, to: clean, on: always }'],
    ['7', 'match a value that the output schema allows, or remove the edge'],
  ]);
});
