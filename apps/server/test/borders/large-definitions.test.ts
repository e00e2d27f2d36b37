/** Large definitions are checked beside the process that serves everybody. */
import { builtinActions } from '@nebula/actions';
import { compilePlan, createCatalog, type Json } from '@nebula/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDefinition, type DefinitionInput } from '../../src/definitions/check.ts';
import { CHECK_LIMITS, UPLOAD_LIMITS } from '../../src/limits.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo } from '../support/workflows.ts';
import { CHECK_PROBES } from './check-probes.ts';

let booted: Booted;
beforeAll(async () => {
  booted = await boot({ ceiling: { network: ['api.example.com'] } });
  await booted.client.call('registerWorkflow', { body: { definition: echo() } });
});
afterAll(() => booted.close());

const headers = { authorization: `Bearer ${TOKEN}` };
const validate = (body: object) => ask(booted, 'POST /api/v1/workflows/validate', { headers, body });
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
const node = (index: number) =>
  `  n${index}:\n    action: http.request\n    when: $input.a > ${index}\n` +
  `    with: { url: "https://api.example.com/{{ $input.a }}", method: POST, body: { a: "{{ $input.b }}" } }\n`;
const yaml = (nodes: number, more = ''): string =>
  `id: large\nnodes:\n${Array.from({ length: nodes }, (_, index) => node(index)).join('')}${more}`;
const here = (given: DefinitionInput) =>
  checkDefinition(given, {
    compile: (definition, options) => compilePlan(definition, createCatalog(builtinActions), options),
    ceiling: { network: ['api.example.com'] },
    workflows: (id) => (id === 'echo' ? (echo() as never) : undefined),
    isBounded: false,
  });

it('[SRV-620] checking a large definition takes a fraction of its CPU time in the main thread', async () => {
  // A text over two lines is not plain YAML: reading it is much work.
  const source = yaml(1_200, '  last: { action: core.noop, name: "a\n    b" }\n');
  expect(source.length).toBeGreaterThan(CHECK_LIMITS.inProcessChars);
  expect((await validate({ source })).json).toMatchObject({ valid: true });
  const before = cpuMs();
  expect((await validate({ source })).json).toMatchObject({ valid: true });
  const beside = cpuMs() - before;
  const began = cpuMs();
  here({ source, filename: 'workflow.yaml' });
  expect(beside).toBeLessThan((cpuMs() - began) / 2);
});

it('[SRV-620] a short definition with large patterns is checked beside the process, too', async () => {
  const patterns = (at: number): string => Array.from({ length: 5 }, (_, index) => `a{${900 - at - index}}`).join('');
  const definition = (first: number): Json => ({
    id: 'patterns',
    nodes: Object.fromEntries(
      Array.from({ length: 70 }, (_, at) => [
        `n${at}`,
        { action: 'core.noop', when: `$input.a.matches('${patterns(first + at)}')` },
      ]),
    ),
  });
  expect(JSON.stringify(definition(0)).length).toBeLessThan(CHECK_LIMITS.inProcessChars);
  await validate({ definition: definition(0) });
  const before = cpuMs();
  expect((await validate({ definition: definition(100) })).json).toMatchObject({ valid: true });
  const beside = cpuMs() - before;
  const began = cpuMs();
  here({ definition: definition(200) });
  expect(beside).toBeLessThan((cpuMs() - began) / 2);
});

it('[SRV-621] the problems of a large definition equal those of a small one', async () => {
  const more =
    '  far: { action: http.request, with: { url: "https://elsewhere.example.com/" } }\n' +
    '  computed: { action: http.request, with: { url: "{{ $input.url }}", method: GET } }\n' +
    '  typo: { action: http.reqest }\n' +
    '  policy: { action: core.noop, retry: { policy: unheard-of, attempts: 2 } }\n' +
    '  inner: { workflow: { id: echo, input: { a: 1 } } }\n' +
    '  child: { workflow: { id: nowhere, mode: child } }\n';
  const large = { source: yaml(150, more), filename: 'workflow.yaml' };
  expect(large.source.length).toBeGreaterThan(CHECK_LIMITS.inProcessChars);
  const expected = here(large);
  const { json } = await validate(large);
  const problemTexts = (problems: readonly { code: string; message: string; hint?: string }[]) =>
    problems.map(({ code, message, hint }) => `${code} ${message} ${hint ?? ''}`);
  expect(problemTexts(json.problems)).toEqual('problems' in expected ? problemTexts(expected.problems) : []);
  expect(json.problems.map(({ code }: { code: string }) => code)).toEqual(
    expect.arrayContaining(['UNKNOWN_ACTION', 'UNKNOWN_WORKFLOW']),
  );
});

it('[SRV-621] a large definition is registered, runs, and can be registered again', async () => {
  const nodes = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`n${index}`, { action: 'core.noop' }]));
  const definition = { id: 'thousand', nodes } as unknown as Json;
  const register = () => ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
  expect((await register()).status).toBe(201);
  expect((await register()).status).toBe(200);
  const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'thousand' } });
  const { status } = await booted.client.call('getResult', { params: { executionId }, query: { wait: '30s' } });
  expect(status).toBe('completed');
});

it('[SRV-622] a definition of more than 1 Mi characters as JSON is refused', async () => {
  const definition = (chars: number) => ({
    id: 'long',
    nodes: { a: { action: 'core.set', with: { value: 'x'.repeat(chars) } } },
  });
  const frame = JSON.stringify(definition(0)).length;
  expect((await validate({ definition: definition(UPLOAD_LIMITS.maxDefinitionChars - frame) })).status).toBe(200);
  const refused = await validate({ definition: definition(UPLOAD_LIMITS.maxDefinitionChars - frame + 1) });
  expect([refused.status, refused.json.code]).toEqual([413, 'TOO_LARGE']);
});

it.each(['definition.time', 'definition.memory'] as const)(
  '[SRV-620] [SRV-648] a definition above %s is refused, and the next one is checked',
  { timeout: 60_000 },
  async (name) => {
    expect(await CHECK_PROBES[name](true)).toBe(false);
    expect((await validate({ source: yaml(150) })).json).toMatchObject({ valid: true });
  },
);

it('[SRV-620] definitions beyond those that may wait are refused, and those that wait are answered', async () => {
  expect(await CHECK_PROBES['definition.waiting'](true)).toBe(false);
  expect(await CHECK_PROBES['definition.waiting'](false)).toBe(true);
});
