import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, type Site, serve } from './support/browser.ts';
import { boxOf, openGraph } from './support/graph-page.ts';

/** The guide, whose snippets are opened as they are printed. */
const GUIDE = readFileSync(path.join(import.meta.dirname, '../../../docs/canvas.md'), 'utf8');
const snippets = (language: string): string[] =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1]!);

const file = (name: string): string => path.join(import.meta.dirname, 'pages', name);
const blank = (script: string): string =>
  `<!doctype html><title>Guide</title><link rel="stylesheet" href="/page.css">${script === 'react' ? '<div id="root"></div>' : '<nebula-graph></nebula-graph>'}<script type="module" src="/${script}.js"></script>`;

let browser: Browser;
let site: Site;

beforeAll(async () => {
  const [definition, live] = snippets('js');
  const events = `[{ at: 0, type: 'NodeStarted', node: 'greet' }, { at: 9, type: 'NodeFailed', node: 'greet' }]`;
  const client = `const executionId = 'exe_1'; const nebula = { call: async () => ({ definition: { id: 'hello', nodes: { greet: { action: 'core.log@1' } } } }), async *events() { yield* ${events}; } };`;
  site = await serve(
    {
      '/plain': snippets('html')[0]!,
      '/react': blank('react'),
      '/definition': blank('definition'),
      '/live': blank('live'),
    },
    {
      'node_modules/@nebula/canvas/lib/index': path.join(import.meta.dirname, '../src/index.ts'),
      react: file('guide-app.tsx'),
      definition: file('guide-definition.js'),
      live: file('guide-live.js'),
    },
    {
      policy: "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'",
      sources: {
        [file('guide-app.tsx')]: snippets('tsx')[0]!,
        [file('guide-definition.js')]: definition!,
        [file('guide-live.js')]: `import '@nebula/canvas';\n${client}\n${live}`,
      },
    },
  );
  browser = await openBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  site?.close();
});

describe('the guide', () => {
  it('[CNV-65] has a plain page of ten lines that shows a graph', async () => {
    expect(snippets('html')[0]!.trim().split('\n')).toHaveLength(10);
    const { page, errors } = await openGraph(browser, `${site.url}/plain`, 'wave');
    const { middle } = await boxOf(page, 'wave');
    await page.mouse.click(middle.x, middle.y);
    await expect.poll(() => page.title()).toBe('wave');
    expect(errors).toEqual([]);
  });

  it('[CNV-65] has a React app of ten lines that shows a graph', async () => {
    expect(
      snippets('tsx')[0]!
        .trim()
        .split('\n')
        .filter((line) => line !== ''),
    ).toHaveLength(9);
    const { page, errors } = await openGraph(browser, `${site.url}/react`, 'wave');
    const { middle } = await boxOf(page, 'wave');
    await page.mouse.click(middle.x, middle.y);
    await expect.poll(() => page.textContent('h1')).toBe('wave');
    expect(errors).toEqual([]);
  });

  it('[CNV-65] shows a definition and a live run in three lines each', async () => {
    for (const snippet of snippets('js')) expect(snippet.trim().split('\n')).toHaveLength(3);
    const { errors } = await openGraph(browser, `${site.url}/definition`, 'wave');
    const { page } = await openGraph(browser, `${site.url}/live`, 'greet');
    await expect
      .poll(() =>
        page.evaluate(
          () => document.querySelector('nebula-graph')!.shadowRoot!.querySelector('[role=treeitem]')?.textContent,
        ),
      )
      .toBe('greet, action, failed');
    expect(errors).toEqual([]);
  });
});
