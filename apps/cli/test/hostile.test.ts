/** Any workflow, input or expression gets an answer, never a crash. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { composeServices } from '../src/compose/services.ts';
import { runCommandLine } from '../src/main.ts';
import { nebula, projectFolder, startNebula } from './support/nebula-process.ts';
import { memoryIo } from './support/screen-text.ts';

const ECHO = `
id: echo
nodes:
  a: { action: core.set@1, with: { value: "{{ $input }}" } }
output: "{{ $nodes.a.output }}"
`;
/** By its address: whether a name can be found from a temporary folder depends on what the test runner has loaded before. */
const MEMORY_DRIVERS = new URL('../../../packages/drivers/src/memory/index.ts', import.meta.url).href;
/** Thousands of runs: what they write to a disk is tried elsewhere. */
const IN_MEMORY = `
import { memoryStore } from '${MEMORY_DRIVERS}';
export default { drivers: { store: ({ clock }) => memoryStore({ clock }) } };
`;
const CORPUS = path.join(import.meta.dirname, '../../../../shared/corpora/bad-input');
const isHere = existsSync(CORPUS);
const NOBODY = 65_534;
const MAKE_PIPE = '/usr/bin/mkfifo';

interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command line in this process, with the real services. */
async function say(cwd: string, argv: readonly string[], stdin: string | Uint8Array = ''): Promise<Said> {
  const io = memoryIo({ cwd, stdin });
  const code = await runCommandLine({ io, services: composeServices(io), program: 'nebula' }, argv);
  return { code, stdout: io.out.text(), stderr: io.err.text() };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not reach a terminal
const HARMFUL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;

/** Accepted, or refused with a code and words; nothing that moves a cursor, no stack. */
function expectAnswer({ code, stdout, stderr }: Said, about: string): void {
  const all = stdout + stderr;
  expect([0, 2], `${about}: ${all.slice(0, 500)}`).toContain(code);
  expect(all, about).not.toMatch(HARMFUL);
  expect(all, about).not.toMatch(/^\s+at .*:\d+:\d+/m);
  if (code === 2) expect(all, about).toMatch(/error [A-Z][A-Z0-9_]+\b|"code": "[A-Z]/);
}

// The corpus lies beside the repository and is not part of it.
describe.skipIf(!isHere)(`the corpus of bad input (${CORPUS})`, () => {
  const files = isHere ? readdirSync(path.join(CORPUS, 'json')) : [];
  const naughty = isHere ? (JSON.parse(readFileSync(path.join(CORPUS, 'blns.json'), 'utf8')) as string[]) : [];

  test('[CLI-90] every file as a definition, in every command that reads one', { timeout: 120_000 }, async () => {
    const cwd = projectFolder({ 'nebula.config.mjs': IN_MEMORY });
    for (const name of files) {
      const bytes = readFileSync(path.join(CORPUS, 'json', name));
      for (const file of ['d.json', 'd.yaml']) {
        writeFileSync(path.join(cwd, file), bytes);
        for (const verb of ['validate', 'graph', 'run']) {
          const said = await say(cwd, [verb, file]);
          expectAnswer(said, `${verb} ${name} as ${file}`);
          expect(said.code, name).toBe(2);
          // The place: line and column.
          expect(said.stdout + said.stderr, name).toMatch(/^d\.(json|yaml):\d+:\d+ {2}error [A-Z0-9_]+ /m);
        }
      }
      expectAnswer(await say(cwd, ['validate', '-'], bytes), `stdin ${name}`);
      expectAnswer(await say(cwd, ['validate', 'd.json', '--json']), name);
    }
  });

  test('[CLI-90] every file as an input, in every form', { timeout: 120_000 }, async () => {
    const cwd = projectFolder({ 'nebula.config.mjs': IN_MEMORY, 'echo.yaml': ECHO });
    for (const name of files) {
      const bytes = readFileSync(path.join(CORPUS, 'json', name));
      const text = bytes.toString('utf8');
      writeFileSync(path.join(cwd, 'in.json'), bytes);
      const fromFile = await say(cwd, ['run', 'echo.yaml', '--json', '--input', '@in.json']);
      expectAnswer(fromFile, name);
      if (name.startsWith('y_')) {
        expect([name, fromFile.code]).toEqual([name, 0]);
        expect(JSON.parse(fromFile.stdout).output, name).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
      }
      if (name.startsWith('n_')) expect([name, fromFile.code]).toEqual([name, 2]);
      for (const [words, stdin] of [
        [['run', 'echo.yaml', '--input', '-'], bytes],
        [['run', 'echo.yaml', '--input', text]],
        [['run', 'echo.yaml', '--set', `a=${text}`]],
        [['run', 'echo.yaml', '--set', text]],
        [['eval', text]],
        [['eval', '$input', '--data', '@in.json']],
        [['eval', '1', '--vars', text]],
      ] as [string[], Uint8Array?][]) {
        expectAnswer(await say(cwd, words, stdin), `${words.slice(0, 3).join(' ')} ${name}`);
      }
    }
  });

  test('[CLI-90] naughty strings, by turns as a file, an id, an argument and an option', {
    timeout: 240_000,
  }, async () => {
    const cwd = projectFolder({ 'nebula.config.mjs': IN_MEMORY, 'echo.yaml': ECHO });
    const asFile = (file: string, contentOf: (text: string) => unknown) => (text: string) => {
      const content = contentOf(text);
      writeFileSync(path.join(cwd, file), typeof content === 'string' ? content : JSON.stringify(content));
      return ['run', file];
    };
    const forms: readonly ((text: string) => string[])[] = [
      asFile('raw.yaml', (text) => text),
      asFile('raw.json', (text) => text),
      asFile('id.json', (text) => ({ id: text, nodes: { [text]: { action: 'core.noop@1', needs: [text] } } })),
      asFile('value.json', (text) => ({ id: 'x', nodes: { a: { action: text } }, output: { [text]: text } })),
      (text) => ['run', 'echo.yaml', '--input', text],
      (text) => ['run', 'echo.yaml', '--set', `${text}=1`],
      (text) => ['eval', text],
      (text) => ['validate', text],
      (text) => ['executions', 'show', text],
      (text) => ['executions', 'list', '--workflow', text],
      (text) => [text],
    ];
    // Neighbours in the corpus are alike: of each dozen, every form meets four.
    for (const [at, text] of naughty.entries()) {
      for (const form of forms.filter((_, index) => (at + index) % 3 === 0)) {
        const words = form(text);
        expectAnswer(await say(cwd, words), JSON.stringify([text, ...words]));
      }
    }
  });

  test('[CLI-90] naughty strings, all of them in one run: as names, members, values and options', async () => {
    const cwd = projectFolder({ 'nebula.config.mjs': IN_MEMORY, 'echo.yaml': ECHO });
    const nodes = naughty.map((text, at) => [`n${at}`, { action: 'core.noop@1', name: text }]);
    const named = { id: 'x', name: naughty.join(' '), nodes: Object.fromEntries(nodes) };
    writeFileSync(path.join(cwd, 'name.json'), JSON.stringify(named));
    for (const verb of ['graph', 'run']) {
      const said = await say(cwd, [verb, 'name.json']);
      expectAnswer(said, verb);
      expect(said.code, verb).toBe(0);
    }
    const members = JSON.stringify(Object.fromEntries(naughty.map((text) => [text, text])));
    const given = await say(cwd, ['run', 'echo.yaml', '--json', '--input', members]);
    expect(JSON.parse(given.stdout).output).toEqual(JSON.parse(members));
    const options = naughty.flatMap((text, at) => ['--set', `a${at}=${text}`]);
    const set = await say(cwd, ['run', 'echo.yaml', '--json', ...options]);
    expectAnswer(set, 'options');
    expect(Object.keys(JSON.parse(set.stdout).output)).toHaveLength(naughty.length);
  });
});

const DEEP = 100_000;
const utf16 = Buffer.from('\uFEFF{"id": "x"}', 'utf16le');

/** Each class of hostile text, as bytes, with the codes that a definition and an input get (none: accepted). */
const CLASSES: readonly (readonly [string, string | Buffer, RegExp, RegExp | undefined])[] = [
  ['empty', '', /EMPTY_FILE/, /not JSON: it is empty/],
  ['100,000 open arrays', '['.repeat(DEEP), /TOO_DEEP/, /INPUT_INVALID/],
  ['100,000 closed arrays', '['.repeat(DEEP) + ']'.repeat(DEEP), /TOO_DEEP/, /nests deeper than 200 levels/],
  ['100,000 objects', `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`, /TOO_DEEP/, /nests deeper than 200 levels/],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0x61, 0xff, 0x22]), /NOT_UTF8/, /byte 0xFF at position 2/],
  ['UTF-16', utf16, /NOT_UTF8/, /UTF-16LE, not UTF-8/],
  ['a NUL', '{"id": "x\0"}', /BINARY_FILE/, /not JSON: .*\(line 1, column 10\)/],
  ['half of a surrogate pair', '{"id": "\\ud800"}', /INVALID_UNICODE/, undefined],
  ['a number without end', '{"id": 1e999}', /NUMBER|BAD_ID|WRONG_TYPE|NOT_FINITE|error/, /number at id is too large/],
  ['a key twice', '{"id": "a", "id": "b"}', /DUPLICATE_KEY/, undefined],
  ['a byte order mark', '\uFEFF{"a": 1}', /UNKNOWN_KEY|MISSING_KEY/, undefined],
  ['one word', 'hello', /JSON_SYNTAX/, /not JSON: hello is not a JSON value \(line 1, column 1\)/],
];

