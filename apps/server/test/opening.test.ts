import { expect, it } from 'vitest';
import { type Booted, boot } from './support/boot.ts';

it('[SRV-342] requests wait until the engine is open; health is reported before', async () => {
  let status: number | undefined;
  let early: Promise<void> | undefined;
  const openEngine = async (url: string): Promise<void> => {
    early = fetch(`${url}/api/v1/info`).then((response) => {
      ({ status } = response);
    });
    for (const path of ['/health', '/ready', '/health']) await (await fetch(url + path)).text();
    expect(status).toBe(undefined);
  };
  const booted: Booted = await boot({ openEngine });
  await early;
  expect(status).toBe(200);
  await booted.close();
});

it('[SRV-342] an engine that cannot open closes the server', async () => {
  let url = '';
  const openEngine = async (at: string): Promise<void> => {
    url = at;
    throw new Error('the store is gone');
  };
  await expect(boot({ openEngine })).rejects.toThrow('the store is gone');
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});
