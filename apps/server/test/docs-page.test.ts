import { ROUTES } from '@nebula/client/contract';
import { expect, it } from 'vitest';
import { docsPage } from '../src/http/docs-page.ts';

const page = docsPage('1.2.3');

it('[SRV-412] the page of the reference has every operation once, and no script', () => {
  for (const id of Object.keys(ROUTES)) expect(page.split(`<details id="${id}">`), id).toHaveLength(2);
  expect(page).not.toContain('<script');
});

it('[SRV-412] code is formatted as code, and every link has a target', () => {
  expect(page).not.toContain('`');
  expect(page).toContain('<code>next</code>');
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
});