describe('every class of hostile text', () => {
  test.each(CLASSES)('[CLI-91] in a real process: %s', async (_name, content, refusedAs, inputRefusedAs) => {
    const cwd = projectFolder({ 'echo.yaml': ECHO });
    writeFileSync(path.join(cwd, 'x.json'), content);
    const validated = await nebula(['validate', 'x.json'], { cwd });
    expectAnswer(validated, 'validate');
    expect([validated.code, validated.stdout]).toEqual([2, expect.stringMatching(refusedAs)]);
    expect(validated.stdout).toMatch(/^x\.json:\d+:\d+ {2}error /m);
    const run = await nebula(['run', 'echo.yaml', '-q', '--input', '@x.json'], { cwd });
    expectAnswer(run, 'run');
    if (inputRefusedAs === undefined) expect([run.code, run.stderr]).toEqual([0, '']);
    else expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(inputRefusedAs)]);
    if (run.code === 2) expect(run.stderr).toMatch(/\nhint: \S/);
  });

  test('[CLI-91] --set and eval get the same care', async () => {
    const cwd = projectFolder({ 'echo.yaml': ECHO, 'deep.json': '['.repeat(DEEP) + ']'.repeat(DEEP) });
    const refused = async (...words: string[]) => {
      const said = await say(cwd, words);
      expect(said.code, said.stderr).toBe(2);
      expect(said.stderr.length).toBeLessThan(1_000);
      return said.stderr;
    };
    expect(await refused('run', 'echo.yaml', '--set', `${'a.'.repeat(60_000)}a=1`)).toContain('nests deeper than 200');
    expect(await refused('run', 'echo.yaml', '--set', `a=${'['.repeat(5_000)}${']'.repeat(5_000)}`)).toContain('USAGE');
    expect(await refused('run', 'echo.yaml', '--set', 'a.b=[1e999]')).toContain('the number at [0] is too large');
    expect(await refused('eval', '$input', '--data', '@deep.json')).toContain('nests deeper than 200');
    expect(await refused('eval', `${' '.repeat(500_000)}oops${' '.repeat(500_000)}`)).toContain('…');
    const pointed = await refused('eval', '1 + \x1b[2J\u009b\u202e');
    expect(pointed).not.toMatch(HARMFUL);
    expect(pointed).toMatch(/^ {2}1 \+ \uFFFD\[2J\uFFFD\uFFFD\n {6}\^/);
  });

  test('[CLI-91] where in a file of several lines', async () => {
    const cwd = projectFolder({ 'echo.yaml': ECHO, 'in.json': '{\n  "a": 1,\n  "b" 2\n}' });
    const { stderr } = await say(cwd, ['run', 'echo.yaml', '--input', '@in.json']);
    expect(stderr).toBe(
      `error INPUT_INVALID: --input (in.json) is not JSON: expected ':' after the key, found '2' (line 3, column 7)\n` +
        'hint: write "key": value\n',
    );
  });
});

