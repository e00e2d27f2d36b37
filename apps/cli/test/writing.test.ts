import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { templateFiles } from '../src/init/template.ts';
import { nebulaHere } from './support/nebula-here.ts';
import { projectFolder } from './support/nebula-process.ts';

const GOOD = 'id: good\nname: Good\nnodes:\n  a: { action: core.noop@1 }\n  b: { action: core.noop@1, needs: [a] }\n';
const BAD = 'id: bad\nnodes:\n  a: { action: core.nop@1, tiemout: 1s }\n  b: { action: core.noop@1, needs: [b] }\n';

describe('validate', () => {
  test('[CLI-80] every problem of every file', async () => {
    const cwd = projectFolder({ 'good.yaml': GOOD, 'bad.yaml': BAD });
    const { code, stdout } = await nebulaHere(['validate', 'good.yaml', 'bad.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stdout).toContain('✓ good.yaml  good, 2 nodes');
    expect(stdout).toContain('✗ bad.yaml');
    expect(stdout).toMatch(/bad\.yaml:3:\d+ .*tiemout/);
    expect(stdout).toMatch(/bad\.yaml:4:\d+ /);
    expect((await nebulaHere(['validate', 'good.yaml'], { cwd })).code).toBe(0);
  });

  test('[CLI-80] as a document', async () => {
    const cwd = projectFolder({ 'good.yaml': GOOD, 'bad.yaml': BAD });
    const { code, stdout } = await nebulaHere(['validate', 'good.yaml', 'bad.yaml', '--json'], { cwd });
    expect(code).toBe(2);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({
      valid: false,
      files: [
        { file: 'good.yaml', valid: true, workflowId: 'good', nodes: 2, problems: [] },
        { file: 'bad.yaml', valid: false },
      ],
    });
    expect(document.files[1].problems).toContainEqual(
      expect.objectContaining({ severity: 'error', code: 'UNKNOWN_KEY', line: 3, path: ['nodes', 'a', 'tiemout'] }),
    );
  });

  test('[CLI-119] --strict makes warnings errors', async () => {
    const cwd = projectFolder({ 'w.yaml': `${GOOD}  c: { action: core.noop@1, when: "false" }\n`, 'good.yaml': GOOD });
    const lax = await nebulaHere(['validate', 'w.yaml'], { cwd });
    expect([lax.code, lax.stdout]).toEqual([0, expect.stringContaining('warning NEVER_RUNS')]);
    const strict = await nebulaHere(['validate', 'w.yaml', 'good.yaml', '--strict'], { cwd });
    expect([strict.code, strict.stdout]).toEqual([2, expect.stringContaining('✗ w.yaml')]);
    expect((await nebulaHere(['validate', 'good.yaml', '--strict'], { cwd })).code).toBe(0);
  });

  test('[CLI-80] a file that is no text at all', async () => {
    const cwd = projectFolder({ 'x.yaml': 'a\0b', 'y.yaml': '- just\n- a list\n', 'z.yaml': 'a: [1\n' });
    for (const file of ['x.yaml', 'y.yaml', 'z.yaml']) {
      const { code, stdout } = await nebulaHere(['validate', file], { cwd });
      expect([code, stdout]).toEqual([2, expect.stringContaining('error')]);
    }
  });
});

describe('graph', () => {
  test('[CLI-81, CLI-82] in every format', async () => {
    const cwd = projectFolder({ 'good.yaml': GOOD });
    const draw = async (...args: string[]) => (await nebulaHere(['graph', 'good.yaml', ...args], { cwd })).stdout;
    expect(await draw()).toContain('╭');
    expect(await draw('-f', 'mermaid')).toMatch(/^flowchart TD\n/);
    expect(await draw('-f', 'dot')).toMatch(/^digraph "good" \{\n/);
    expect(JSON.parse(await draw('--json'))).toEqual({
      id: 'good',
      name: 'Good',
      nodes: [
        { id: 'a', name: 'a', kind: 'action', action: 'core.noop@1', does: 'core.noop@1', level: 0 },
        { id: 'b', name: 'b', kind: 'action', action: 'core.noop@1', does: 'core.noop@1', level: 1 },
      ],
      edges: [{ from: 'a', to: 'b', on: 'success' }],
    });
  });
});

describe('eval', () => {
  test('[CLI-83] expressions, templates and data', async () => {
    const cwd = projectFolder({ 'order.json': '{"items": [{"qty": 1}, {"qty": 3}]}' });
    const evaluate = (...args: string[]) => nebulaHere(['eval', ...args], { cwd });
    expect((await evaluate('1 + 2 * 3')).stdout).toBe('7\n');
    expect((await evaluate('$input.items.filter(i => i.qty > 1).length', '--data', '@order.json')).stdout).toBe('1\n');
    expect((await evaluate('$..qty', '--data', '@order.json')).stdout).toBe('[1, 3]\n');
    expect((await evaluate('Hello {{ $vars.name }}', '--vars', '{"name": "Ada"}')).stdout).toBe('"Hello Ada"\n');
    expect((await evaluate('$nodes.a.output.x', '--nodes', '{"a": {"x": 5}}', '--json')).stdout).toBe(
      '{\n  "value": 5\n}\n',
    );
  });

  test('[CLI-83] a wrong one is pointed at', async () => {
    const { code, stdout, stderr } = await nebulaHere(['eval', '1 + '], { cwd: projectFolder({}) });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^ {2}1 \+ \n {2} +\^\nerror EXPRESSION_SYNTAX: /);
    const missing = await nebulaHere(['eval', '$input.nmae', '--data', '{"name": 1}'], { cwd: projectFolder({}) });
    expect(missing.stderr).toMatch(/error EXPRESSION_REFERENCE: .*\nhint: .*name/);
  });
});

describe('init', () => {
  test('[CLI-84] the project validates, runs and passes its own tests', { timeout: 60_000 }, async () => {
    const cwd = projectFolder({});
    const made = await nebulaHere(['init', 'my project'], { cwd });
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toContain("cd 'my project'");
    const project = path.join(cwd, 'my project');
    expect(JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')).name).toBe('my-project');
    expect((await nebulaHere(['validate', 'workflows/hello.yaml'], { cwd: project })).stdout).toContain('✓');
    const run = await nebulaHere(['run', 'workflows/hello.yaml', '--json'], { cwd: project });
    expect(JSON.parse(run.stdout).output, run.stderr).toEqual({ text: 'Hello, World! Bonjour, World!' });
    // The command that `npm test` runs.
    const tested = await nebulaHere(['test'], { cwd: project });
    expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining('2 passed')]);
  });

  test('[CLI-88] the project brings the Node of the repository', async () => {
    const cwd = projectFolder({});
    await nebulaHere(['init', 'p'], { cwd });
    const manifestOf = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const repository = manifestOf(path.join(import.meta.dirname, '../../../package.json'));
    const made = manifestOf(path.join(cwd, 'p', 'package.json'));
    expect(made.optionalDependencies).toEqual(repository.optionalDependencies);
  });

  test('[PKG-3] the project names versions; the command of a clone links its packages', async () => {
    const cwd = projectFolder({});
    const { stdout } = await nebulaHere(['init', 'p', '--json'], { cwd });
    const linked = ['@nebula/actions', '@nebula/cli', '@nebula/client', '@nebula/sdk', '@nebula/testing'];
    expect(JSON.parse(stdout)).toMatchObject({ linked });
    const made = JSON.parse(readFileSync(path.join(cwd, 'p', 'package.json'), 'utf8'));
    const root = path.join(import.meta.dirname, '../../..');
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    for (const name of linked) {
      expect({ ...made.dependencies, ...made.devDependencies }[name]).toBe(`^${version}`);
      expect(realpathSync(path.join(cwd, 'p/node_modules', name))).toBe(
        realpathSync(path.join(root, 'node_modules', name)),
      );
    }
    expect(JSON.stringify(made)).not.toContain('file:');
    expect(made.allowScripts).toEqual({ 'better-sqlite3': false });
  });

  test('[CLI-547] the JSON Schema names the actions of the project and their parameters', async () => {
    const cwd = projectFolder({});
    await nebulaHere(['init', 'p'], { cwd });
    const { stdout } = await nebulaHere(['schema'], { cwd: path.join(cwd, 'p') });
    const schema = JSON.parse(stdout);
    const validate = new Ajv2020({ strict: false }).compile(schema);
    const node = (parameters: object) => ({ id: 'w', nodes: { a: { action: 'hello.greet@1', with: parameters } } });
    expect(validate(node({ name: 'Ada', language: '{{ $input.language }}' }))).toBe(true);
    const names = schema.$defs.action.anyOf.map((one: { const?: string }) => one.const);
    expect(names).toEqual(expect.arrayContaining(['hello.greet@1', 'http.request@1']));
    const own = schema.$defs.node.allOf.find(
      (one: { if: { properties: { action: { const: string } } } }) =>
        one.if.properties.action.const === 'hello.greet@1',
    );
    expect(own.then.properties.with.properties).toEqual({ name: {}, language: { default: 'en' } });
  });

  test('[CLI-542] the code of README.md imports only packages that a new project has', () => {
    const { dependencies } = JSON.parse(templateFiles({ name: 'p', version: '1' })['package.json'] ?? '');
    const readme = readFileSync(path.join(import.meta.dirname, '../../../README.md'), 'utf8');
    const code = [...readme.matchAll(/^```ts.*\n([\s\S]*?)^```$/gm)].map(([, text]) => text).join('');
    const imported = [...code.matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name as string);
    expect(imported).toContain('@nebula/sdk');
    expect(imported.filter((name) => dependencies[name] === undefined)).toEqual([]);
  });

  test.each(['/proc/x', 'file', 'file/inside'])('[CLI-87] no project can be made in %s', async (folder) => {
    const { code, stderr } = await nebulaHere(['init', folder], { cwd: projectFolder({ file: '' }) });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^error INIT_FAILED: cannot create a project .*\nhint: /),
    ]);
  });

  test('[CLI-84] nothing is overwritten', async () => {
    const cwd = projectFolder({ 'README.md': 'mine' });
    const refused = await nebulaHere(['init'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('error FOLDER_NOT_EMPTY')]);
    const forced = await nebulaHere(['init', '--force', '--json'], { cwd });
    expect(JSON.parse(forced.stdout)).toMatchObject({ kept: ['package.json', 'README.md'] });
    expect(readFileSync(path.join(cwd, 'README.md'), 'utf8')).toBe('mine');
    expect(existsSync(path.join(cwd, 'workflows/hello.yaml'))).toBe(true);
  });
});

