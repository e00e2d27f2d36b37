import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NebulaGraphElement } from '../src/index.ts';
import { THEMES } from '../src/view/theme.ts';
import { openBrowser, type Site, serve } from './support/browser.ts';
import { boxOf, colourAt, drag, drawn, openGraph, type Spot, seenEvents } from './support/graph-page.ts';

const file = (name: string): string => path.join(import.meta.dirname, name);
const html = (attributes: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Graph</title><link rel="stylesheet" href="/page.css"><nebula-graph theme="light" ${attributes}></nebula-graph><button>after</button><script type="module" src="/run.js"></script>`;

let browser: Browser;
let site: Site;

beforeAll(async () => {
  site = await serve(
    { '/run': html(''), '/edit': html('editable') },
    { run: file('pages/run.ts'), 'layout-worker': file('../src/layout/layout-worker.ts') },
  );
  browser = await openBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  site?.close();
});

const open = (name: string) => openGraph(browser, `${site.url}/${name}`, 'fetch');

const itemOf = (page: Page, start: string): Promise<string | null> =>
  page.evaluate((name) => {
    const items = document.querySelector('nebula-graph')!.shadowRoot!.querySelectorAll('[role=treeitem] > span');
    return [...items].map(({ textContent }) => textContent).find((text) => text!.startsWith(name)) ?? null;
  }, start);

describe('iterations', () => {
  it('[CNV-50] a loop shows the first failed iteration, and others when they are chosen', async () => {
    const { page, errors } = await open('run');
    expect(await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).scopes)).toEqual({
      items: 7_000,
    });
    await expect.poll(() => itemOf(page, 'pack')).toBe('pack, action, failed');
    await page.evaluate(() => {
      (document.querySelector('nebula-graph') as NebulaGraphElement).scopes = { items: 3 };
    });
    await expect.poll(() => itemOf(page, 'pack')).toBe('pack, action, completed');
    const items = await boxOf(page, 'items');
    const scale = items.width / (await widthOf(page));
    // The strip is 24 pixels above the lower end of the header, of 68 pixels.
    const strip = (share: number): Spot => ({
      x: items.x + (16 + share * (items.width / scale - 32)) * scale,
      y: items.y + (68 - 24) * scale,
    });
    await page.mouse.click(strip(0.7001).x, strip(0.7001).y);
    expect(await seenEvents(page, 'nebula-iteration')).toEqual([{ group: 'items', iteration: 7_000 }]);
    await expect.poll(() => itemOf(page, 'pack')).toBe('pack, action, failed');
    // A page that prevents the choice keeps the iteration.
    await page.evaluate(() => (globalThis as unknown as { prevented: Set<string> }).prevented.add('nebula-iteration'));
    await page.keyboard.press('ArrowRight');
    await page.mouse.click(strip(0.01).x, strip(0.01).y);
    expect(await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).scopes)).toEqual({
      items: 7_000,
    });
    expect(errors).toEqual([]);
  });

  it('[CNV-50] Page Down and Page Up choose iterations, with Shift failed ones', async () => {
    const { page } = await open('run');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.scopes = { items: 3 };
      graph.focus();
      graph.focusNode('items/pack');
    });
    await page.keyboard.press('PageDown');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Shift+PageDown');
    expect(await seenEvents(page, 'nebula-iteration')).toEqual(
      [4, 5, 4, 7_000].map((iteration) => ({ group: 'items', iteration })),
    );
  });

  it('[CNV-51] one failure of 10,000 is seen in the strip of a collapsed loop', async () => {
    const { page } = await open('run');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.collapsed = ['items'];
      graph.fit();
    });
    await drawn(page);
    const box = await boxOf(page, 'items');
    const scale = box.height / 92;
    const y = box.y + box.height - 16 * scale;
    const colours = new Set<string>();
    for (let x = box.x + 16 * scale; x < box.x + box.width - 16 * scale; x++)
      colours.add(await colourAt(page, { x, y }));
    expect(colours).toContain(THEMES.light.status.failed);
  });
});

async function widthOf(page: Page): Promise<number> {
  const [box, zoom] = [
    await boxOf(page, 'items'),
    await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).camera.zoom),
  ];
  return box.width / zoom;
}

describe('edges', () => {
  it('[CNV-52] are drawn by what the run did', async () => {
    const { page } = await open('run');
    const [items, ship, fetch, note] = await Promise.all(
      ['items', 'ship', 'fetch', 'note'].map((id) => boxOf(page, id)),
    );
    // Just before the arrow, the edge is straight.
    const before = (box: Spot & { middle: Spot }): Spot => ({ x: box.x - 4, y: box.middle.y });
    expect(await colourAt(page, before(ship!))).toBe(THEMES.light.dimEdge);
    expect(await colourAt(page, before(note!))).toBe(THEMES.light.takenEdge);
    await page.evaluate(() => {
      (document.querySelector('nebula-graph') as NebulaGraphElement).edgeStates = {
        'items→ship': 'taken',
        'fetch→note': 'open',
      };
    });
    await drawn(page);
    expect(await colourAt(page, before(ship!))).toBe(THEMES.light.takenEdge);
    expect(await colourAt(page, before(note!))).toBe(THEMES.light.edge);
    expect(items!.width).toBeGreaterThan(fetch!.width);
  });

  it('[CNV-53] a refused edge is shown with its reason, and an edge to nothing asks for a node', async () => {
    const { page, errors } = await open('edit');
    const [ship, fetch] = [await boxOf(page, 'ship'), await boxOf(page, 'fetch')];
    await page.mouse.move(ship.x + ship.width, ship.middle.y);
    await page.mouse.down();
    await page.mouse.move(fetch.middle.x + 20, fetch.middle.y);
    await page.mouse.move(fetch.middle.x, fetch.middle.y);
    await drawn(page);
    // The hint is below the pointer, in the colour of an error.
    expect(await colourAt(page, { x: fetch.middle.x + 17, y: fetch.middle.y + 28 }, 1)).toBe(THEMES.light.error);
    await page.mouse.move(ship.middle.x, ship.y + ship.height + 120);
    await page.mouse.up();
    expect(await seenEvents(page, 'nebula-connect')).toEqual([]);
    await drag(page, { x: ship.x + ship.width, y: ship.middle.y }, { x: ship.middle.x, y: ship.y + ship.height + 120 });
    expect(await seenEvents(page, 'nebula-add')).toMatchObject([{ after: 'ship', kind: 'success' }]);
    expect(errors).toEqual([]);
  });

  it('[CNV-53] are drawn with the keyboard', async () => {
    const { page } = await open('edit');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.focus();
      graph.focusNode('note');
      graph.selection = ['note'];
    });
    await page.keyboard.press('c');
    const status = () =>
      page.evaluate(
        () => document.querySelector('nebula-graph')!.shadowRoot!.querySelector('[role=status]')!.textContent,
      );
    expect(await status()).toMatch(/^Connect note to (items|ship): Enter connects/);
    const first = await status();
    await page.keyboard.press('ArrowDown');
    expect(await status()).not.toBe(first);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('c');
    await page.keyboard.press('Enter');
    expect(await seenEvents(page, 'nebula-connect')).toMatchObject([{ from: 'note', kind: 'error' }]);
    // Escape ends it without an edge.
    await page.keyboard.press('c');
    await page.keyboard.press('Escape');
    expect(await seenEvents(page, 'nebula-connect')).toEqual([]);
  });

  it('[CNV-55] are selected and removed, and asked for a node', async () => {
    const { page } = await open('edit');
    const [fetch, note] = [await boxOf(page, 'fetch'), await boxOf(page, 'note')];
    await page.mouse.click(note.x - 8, note.middle.y);
    expect(await seenEvents(page, 'nebula-select')).toEqual([{ nodes: [], edges: ['fetch→note'] }]);
    await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).focusNode('fetch'));
    await page.keyboard.press('Delete');
    expect(await seenEvents(page, 'nebula-remove')).toEqual([{ nodes: [], edges: ['fetch→note'] }]);
    await page.keyboard.press('e');
    expect(
      await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).selectedEdges),
    ).toEqual(['fetch→items']);
    await page.keyboard.press('Control+z');
    await drawn(page);
    const [from, to] = [await boxOf(page, 'fetch'), await boxOf(page, 'note')];
    const middle = { x: (from.x + from.width + to.x) / 2, y: (from.middle.y + to.middle.y) / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.click(middle.x, middle.y);
    expect(await seenEvents(page, 'nebula-add')).toMatchObject([{ after: 'fetch', edge: 'fetch→note' }]);
    expect(fetch.width).toBeGreaterThan(0);
  });

  it('[CNV-54] what is dropped on an edge, into a group or beside has its place', async () => {
    const { page } = await open('edit');
    const drop = (at: Spot) =>
      page.evaluate(({ x, y }) => {
        const graph = document.querySelector('nebula-graph')!;
        const dataTransfer = new DataTransfer();
        dataTransfer.setData('application/x-nebula-action', 'core.log@1');
        const where = { clientX: x, clientY: y, bubbles: true, cancelable: true, dataTransfer };
        graph.dispatchEvent(new DragEvent('dragover', where));
        graph.dispatchEvent(new DragEvent('drop', where));
      }, at);
    const [items, pack, note] = [
      await boxOf(page, 'items'),
      await boxOf(page, 'items/pack'),
      await boxOf(page, 'note'),
    ];
    await drop({ x: note.x - 10, y: note.middle.y });
    expect(await seenEvents(page, 'nebula-drop')).toMatchObject([
      { data: { 'application/x-nebula-action': 'core.log@1' }, edge: 'fetch→note', into: undefined },
    ]);
    await drop({ x: pack.x - 10, y: pack.middle.y });
    expect(await seenEvents(page, 'nebula-drop')).toMatchObject([{ edge: 'items/pick→items/pack', into: 'items' }]);
    await drop({ x: items.x + items.width - 6, y: items.y + items.height - 6 });
    expect(await seenEvents(page, 'nebula-drop')).toMatchObject([{ into: 'items' }]);
  });
});

describe('keys', () => {
  it('[CNV-56] ask for a node, a name, a menu; Tab goes on if nothing is added', async () => {
    const { page } = await open('edit');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.focus();
      graph.focusNode('fetch');
      (globalThis as unknown as { prevented: Set<string> }).prevented.add('nebula-add');
    });
    const focus = () => page.evaluate(() => document.activeElement!.localName);
    await page.keyboard.press('Tab');
    expect(await seenEvents(page, 'nebula-add')).toEqual([{ after: 'fetch' }]);
    expect(await focus()).toBe('nebula-graph');
    await page.keyboard.press('F2');
    expect(await seenEvents(page, 'nebula-rename')).toEqual([{ node: 'fetch' }]);
    await page.keyboard.press('Enter');
    expect(await seenEvents(page, 'nebula-open')).toEqual([{ node: 'fetch' }]);
    await page.keyboard.press('Shift+F10');
    expect(await seenEvents(page, 'nebula-menu')).toMatchObject([{ node: 'fetch', edge: null }]);
    await page.evaluate(() => (globalThis as unknown as { prevented: Set<string> }).prevented.clear());
    await page.keyboard.press('Tab');
    expect(await focus()).toBe('button');
  });

  it('[CNV-57] copy, cut and paste nodes', async () => {
    const { page, errors } = await open('edit');
    const nodes = () =>
      page.evaluate(() => [...(document.querySelector('nebula-graph') as NebulaGraphElement).graph.nodes.keys()]);
    const note = await boxOf(page, 'note');
    await page.mouse.click(note.middle.x, note.middle.y);
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await expect.poll(nodes).toContain('note-2');
    await page.keyboard.press('Control+x');
    await expect.poll(nodes).not.toContain('note');
    await page.keyboard.press('Control+v');
    await expect.poll(nodes).toContain('note');
    expect(errors).toEqual([]);
  });

  it('[CNV-61] move nodes, and moves are undone', async () => {
    const { page } = await open('edit');
    const before = await boxOf(page, 'note');
    await page.mouse.click(before.middle.x, before.middle.y);
    await page.keyboard.press('Alt+ArrowDown');
    await page.keyboard.press('Alt+ArrowDown');
    await drawn(page);
    const zoom = await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).camera.zoom);
    expect((await boxOf(page, 'note')).y).toBeCloseTo(before.y + 16 * zoom, 1);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await drawn(page);
    expect((await boxOf(page, 'note')).y).toBeCloseTo(before.y, 1);
    expect(await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).positions)).toEqual(
      {},
    );
  });
});

describe('touch', () => {
  /** Sends pointer events of fingers, as a browser does. */
  const fingers = (page: Page, events: readonly (readonly [type: string, id: number, x: number, y: number])[]) =>
    page.evaluate((all) => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.setPointerCapture = () => undefined;
      for (const [type, pointerId, clientX, clientY] of all)
        graph.dispatchEvent(
          new PointerEvent(type, {
            pointerId,
            clientX,
            clientY,
            pointerType: 'touch',
            bubbles: true,
            isPrimary: pointerId === 1,
          }),
        );
    }, events);
  const camera = (page: Page) =>
    page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).camera);

  it('[CNV-58] two fingers zoom and move the view', async () => {
    const { page } = await open('run');
    const before = await camera(page);
    await fingers(page, [
      ['pointerdown', 1, 400, 500],
      ['pointerdown', 2, 600, 500],
      ['pointermove', 1, 300, 500],
      ['pointermove', 2, 700, 500],
    ]);
    const zoomed = await camera(page);
    expect(zoomed.zoom).toBeCloseTo(before.zoom * 2, 3);
    await fingers(page, [
      ['pointermove', 1, 300, 550],
      ['pointermove', 2, 700, 550],
      ['pointerup', 1, 300, 550],
      ['pointerup', 2, 700, 550],
    ]);
    const moved = await camera(page);
    expect(moved.y - zoomed.y).toBeGreaterThan(30);
  });

  it('[CNV-58] a long press selects, or opens the menu of the page', async () => {
    const { page } = await open('run');
    const [fetch, note] = [await boxOf(page, 'fetch'), await boxOf(page, 'note')];
    await fingers(page, [['pointerdown', 1, fetch.middle.x, fetch.middle.y]]);
    await expect
      .poll(() => page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).selection))
      .toEqual(['fetch']);
    await fingers(page, [['pointerup', 1, fetch.middle.x, fetch.middle.y]]);
    expect(await seenEvents(page, 'nebula-menu')).toMatchObject([{ node: 'fetch' }]);
    await page.evaluate(() => (globalThis as unknown as { prevented: Set<string> }).prevented.add('nebula-menu'));
    await fingers(page, [['pointerdown', 1, note.middle.x, note.middle.y]]);
    await expect.poll(() => seenEvents(page, 'nebula-menu')).toMatchObject([{ node: 'note' }]);
    await fingers(page, [['pointerup', 1, note.middle.x, note.middle.y]]);
    expect(await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).selection)).toEqual(
      ['fetch'],
    );
  });
});

describe('what the page adds', () => {
  it('[CNV-59] marks are drawn and told, the past has a frame', async () => {
    const { page } = await open('run');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.marks = {
        fetch: { errors: 2, warnings: 1, pin: 'fresh' },
        note: { change: 'added' },
        'fetch→note': { change: 'added' },
      };
      graph.toggleAttribute('past', true);
    });
    await expect
      .poll(() => itemOf(page, 'fetch'))
      .toBe('fetch, action, completed, 2 errors, 1 warning, pinned, leads to items, note');
    await expect.poll(() => itemOf(page, 'note')).toBe('note, action, completed, added');
    await drawn(page);
    expect(await colourAt(page, { x: 1, y: 300 }, 1)).toBe(THEMES.light.past);
    await page.evaluate(() =>
      (document.querySelector('nebula-graph') as NebulaGraphElement).toggleAttribute('past', false),
    );
    await drawn(page);
    const note = await boxOf(page, 'note');
    const zoom = await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).camera.zoom);
    expect(await colourAt(page, { x: note.middle.x, y: note.y - 3 * zoom })).toBe(THEMES.light.change.added);
  });

  it('[CNV-60] follows a run until its events end', async () => {
    const { page } = await open('run');
    await page.evaluate(async () => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      async function* events() {
        yield { at: 0, type: 'NodeStarted', node: 'fetch', details: { attempt: 1 } };
        yield { at: 1_500, type: 'NodeCompleted', node: 'fetch', details: {} };
        yield { at: 1_500, type: 'NodeOpened', node: 'items', details: { items: 3 } };
        yield { at: 1_600, type: 'RoundStarted', node: 'items/0', details: {} };
        yield { at: 1_600, type: 'NodeStarted', node: 'items/0/pick', details: { attempt: 1 } };
        yield { at: 1_700, type: 'RoundFailed', node: 'items/0', details: {} };
      }
      await graph.follow(events());
    });
    const states = await page.evaluate(() =>
      Object.fromEntries((document.querySelector('nebula-graph') as NebulaGraphElement).states),
    );
    expect(states).toMatchObject({
      fetch: { status: 'completed', durationMs: 1_500 },
      items: { status: 'running', iterations: { total: 3, open: 0, succeeded: 0, failed: 1 } },
      'items/0/pick': { status: 'running' },
    });
    await expect.poll(() => itemOf(page, 'pick')).toBe('pick, action, running, leads to pack');
  });

  it('[CNV-62] the tree has the focus and names the current node', async () => {
    const { page } = await open('run');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    const active = () =>
      page.evaluate(() => {
        const root = document.querySelector('nebula-graph')!.shadowRoot!;
        const id = root.activeElement?.getAttribute('aria-activedescendant') ?? '';
        const item = root.getElementById(id);
        return item === null ? null : [item.firstElementChild!.textContent, item.ariaSelected];
      });
    await expect.poll(active).toEqual(['fetch, action, completed, leads to items, note', 'true']);
    await page.evaluate(() => document.querySelector('nebula-graph')!.shadowRoot!.getElementById('node-note')!.click());
    expect(await seenEvents(page, 'nebula-select')).toContainEqual({ nodes: ['note'], edges: [] });
  });

  it('[CNV-63] has other words', async () => {
    const { page } = await open('run');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.words = { leadsTo: (names) => `führt zu ${names}`, pinned: 'fest' };
    });
    await expect.poll(() => itemOf(page, 'fetch')).toBe('fetch, action, completed, führt zu items, note');
  });

  it('[CNV-64] the minimap moves the view', async () => {
    const { page } = await open('run');
    await page.evaluate(() => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      graph.camera = { x: 0, y: 0, zoom: 2 };
    });
    await drawn(page);
    await page.mouse.click(1_000 - 12 - 20, 600 - 12 - 52);
    const camera = await page.evaluate(() => (document.querySelector('nebula-graph') as NebulaGraphElement).camera);
    expect(camera.x).toBeLessThan(-200);
    expect(camera.zoom).toBe(2);
  });
});