describe('files that are none', () => {
  test('[CLI-92] a folder, a device, nothing, and a file beyond the limit', async () => {
    const cwd = projectFolder({ 'echo.yaml': ECHO, 'big.json': '' });
    mkdirSync(path.join(cwd, 'folder'));
    truncateSync(path.join(cwd, 'big.json'), 65 * 1024 * 1024);
    for (const [file, code] of [
      ['folder', 'FILE_UNREADABLE'],
      ['/dev/zero', 'FILE_UNREADABLE'],
      ['none.json', 'FILE_NOT_FOUND'],
      ['echo.yaml/none.json', 'FILE_NOT_FOUND'],
      ['big.json', 'TOO_LARGE'],
    ] as const) {
      for (const verb of ['validate', 'graph', 'run']) {
        const { code: exitCode, stderr } = await say(cwd, [verb, file]);
        expect([exitCode, stderr]).toEqual([2, expect.stringMatching(new RegExp(`^error ${code}: .*\nhint: `))]);
      }
      const input = await say(cwd, ['run', 'echo.yaml', '--input', `@${file}`]);
      const inputCode = code === 'TOO_LARGE' ? code : 'INPUT_INVALID';
      expect([input.code, input.stderr]).toEqual([
        2,
        expect.stringMatching(new RegExp(`^error ${inputCode}: .*\nhint`)),
      ]);
    }
  });

  test('[CLI-92] a file that this user may not read', async () => {
    const cwd = projectFolder({ 'echo.yaml': ECHO, 'secret.yaml': ECHO });
    execFileSync('chmod', ['-R', 'a+rX', cwd]);
    execFileSync('chmod', ['000', path.join(cwd, 'secret.yaml')]);
    // Root may read everything, and can act as another user.
    const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    const { code, stderr } = await nebula(['validate', 'secret.yaml'], { cwd, ...uid });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^error FILE_UNREADABLE: .*EACCES.*\nhint: .*may read it/),
    ]);
  });

  // Windows has no such pipes.
  test.skipIf(process.platform === 'win32')(
    '[CLI-92] a pipe: read, limited, and not waited for in silence',
    async () => {
      const cwd = projectFolder({ 'echo.yaml': ECHO });
      execFileSync(MAKE_PIPE, [path.join(cwd, 'pipe')]);
      const waiting = startNebula(['run', 'echo.yaml', '--json', '--input', '@pipe'], { cwd });
      onTestFinished(() => void waiting.child.kill('SIGKILL'));
      await waiting.until('nothing has been written yet');
      writeFileSync(path.join(cwd, 'pipe'), '{"late": true}');
      const { code, stdout } = await waiting.ended;
      expect([code, JSON.parse(stdout).output]).toEqual([0, { late: true }]);
      const endless = startNebula(['validate', 'pipe'], { cwd });
      execFileSync('bash', ['-c', `yes > '${path.join(cwd, 'pipe')}' || true`], { stdio: 'ignore' });
      expect(await endless.ended).toMatchObject({ code: 2, stderr: expect.stringContaining('error TOO_LARGE') });
    },
  );
});