describe('reference', () => {
  test('[CLI-85] schema and actions', async () => {
    const cwd = projectFolder({});
    expect(JSON.parse((await nebulaHere(['schema'], { cwd })).stdout)).toMatchObject({
      $schema: expect.any(String),
      title: 'Nebula workflow',
    });
    const list = (await nebulaHere(['actions'], { cwd })).stdout;
    expect(list).toMatch(/http\.request@1\S* +\S.* +network/);
    expect(list).toMatch(/core\.sleep@1/);
    const one = await nebulaHere(['actions', 'core.sleep'], { cwd });
    expect(one.stdout).toMatch(/INPUT[\s\S]*duration/);
    expect(JSON.parse((await nebulaHere(['actions', 'core.sleep', '--json'], { cwd })).stdout)).toMatchObject({
      id: 'core.sleep',
      input: { type: 'object' },
    });
    const wrong = await nebulaHere(['actions', 'core.slep'], { cwd });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean core.sleep?')]);
  });

  test('[CLI-85] actions of the project are listed, too', async () => {
    const config = "export default { actions: [{ id: 'my.own', version: '1', run() { return 1; } }] };";
    const cwd = projectFolder({ 'nebula.config.mjs': config });
    expect((await nebulaHere(['actions'], { cwd })).stdout).toMatch(/my\.own@1 +once/);
  });

  test('[CLI-86] demo', async () => {
    const cwd = projectFolder({});
    const { code, stdout, stderr } = await nebulaHere(['demo', '--data-dir', 'd'], { cwd });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('✓ completed');
    expect(stdout).toContain('nebula init my-project');
  });
});
