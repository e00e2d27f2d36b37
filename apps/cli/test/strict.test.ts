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