const ESCAPES = '\x1b[2J\x1b]0;owned\x07\u009b31m\u202eabc\u2066\x7f\x00';

describe('control characters', () => {
  test('[CLI-93] in names, ids, messages, logs, keys and file names: shown, never obeyed', async () => {
    const flow = {
      id: 'escapes',
      name: ESCAPES,
      description: ESCAPES,
      nodes: {
        log: { action: 'core.log@1', name: ESCAPES, with: { message: `${ESCAPES}\nsecond line` } },
        value: { action: 'core.set@1', needs: ['log'], with: { value: { [ESCAPES]: ESCAPES } } },
        fail: { action: 'core.fail@1', name: ESCAPES, needs: ['value'], with: { message: ESCAPES, code: 'ODD' } },
      },
      edges: [{ from: 'log', to: 'fail', when: `"${'\u202e\u009b'}" == ""` }],
    };
    const file = 'e\x1b[31mv\u009bil.json';
    const cwd = projectFolder({ [file]: JSON.stringify(flow), 'bad\x1b[2J.yaml': 'id: [' });
    for (const words of [
      ['validate', file],
      ['validate', 'bad\x1b[2J.yaml'],
      ['graph', file],
      ['graph', file, '--json'],
      ['graph', file, '--format', 'dot'],
      ['graph', file, '--format', 'mermaid'],
      ['run', file],
      ['run', file, '--json'],
      ['executions', 'list', '--json'],
    ]) {
      const { stdout, stderr } = await say(cwd, words);
      expect(stdout + stderr, words.join(' ')).not.toMatch(HARMFUL);
      expect((stdout + stderr).length).toBeGreaterThan(5);
    }
    const { items: executions } = JSON.parse((await say(cwd, ['executions', 'list', '--json'])).stdout);
    for (const verb of ['show', 'timeline', 'logs', 'journal', 'explain']) {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await say(cwd, ['executions', verb, executions[0].executionId, ...more]);
        expect(stdout + stderr, verb).not.toMatch(HARMFUL);
        expect(stderr).toBe('');
      }
    }
    const { stdout } = await say(cwd, ['executions', 'show', executions[0].executionId, '--json']);
    // Escaped for terminals; to a program it is the same text.
    expect(JSON.parse(stdout).nodes.value.output).toEqual({ [ESCAPES]: ESCAPES });
    expect(JSON.parse(stdout).error.message).toBe(ESCAPES);
  });
});

