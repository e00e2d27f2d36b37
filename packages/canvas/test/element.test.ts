import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NebulaGraphElement } from '../src/index.ts';
import { openBrowser, openPage, type Site, serve } from './support/browser.ts';

const file = (name: string): string => path.join(import.meta.dirname, name);
const html = (body: string, script: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Graph</title><link rel="stylesheet" href="/page.css">${body}<script type="module" src="/${script}.js"></script>`;

let browser: Browser;
let site: Site;

beforeAll(async () => {
  site = await serve(
    {
      '/plain': html('<nebula-graph></nebula-graph>', 'plain'),
      '/edit': html('<nebula-graph editable></nebula-graph>', 'plain'),
      '/react': html('<div id="root"></div>', 'react'),
    },
    {
      plain: file('pages/plain.ts'),
      react: file('pages/react.ts'),
      'layout-worker': file('../src/layout/layout-worker.ts'),
    },
  );
  browser = await openBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  site?.close();
});

interface Selected {
  readonly selection: readonly string[];
  readonly edges: readonly string[];
}

async function graphPage(name: string): Promise<{ page: Page; errors: string[] }> {
  const opened = await openPage(browser, `${site.url}/${name}`);
  await opened.page.waitForFunction(() => {
    const element = document.querySelector('nebula-graph');
    return element !== null && (element as NebulaGraphElement).boxOf('fetch') !== undefined;
  });
  // The size of the element is known, and the graph is painted.
  await opened.page.evaluate(async () => {
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  });
  return opened;
}

const stateOf = (page: Page): Promise<Selected> =>
  page.evaluate(() => {
    const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
    return { selection: graph.selection, edges: [...graph.graph.edges.keys()] };
  });

const boxOf = async (page: Page, id: string) => {
  const box = await page.evaluate((node) => {
    const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
    const { left, top } = graph.getBoundingClientRect();
    const own = graph.boxOf(node)!;
    return { ...own, x: own.x + left, y: own.y + top };
  }, id);
  return { ...box, middle: { x: box.x + box.width / 2, y: box.y + box.height / 2 } };
};

async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
  await page.mouse.move(to.x, to.y);
  await page.mouse.up();
}

describe('<nebula-graph>', () => {
  it('[CNV-30] draws a definition and a run in a page with a strict policy, and logs no error', async () => {
    const { page, errors } = await graphPage('plain');
    const box = await boxOf(page, 'pack');
    const colours = await page.evaluate(
      ({ x, y }) => {
        const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
        const ink = graph.shadowRoot!.querySelector('canvas')!.getContext('2d')!;
        const { left, top } = graph.getBoundingClientRect();
        const at = (px: number, py: number): number[] => [...ink.getImageData(px - left, py - top, 1, 1).data];
        return { inside: at(x + 6, y + 20), outside: at(x - 6, y + 20) };
      },
      { x: Math.round(box.x), y: Math.round(box.y) },
    );
    expect(colours.inside).not.toEqual(colours.outside);
    expect(errors).toEqual([]);
  });

  it('[CNV-31] tells screen readers every node, its status and where it leads', async () => {
    const { page } = await graphPage('plain');
    await page.waitForFunction(
      () => document.querySelector('nebula-graph')!.shadowRoot!.querySelectorAll('[role=treeitem]').length === 5,
    );
    const items = await page.evaluate(() =>
      [...document.querySelector('nebula-graph')!.shadowRoot!.querySelectorAll('[role=treeitem] > span')].map(
        (item) => item.textContent,
      ),
    );
    expect(items).toEqual([
      'fetch, action, completed, leads to pick, pack',
      'pick, loop, running, leads to ship',
      'one, action',
      'pack, action, failed, leads to ship',
      'ship, action, pending',
    ]);
  });

  it('[CNV-32] is used with the keyboard alone', async () => {
    const { page } = await graphPage('plain');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    expect((await stateOf(page)).selection).toEqual(['fetch']);
    await page.keyboard.press('ArrowRight');
    expect((await stateOf(page)).selection).toEqual(['pack']);
    await page.keyboard.press('ArrowUp');
    expect((await stateOf(page)).selection).toEqual(['pick']);
    await page.keyboard.press('Space');
    expect(
      await page.evaluate(() => [...(document.querySelector('nebula-graph') as NebulaGraphElement).collapsed]),
    ).toEqual(['pick']);
    await page.keyboard.press('ArrowRight');
    expect((await stateOf(page)).selection).toEqual(['ship']);
    await page.keyboard.press('Escape');
    expect((await stateOf(page)).selection).toEqual([]);
  });

  it('[CNV-33] selects by click, with Shift and by area; zooms around the pointer', async () => {
    const { page } = await graphPage('plain');
    const [fetch, ship] = [await boxOf(page, 'fetch'), await boxOf(page, 'ship')];
    await page.mouse.click(fetch.middle.x, fetch.middle.y);
    await page.keyboard.down('Shift');
    await page.mouse.click(ship.middle.x, ship.middle.y);
    expect((await stateOf(page)).selection).toEqual(['fetch', 'ship']);
    await drag(
      page,
      { x: fetch.x - 10, y: fetch.y - 10 },
      { x: fetch.x + fetch.width + 10, y: fetch.y + fetch.height + 10 },
    );
    await page.keyboard.up('Shift');
    expect((await stateOf(page)).selection).toEqual(['fetch']);
    await page.mouse.move(ship.middle.x, ship.middle.y);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    const zoomed = await boxOf(page, 'ship');
    expect(zoomed.width).toBeGreaterThan(ship.width);
    // The pointer is at whole pixels.
    expect(Math.abs(zoomed.middle.x - ship.middle.x)).toBeLessThan(1);
  });

  it('[CNV-34] connects, moves, removes and undoes in an editable graph', async () => {
    const { page, errors } = await graphPage('edit');
    const [fetch, pack, ship] = [await boxOf(page, 'fetch'), await boxOf(page, 'pack'), await boxOf(page, 'ship')];
    await drag(page, { x: fetch.x + fetch.width, y: fetch.middle.y }, ship.middle);
    expect((await stateOf(page)).edges).toContain('fetch→ship');
    // A second edge that closes a cycle is refused.
    const from = await boxOf(page, 'ship');
    await drag(page, { x: from.x + from.width, y: from.middle.y }, (await boxOf(page, 'fetch')).middle);
    expect((await stateOf(page)).edges).toHaveLength(5);
    await page.keyboard.press('Control+z');
    expect((await stateOf(page)).edges).toHaveLength(4);
    const before = await boxOf(page, 'pack');
    await drag(page, before.middle, { x: before.middle.x, y: before.middle.y + 60 });
    expect((await boxOf(page, 'pack')).y).toBeCloseTo(before.y + 60, 0);
    expect(pack.width).toBeGreaterThan(0);
    const moved = await boxOf(page, 'pack');
    await page.mouse.click(moved.middle.x, moved.middle.y);
    await page.keyboard.press('Delete');
    expect((await stateOf(page)).edges).toEqual(['fetch→pick', 'pick→ship']);
    expect(errors).toEqual([]);
  });

  it('[CNV-35] computes a large layout in a worker', async () => {
    const { page, errors } = await graphPage('plain');
    const width = await page.evaluate(async () => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      const nodes: Record<string, { action: string; needs?: string[] }> = {};
      for (let at = 0; at < 1_000; at++)
        nodes[`n${at}`] = { action: 'core.log@1', ...(at < 10 ? {} : { needs: [`n${at - 10}`] }) };
      graph.definition = { id: 'large', nodes };
      while (graph.boxOf('n999') === undefined) await new Promise(requestAnimationFrame);
      return graph.boxOf('n999')!.width;
    });
    expect(width).toBeGreaterThan(0);
    expect(page.workers()).toHaveLength(1);
    expect(errors).toEqual([]);
  });
});

describe('<NebulaGraph />', () => {
  it('[CNV-36] takes properties and events', async () => {
    const { page, errors } = await graphPage('react');
    const ship = await boxOf(page, 'ship');
    await page.mouse.click(ship.middle.x, ship.middle.y);
    await page.waitForFunction(() => document.querySelector('p')!.textContent === 'ship');
    expect(errors).toEqual([]);
  });

  it('[CNV-66] shows a selection that was set before it was in the page', async () => {
    const { page } = await graphPage('plain');
    const selection = await page.evaluate(() => {
      const before = document.querySelector('nebula-graph') as NebulaGraphElement;
      const graph = document.createElement('nebula-graph') as NebulaGraphElement;
      graph.graph = before.graph;
      graph.selection = ['fetch'];
      before.replaceWith(graph);
      return graph.selection;
    });
    expect(selection).toEqual(['fetch']);
  });
});
