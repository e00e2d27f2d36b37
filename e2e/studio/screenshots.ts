/**
 * Pictures of pages, in both sizes and both themes. `STUDIO_SCREENSHOTS=FOLDER` keeps them there, to be looked at.
 * References are in `references`, beside the version of the browser that made them: another version draws text a
 * little differently, so pictures are compared under that version only. `STUDIO_REFERENCES=update` replaces them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { SIZES, type Size, type StudioPage, type Theme } from './studio-browser.ts';

const REFERENCES = path.join(import.meta.dirname, 'references');
/** The share of pixels that may differ: one short line of text differs by more. */
const TOLERANCE = 0.0005;
/** A pixel differs if one of its colours does by more than this. */
const COLOUR_TOLERANCE = 24;

export interface ScreenshotOptions {
  /** Parts that differ each time, such as times and ids: they are covered. */
  readonly mask?: (page: Page) => readonly Locator[];
  readonly sizes?: readonly Size[];
  readonly themes?: readonly Theme[];
  /** The folder of the references. */
  readonly references?: string;
}

/** Takes the pictures of a page and compares them with the references, if there are any. */
export async function screenshots({ page }: StudioPage, name: string, options: ScreenshotOptions = {}): Promise<void> {
  const { mask, sizes = ['desktop', 'phone'], themes = ['light', 'dark'], references = REFERENCES } = options;
  for (const size of sizes) {
    for (const theme of themes) {
      await page.setViewportSize(SIZES[size]);
      await page.emulateMedia({ colorScheme: theme });
      await page.evaluate(async () => {
        await document.fonts.ready;
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
      });
      const covered = mask === undefined ? {} : { mask: [...mask(page)], maskColor: '#808080' };
      const picture = await page.screenshot({ animations: 'disabled', caret: 'hide', ...covered });
      await kept(page.context().browser(), references, `${name}-${size}-${theme}.png`, picture);
    }
  }
}

async function kept(browser: Browser | null, references: string, name: string, picture: Buffer): Promise<void> {
  const { STUDIO_SCREENSHOTS: folder, STUDIO_REFERENCES: action } = process.env;
  if (folder !== undefined) writeInto(folder, name, picture);
  const version = browser?.version() ?? '';
  if (action === 'update') {
    writeInto(references, name, picture);
    writeInto(references, `${name}.txt`, Buffer.from(`${version}\n`));
    return;
  }
  const reference = path.join(references, name);
  if (browser === null || !existsSync(reference)) return;
  if (readFileSync(`${reference}.txt`, 'utf8').trim() !== version) return;
  const share = await differingShare(browser, readFileSync(reference), picture);
  expect(share, `${name} differs from its reference; STUDIO_REFERENCES=update accepts it`).toBeLessThan(TOLERANCE);
}

function writeInto(folder: string, name: string, content: Buffer): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, name), content);
}

/** The share of pixels that differ; 1 for pictures of different sizes. */
async function differingShare(browser: Browser, one: Buffer, other: Buffer): Promise<number> {
  const page = await browser.newPage();
  try {
    return await page.evaluate(
      async ({ texts, tolerance }) => {
        const [a, b] = await Promise.all(
          texts.map(async (text) => {
            const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
            const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
            context?.drawImage(bitmap, 0, 0);
            return context?.getImageData(0, 0, bitmap.width, bitmap.height);
          }),
        );
        if (a === undefined || b === undefined || a.width !== b.width || a.height !== b.height) return 1;
        let differing = 0;
        for (let at = 0; at < a.data.length; at += 4) {
          const isOther = [0, 1, 2].some(
            (colour) => Math.abs((a.data[at + colour] ?? 0) - (b.data[at + colour] ?? 0)) > tolerance,
          );
          if (isOther) differing++;
        }
        return differing / (a.width * a.height);
      },
      { texts: [one, other].map((picture) => picture.toString('base64')), tolerance: COLOUR_TOLERANCE },
    );
  } finally {
    await page.close();
  }
}