describe('names that every object inherits', () => {
  const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'prototype', '__defineGetter__'];

  test.each(NAMES)('[CLI-90] %s is a name like any other', async (name) => {
    const flow = {
      id: name,
      variables: { [name]: 1 },
      nodes: {
        [name]: { action: 'core.set@1', with: { value: { [name]: `{{ $vars['${name}'] }}` } } },
        next: { action: 'core.set@1', needs: [name], with: { value: `{{ $nodes['${name}'].output['${name}'] }}` } },
      },
      output: { [name]: '{{ $nodes.next.output }}', input: `{{ $input['${name}'] }}` },
    };
    const cwd = projectFolder({ 'x.json': JSON.stringify(flow) });
    const { code, stdout, stderr } = await say(cwd, ['run', 'x.json', '--json', '--set', `${name}=2`]);
    expect(code, stderr + stdout).toBe(0);
    expect(JSON.parse(stdout).output).toEqual({ [name]: 1, input: 2 });
    writeFileSync(path.join(cwd, 'y.json'), JSON.stringify({ id: 'y', nodes: { a: { action: name, [name]: 1 } } }));
    expectAnswer(await say(cwd, ['validate', 'y.json']), name);
  });

  test('[CLI-90] __proto__ is refused with its position', async () => {
    const cwd = projectFolder({ 'x.json': '{"id": "x", "nodes": {"__proto__": {"action": "core.noop@1"}}}' });
    const { code, stdout } = await say(cwd, ['validate', 'x.json']);
    expect([code, stdout]).toEqual([2, expect.stringMatching(/^x\.json:1:\d+ {2}error RESERVED_KEY /m)]);
    expect(({} as Record<string, unknown>).action).toBeUndefined();
  });
});

