/** What tests do with a page that has one graph. */
import type { Browser, Page } from 'playwright-core';
import type { NebulaGraphElement } from '../../src/index.ts';
import { openPage } from './browser.ts';

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** The page of a graph that has been drawn. Events of the element are kept in `globalThis.seen`. */
export async function openGraph(
  browser: Browser,
  url: string,
  node: string,
): Promise<{ readonly page: Page; readonly errors: string[] }> {
  const opened = await openPage(browser, url);
  await opened.page.waitForFunction((id) => {
    const element = document.querySelector('nebula-graph') as NebulaGraphElement | null;
    return element?.boxOf?.(id) !== undefined;
  }, node);
  await drawn(opened.page);
  return opened;
}

/** Waits until what was changed is painted. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  });
}

/** The box of a node on the page. */
export async function boxOf(page: Page, id: string) {
  const box = await page.evaluate((node) => {
    const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
    const { left, top } = graph.getBoundingClientRect();
    const own = graph.boxOf(node)!;
    return { ...own, x: own.x + left, y: own.y + top };
  }, id);
  return { ...box, middle: { x: box.x + box.width / 2, y: box.y + box.height / 2 } };
}

export async function drag(page: Page, from: Spot, to: Spot): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
  await page.mouse.move(to.x, to.y);
  await page.mouse.up();
}

/** The colour of a pixel of the graph's canvas, or of the one above it. */
export async function colourAt(page: Page, { x, y }: Spot, layer: 0 | 1 = 0): Promise<string> {
  return await page.evaluate(
    ({ px, py, index }) => {
      const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
      const { left, top } = graph.getBoundingClientRect();
      const canvas = graph.shadowRoot!.querySelectorAll('canvas')[index]!;
      const [red, green, blue] = canvas.getContext('2d')!.getImageData(px - left, py - top, 1, 1).data;
      return `#${[red, green, blue].map((value) => value!.toString(16).padStart(2, '0')).join('')}`.toUpperCase();
    },
    { px: Math.round(x), py: Math.round(y), index: layer },
  );
}

/** The details of the events of one name since the last question. */
export async function seenEvents(page: Page, name: string): Promise<unknown[]> {
  return await page.evaluate((type) => {
    const { seen } = globalThis as unknown as { seen: { type: string; detail: unknown }[] };
    const found = seen.filter((event) => event.type === type).map(({ detail }) => detail);
    seen.length = 0;
    return found;
  }, name);
}
