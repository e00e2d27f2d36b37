import { ROUTES } from '@nebula/client/contract';
import { expect, it } from 'vitest';
import { docsPage } from '../src/http/docs-page.ts';
import { boot, TOKEN } from './support/boot.ts';

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

it('[SRV-754] [SRV-1160] a path with another method is 405 and names its methods; without a Studio the root leads to the reference', async () => {
  const booted = await boot();
  try {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const wrong = await fetch(`${booted.server.url}/api/v1/executions/exe_1`, { method: 'PUT', headers });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, DELETE']);
    expect(await wrong.json()).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      hint: expect.stringContaining('GET or DELETE'),
    });
    expect((await fetch(`${booted.server.url}/api/v1/nothing`, { headers })).status).toBe(404);
    const root = await fetch(booted.server.url, { redirect: 'manual' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/api/docs']);
  } finally {
    await booted.close();
  }
});