describe('shapes that break readers', () => {
  const node = 'action: core.noop@1';
  test.each([
    [
      'aliases that multiply',
      `id: x\nv: &a [1,1]\nw: &b [${'*a,'.repeat(90)}]\nz: [${'*b,'.repeat(90)}]\n`,
      'TOO_MANY',
    ],
    ['an anchor inside itself', 'id: x\nvariables: &v { a: *v }\n', 'UNKNOWN_ALIAS'],
    ['merge keys', `id: x\nnodes: { a: &a { <<: *a, ${node} } }\n`, 'MERGE_KEY'],
    ['a function', 'id: !!js/function "function () {}"\n', 'UNKNOWN_TAG'],
    ['several documents', 'id: x\n---\nid: y\n', 'SEVERAL_DOCUMENTS'],
    ['tabs', `id: x\nnodes:\n\ta: { ${node} }\n`, 'YAML_SYNTAX'],
    ['a circle', `id: x\nnodes: { a: { ${node}, needs: [b] }, b: { ${node}, needs: [a] } }\n`, 'CYCLE'],
    ['an id that is too long', `id: x\nnodes: { ${'n'.repeat(201)}: { ${node} } }\n`, 'BAD_ID'],
    ['50,000 dashes', `id: x\nvariables: ${'- '.repeat(50_000)}a`, 'TOO_DEEP|YAML_SYNTAX'],
    ['right to left', `id: x\nnodes: { a: { ${node}, bog\u202eus: 1 } }\n`, 'UNKNOWN_KEY'],
    ['a line of a megabyte', `id: x\nbogus: ${'y'.repeat(1_000_000)}\nnodes: { a: { ${node} } }\n`, 'UNKNOWN_KEY'],
  ])('[CLI-90] %s', async (_name, text, code) => {
    const cwd = projectFolder({ 'x.yaml': text });
    for (const verb of ['validate', 'graph', 'run']) {
      const said = await say(cwd, [verb, 'x.yaml']);
      expectAnswer(said, verb);
      expect(said.stdout + said.stderr).toMatch(new RegExp(`^x\\.yaml:\\d+:\\d+ {2}error (${code})`, 'm'));
      expect(said.stdout.length + said.stderr.length).toBeLessThan(5_000);
    }
  });

  test.each([
    ['CRLF', `id: x\r\nnodes:\r\n  a: { ${node} }\r\n`],
    ['a byte order mark', `\uFEFFid: x\nnodes: { a: { ${node} } }\n`],
    ['ids as long as they may be', `id: ${'i'.repeat(200)}\nnodes: { ${'n'.repeat(200)}: { ${node} } }\n`],
  ])('[CLI-90] %s is fine', async (_name, text) => {
    const cwd = projectFolder({ 'x.yaml': text });
    for (const verb of ['validate', 'graph', 'run']) expect((await say(cwd, [verb, 'x.yaml'])).code).toBe(0);
  });

  test('[CLI-90] 10,000 problems are counted, and the first of them told', async () => {
    const nodes = Array.from({ length: 10_000 }, (_, n) => `  n${n}: { actoin: x, needs: [no${n}] }`).join('\n');
    const cwd = projectFolder({ 'x.yaml': `id: x\nnodes:\n${nodes}\n` });
    const { code, stdout } = await say(cwd, ['validate', 'x.yaml']);
    expect(code).toBe(2);
    expect(stdout.length).toBeLessThan(50_000);
    expect(stdout).toMatch(/error UNKNOWN_KEY .*'actoin'/);
  });
});
