import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import nebulaConfig from '../../nebula.config.ts';
import { fencesIn } from '../docs/fences.ts';
import { generatedPages } from '../docs/generate.ts';
import { hasTerminal, Playground, ROOT } from '../docs/playground.ts';
import { codesIn, unexplainedCodes } from '../docs/reference/errors.ts';
import { Screen } from '../docs/screen.ts';
import { snippetOf } from '../docs/snippets.ts';
import { filmSvg, stillSvg } from '../docs/terminal-svg.ts';
import { commandsIn, firstDifference } from '../docs/transcript.ts';
import { tryDocument } from '../docs/try-document.ts';
import { typeErrors } from '../docs/type-check.ts';
import { packagesOf } from '../release/packages.ts';

/** Written by hand; those made by `npm run docs` are compared with their source. The slowest first. */
const DOCUMENTS = [
  'README.md',
  'examples/README.md',
  ...readdirSync(path.join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md') && name !== 'ARCHITECTURE.md')
    .map((name) => `docs/${name}`),
  ...packagesOf(ROOT).map(({ folder }) => `${folder}/README.md`),
];

const textOf = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

describe.concurrent('the documentation is true', { timeout: 600_000 }, () => {
  // Commands are run in a terminal, which `script` of util-linux makes.
  test.skipIf(!hasTerminal()).each(DOCUMENTS)('%s', async (document) => {
    const playground = new Playground();
    try {
      await tryDocument(document, textOf(document), playground, nebulaConfig.actions ?? []);
    } finally {
      playground.remove();
    }
  });

  test('its TypeScript has no type errors', async () => {
    const fences = DOCUMENTS.flatMap((document) => fencesIn(document, textOf(document)));
    const code = fences.filter(({ language }) => language === 'ts');
    expect(code.length).toBeGreaterThan(3);
    expect(await typeErrors(code)).toEqual([]);
  });
});

describe('the reference', () => {
  test('equals the output of `npm run docs`', async () => {
    for (const { path: file, text } of await generatedPages()) {
      expect(textOf(file) === text, `${file} is out of date: npm run docs`).toBe(true);
    }
  });

  test('explains every code that the sources report, and no other', () => {
    const where = 'one sentence each in tools/docs/reference/error-meanings.ts';
    expect(unexplainedCodes(), where).toEqual({ missing: [], stale: [] });
  });

  test('finds codes wherever they are reported', () => {
    const text = `
      class Odd { readonly code: 'IN_TYPE' | 'IN_OTHER_TYPE' = 'IN_TYPE'; }
      const LOST = 'LOST';
      const code = known ?? 'A_FALLBACK';
      throw new NebulaError('THROWN', 'words');
      document.report(path, 'REPORTED', 'words');
      fail({ code: isOne ? 'THE_ONE' : 'THE_OTHER', message });
      run('COMMIT');
      make('THROWN', 'USER', 'words');
      if (error.code === 'COMPARED') commands('verb', 'NODE');
    `;
    const { program } = parseSync('odd.ts', text);
    expect([...codesIn({ program })].sort()).toEqual([
      'A_FALLBACK',
      'IN_OTHER_TYPE',
      'IN_TYPE',
      'LOST',
      'REPORTED',
      'THE_ONE',
      'THE_OTHER',
      'THROWN',
    ]);
  });
});

describe('the pictures', () => {
  test('are text at its position, drawn lines and blocks, and valid XML', () => {
    const screen = new Screen(20);
    screen.write('a <b> \x1b[31m██\x1b[39m');
    const svg = stillSvg('a & b', 20, screen.lines());
    expect(svg).toContain('<title>a &amp; b</title>');
    expect(svg).toContain('textLength="42" lengthAdjust="spacingAndGlyphs">a &lt;b&gt;</text>');
    expect(svg).toMatch(/<rect x="50.4" [^>]*width="16.8"/);
    expect(svg).not.toContain('@keyframes');
  });

  test('show a line while it has text, and one still frame to viewers who want no motion', () => {
    const line = (text: string) => [[{ column: 0, text, style: {} }]];
    const frames = [
      { atMs: 0, lines: [...line('same'), ...line('one')] },
      { atMs: 500, lines: [...line('same'), ...line('two')] },
    ];
    const svg = filmSvg({ title: 't', columns: 10, frames, holdMs: 500, stillMs: 600 });
    expect(svg.match(/>same</g)).toHaveLength(1);
    expect(svg).toContain('50%{visibility:hidden}');
    expect(svg).toMatch(/class="scene"><text[^>]*>one</);
    expect(svg).toMatch(/class="scene still"><text[^>]*>two</);
  });

  test('show the current workflow', () => {
    const [, nodesOn = ''] = textOf('examples/order.yaml').split(/^nodes:$/m);
    const nodes = [...nodesOn.matchAll(/^ {2}(\w+):$/gm)].map((match) => match[1]!);
    expect(nodes).toContain('charge');
    const picture = textOf('docs/pictures/run.svg');
    const missing = nodes.filter((name) => !new RegExp(`[ >]${name}</text>`).test(picture));
    expect(missing, 'make them anew: node tools/docs/record.ts').toEqual([]);
  });
});

describe('the tests of the documentation', () => {
  const fence = (info: string) => fencesIn('a.md', `text\n\n\`\`\`${info}\nx\n\`\`\`\n`);

  test('find fences with their marks and lines', () => {
    expect(fence('yaml file=a.yaml unrun')).toEqual([
      {
        document: 'a.md',
        line: 3,
        language: 'yaml',
        text: 'x',
        marks: new Map([
          ['file', 'a.yaml'],
          ['unrun', ''],
        ]),
      },
    ]);
  });

  test('reject unknown marks and languages, and fences that never end', () => {
    expect(() => fence('yaml unrnu')).toThrow('a.md:3 yaml has no mark "unrnu"');
    expect(() => fence('bash')).toThrow('a.md:3 "bash" is no language');
    expect(() => fencesIn('a.md', '```sh\nls\n')).toThrow('a.md:1 the fence is never closed');
  });

  test('put parts of workflows into a frame', () => {
    expect(snippetOf('id: a\nnodes: {}').isWhole).toBe(true);
    expect(snippetOf('config: { mode: levels }').source).toContain('id: frame\nconfig: { mode: levels }\n');
    expect(snippetOf('retry: { attempts: 3 }').source).toContain('    action: core.noop@1\n    retry: { attempts: 3 }');
    expect(snippetOf('a:\n  action: core.noop@1').source).toBe('id: frame\nnodes:\n  a:\n    action: core.noop@1\n');
  });

  test('parse commands and their output', () => {
    expect(commandsIn('$ a \\\n  --b\nout\n$ c', 10)).toEqual([
      { line: 10, text: 'a \\\n  --b', expected: ['out'] },
      { line: 13, text: 'c', expected: [] },
    ]);
  });

  test('see differences, but not in times, ids and the width of columns', () => {
    expect(firstDifference(['✓ a  1.8s exe_…'], ['✓ a        12ms exe_01m7gh8p3k9ea68mj3xphjbxzq', ''])).toBeNull();
    expect(firstDifference(['a', '…', 'z'], ['a', 'b', 'c', 'z'])).toBeNull();
    expect(firstDifference(['hint: …'], ['hint: did you mean it?'])).toBeNull();
    expect(firstDifference(['a', 'z'], ['a', 'b', 'z'])).toBe('z');
    expect(firstDifference(['a'], ['a', 'b'])).toContain('b');
    expect(firstDifference(['a', 'b'], ['a'])).toBe('b');
    expect(firstDifference(['v1'], ['v2'])).toBe('v1');
  });

  test('see a screen as a terminal does', () => {
    const screen = new Screen(20);
    screen.write('one\ntwo\n\x1b[1A\x1b[3');
    screen.write('2mok\x1b[39m\x1b[K\n');
    expect(screen.lines()).toEqual([
      [{ column: 0, text: 'one', style: {} }],
      [{ column: 0, text: 'ok', style: { colour: 'green' } }],
    ]);
  });
});
