import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { builtinActions } from '@nebula/actions';
import type { Action, JsonSchema } from '@nebula/core';
import { describe, expect, test } from 'vitest';
import { execute } from '../src/commands/write-types.ts';
import { composeServices } from '../src/compose/services.ts';
import { typeDeclarations } from '../src/views/schema-types.ts';
import { typeModule } from '../src/views/type-module.ts';
import { nebula, projectFolder } from './support/nebula-process.ts';
import { memoryIo } from './support/screen-text.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

async function types(cwd: string, args: readonly string[] = [], options: Record<string, unknown> = {}) {
  const io = memoryIo({ cwd });
  const code = await execute({ io, services: composeServices(io), program: 'nebula', options }, args);
  return { code, out: io.out.text() };
}

const typeOf = (schema: JsonSchema) => typeDeclarations('T', schema).replace(/\s+/g, ' ');

describe('types of schemas', () => {
  test.each<[string, JsonSchema, string]>([
    ['anything', true, 'export type T = unknown;'],
    ['nothing', false, 'export type T = never;'],
    ['scalars', { type: ['string', 'integer', 'null'] }, 'export type T = string | number | null;'],
    ['nullable', { type: 'string', nullable: true }, 'export type T = string | null;'],
    ['literals', { enum: ['a', 1, null, "it's"] }, "export type T = 'a' | 1 | null | 'it\\'s';"],
    ['constants', { const: { a: [1] } }, 'export type T = { readonly a: readonly [1] };'],
    ['lists', { type: 'array', items: { type: ['string', 'null'] } }, 'export type T = readonly (string | null)[];'],
    [
      'tuples',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 1 },
      'export type T = readonly [string, number?];',
    ],
    ['tuples with more', { prefixItems: [true] }, 'export type T = readonly [unknown?, ...readonly unknown[]];'],
    [
      'maps',
      { type: 'object', additionalProperties: { type: 'number' } },
      'export type T = { readonly [key: string]: number };',
    ],
    [
      'empty objects',
      { type: 'object', additionalProperties: false },
      'export type T = Readonly<Record<string, never>>;',
    ],
    [
      'objects',
      { properties: { a: { type: 'string', description: 'A */ b\nc' }, 'b-c': true }, required: ['a'] },
      "export interface T { /** A * / b c */ readonly a: string; readonly 'b-c'?: unknown; }",
    ],
    [
      'objects with more',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } },
      'export interface T { readonly a?: string; readonly [key: string]: unknown; }',
    ],
    [
      'choices',
      { oneOf: [{ type: 'string' }, { type: 'object', properties: { a: { const: 1 } }, required: ['a'] }] },
      'export type T = string | { readonly a: 1; };',
    ],
    [
      'parts',
      {
        allOf: [{ $ref: '#/$defs/a' }, { anyOf: [{ type: 'null' }, { type: 'string' }] }],
        $defs: { a: { type: 'string' } },
      },
      'export type T = TA & (null | string); export type TA = string;',
    ],
    [
      'what refers to itself',
      {
        type: 'object',
        properties: { next: { $ref: '#' }, list: { type: 'array', items: { $ref: '#/$defs/an item' } } },
        $defs: { 'an item': { $ref: '#' } },
      },
      'export interface T { readonly next?: T; readonly list?: readonly TAnItem[]; } export type TAnItem = T;',
    ],
    ['what is only itself', { $ref: '#' }, 'export type T = unknown;'],
    ['what leads astray', { $ref: '#/%' }, 'export type T = unknown;'],
    ['what leads nowhere', { $ref: 'https://example.com/x' }, 'export type T = unknown;'],
  ])('[CLI-200] %s', (_, schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  test('[CLI-200] a schema that nests without end has an end', () => {
    let deep: JsonSchema = { type: 'string' };
    for (let level = 0; level < 1_000; level++) deep = { type: 'array', items: deep };
    expect(typeOf(deep)).toContain('unknown');
  });
});

const CONFIG = `import { defineAction, defineConfig } from '@nebula/sdk';
const run = () => null;
export default defineConfig({ actions: [
  defineAction({ id: 'pay.charge', version: '2.0', run }),
  defineAction({ id: 'pay.charge', version: '2.1', input: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }, run }),
] });
`;
const ORDER =
  'id: order\ninput: { type: object, properties: { id: { type: string } }, required: [id] }\nnodes: { a: { action: core.noop@1 } }\noutput: { id: "{{ $input.id }}", text: "no {{ $input.id }}", n: 3 }\n';

describe('workflows in TypeScript', () => {
  const FLOW = `import { coreSet } from '@nebula/actions';
import { workflow } from '@nebula/sdk';
const INPUT = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const inner = workflow('inner', { input: INPUT }, (w) => w.node('keep', coreSet, { value: w.input.n }));
export default workflow('outer', { input: INPUT }, (w) => {
  const kept = w.workflow('one', inner, { n: w.input.n });
  return w.workflow('two', inner, { n: kept.output as never }, { mode: 'child' });
});
`;

  test('[CLI-204] are validated and run like files, with the workflows that they run', async () => {
    const cwd = projectFolder({ 'flow.ts': FLOW, 'package.json': '{ "type": "module" }' });
    expect((await nebula(['validate', 'flow.ts'], { cwd })).stdout).toContain('✓ flow.ts  outer, 2 nodes');
    const { code, stdout, stderr } = await nebula(['run', 'flow.ts', '--set', 'n=7', '--json'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ workflowId: 'outer', status: 'completed', output: 7 });
  });

  test('[CLI-204] that cannot be loaded are reported', async () => {
    const cwd = projectFolder({
      'none.ts': 'export const a = 1;\n',
      'throws.ts': 'throw new Error("oh");\n',
      'text.ts': 'a b c',
    });
    for (const file of ['none.ts', 'throws.ts', 'text.ts']) {
      const { code, stderr } = await nebula(['run', file], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain(`error WORKFLOW_INVALID: ${file}`);
      expect(stderr).toContain('hint: ');
    }
  });

  test('[CLI-204] report the error of their builder', async () => {
    const cwd = projectFolder({ 'flow.ts': FLOW.replace("'one', inner", "'o n e', inner") });
    const { code, stderr } = await nebula(['run', 'flow.ts'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("'o n e' is not an id")]);
  });
});

describe('nebula types', () => {
  test('[CLI-201] names every action and the workflows of the project', async () => {
    const cwd = projectFolder({
      'nebula.config.ts': CONFIG,
      'flows/order.yaml': ORDER,
      'other.yaml': 'a: 1',
      '.hidden/x.yaml': ORDER,
    });
    const { code, out } = await types(cwd);
    expect(code).toBe(0);
    expect(out).toContain(
      "readonly 'http.request@1': { readonly input: HttpRequest1Input; readonly output: HttpRequest1Output };",
    );
    expect(out).toContain("readonly 'pay.charge@2.1': { readonly input: PayCharge21Input;");
    expect(out, 'the newest 2.x').toContain("readonly 'pay.charge@2': { readonly input: PayCharge21Input;");
    expect(out).toContain(
      "readonly 'order': { readonly input: OrderWorkflowInput; readonly output: OrderWorkflowOutput };",
    );
    expect(out.replace(/\s+/g, ' ')).toContain(
      'export interface OrderWorkflowOutput { readonly id: unknown; readonly text: string; readonly n: 3; }',
    );
  });

  test('[CLI-201] only the files that are named, modules too', async () => {
    const flow = `export default { id: 'in-code', nodes: { a: { action: 'core.noop@1' } } };\n`;
    const cwd = projectFolder({
      'order.yaml': ORDER,
      'flow.ts': flow,
      'bad.yaml': 'id: 1\n',
      'none.ts': 'export const a = 1;\n',
    });
    expect((await types(cwd, ['flow.ts'])).out).toContain("'in-code'");
    expect((await types(cwd, ['flow.ts'])).out).not.toContain("'order'");
    await expect(types(cwd, ['bad.yaml'])).rejects.toMatchObject({ code: 'WORKFLOW_INVALID' });
    await expect(types(cwd, ['none.ts'])).rejects.toMatchObject({ code: 'WORKFLOW_INVALID' });
    await expect(types(cwd, ['missing.ts'])).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(types(cwd, ['missing.yaml'])).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('[CLI-220] workflows that are registered in the data folder, unless a file says otherwise', async () => {
    const kept = (id: string) =>
      `id: ${id}\ninput: { type: object, properties: { old: {} } }\nnodes: { a: { action: core.noop@1 } }\n`;
    const cwd = projectFolder({ 'order.yaml': ORDER });
    expect((await types(cwd)).out).not.toContain("'kept'");
    for (const id of ['kept', 'order']) {
      const { code, stderr } = await nebula(['run', '-', '-q'], { cwd, stdin: kept(id) });
      expect(code, stderr).toBe(0);
    }
    const { out } = await types(cwd);
    expect(out).toContain("readonly 'kept': { readonly input: KeptWorkflowInput;");
    expect(out.match(/export interface OrderWorkflowInput \{\n(.*)\n/)?.[1]).toBe('  readonly id: string;');
    expect((await types(cwd, ['order.yaml'])).out).not.toContain("'kept'");
    const elsewhere = projectFolder({});
    expect((await types(elsewhere, [], { dataDir: path.join(cwd, '.nebula') })).out).toContain("'kept'");
  });

  test('[CLI-202] writes a file, and leaves it alone when nothing has changed', async () => {
    const cwd = projectFolder({ 'order.yaml': ORDER });
    expect((await types(cwd, [], { out: 'types.ts' })).out).toBe('types.ts written: 10 actions, 1 workflow\n');
    expect(readFileSync(path.join(cwd, 'types.ts'), 'utf8')).toBe((await types(cwd)).out);
    expect((await types(cwd, [], { out: 'types.ts' })).out).toContain('is up to date');
    expect(JSON.parse((await types(cwd, [], { out: 'types.ts', json: true })).out)).toEqual({
      file: 'types.ts',
      changed: false,
      actions: 10,
      workflows: 1,
    });
    await expect(types(cwd, [], { out: 'no/where.ts' })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(existsSync(path.join(cwd, 'no'))).toBe(false);
  });

  test('[CLI-203] the written module compiles, and types the builder by name', { timeout: 60_000 }, async () => {
    const strange: Action = {
      id: 'a.b-c',
      version: '1',
      input: { type: 'object', properties: { "it's */ \u202e": { type: 'string' } } },
      run: () => null,
    };
    const text = typeModule([...builtinActions, strange, { ...strange, id: 'a.b.c' }], [{ id: 'w-1', nodes: {} }]);
    expect(text).not.toContain('\u202e');
    const cwd = projectFolder({ 'types.ts': text });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(cwd, 'node_modules'));
    writeFileSync(path.join(cwd, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      path.join(cwd, 'flow.ts'),
      `import { workflow } from '@nebula/sdk';
import { action, workflowNamed } from './types.ts';
export default workflow('f', {}, (w) => {
  const got = w.node('get', action('http.request@1'), { url: 'https://example.com', method: 'GET' });
  w.node('wait', action('core.sleep@1'), { duration: '1s' }, { needs: [got] });
  // @ts-expect-error there is no such method
  w.node('a', action('http.request@1'), { url: 'x', method: 'FETCH' });
  // @ts-expect-error there is no such action
  w.node('b', action('http.get@1'), {});
  // @ts-expect-error there is no such member
  got.output.code;
  w.workflow('c', workflowNamed('w-1'), {}, { mode: 'child' });
  return got.output.status;
});
`,
    );
    writeFileSync(
      path.join(cwd, 'tsconfig.json'),
      JSON.stringify({ extends: path.join(ROOT, 'tsconfig.json'), include: ['*.ts'], exclude: [] }),
    );
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const said = await promisify(execFile)(process.execPath, [tsc, '--noEmit', '--pretty', 'false', '-p', cwd], {
      cwd,
    }).catch((error: { stdout?: string }) => error);
    expect(said.stdout).toBe('');
  });
});
