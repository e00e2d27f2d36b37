import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { ExampleProject, type RunDocument, statuses } from './example-project.ts';

const project = new ExampleProject();
afterAll(() => project.remove());

const ORDER = 'examples/order.yaml';

async function until(isTrue: () => boolean, what: () => string): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 800) throw new Error(`timed out: ${what()}`);
    await sleep(50);
  }
}

function bookingsOf(executionId: string): string[] {
  const folder = project.path('examples/out/courier');
  return (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.startsWith(executionId));
}

/** Kills the process of the run with SIGKILL once `isTime` holds; then resumes the run. */
async function killAndResume(
  isTime: (heard: string, executionId: string) => boolean,
): Promise<{ before: string; document: RunDocument }> {
  const dataDir = mkdtempSync(project.path('data-'));
  const first = project.start('run', ORDER, '--data-dir', dataDir);
  const idOf = () => /exe_\w+/.exec(first.heard())?.[0] ?? '';
  await until(() => idOf() !== '' && isTime(first.heard(), idOf()), first.heard);
  first.child.kill('SIGKILL');
  expect((await first.ended).code).toBeNull();
  const resumed = await project.nebula('resume', idOf(), '--json', '--data-dir', dataDir);
  expect(resumed).toMatchObject({ code: 0, stderr: '' });
  return { before: first.heard(), document: JSON.parse(resumed.stdout) };
}

describe.concurrent('order.yaml', { timeout: 60_000 }, () => {
  test('ships the order; Lyon needs a second attempt', async () => {
    const { code, document } = await project.run('order');
    expect(code).toBe(0);
    expect(document.output).toMatchObject({ order: 'A-1042', total: 479.9, status: 'shipped' });
    expect(statuses(document)).toMatchObject({ charge: 'completed', ship: 'completed', apologise: 'skipped' });
    expect(document.nodes.pack_lyon).toMatchObject({ status: 'completed', attempts: 2, output: { items: 2 } });
    expect(document.nodes.pack_berlin).toMatchObject({ attempts: 1, output: { items: 3, grams: 2160 } });
    expect(document.nodes.ship).toMatchObject({ output: { parcels: 3 } });
    expect(bookingsOf(document.executionId)).toHaveLength(1);
    const began = ['pack_berlin', 'pack_lyon', 'pack_turin'].map((node) => Date.parse(document.nodes[node]!.startedAt));
    expect(Math.max(...began) - Math.min(...began), 'the warehouses pack at the same time').toBeLessThan(900);
  });

  test('a declined card ends in an apology, and nothing is packed', async () => {
    const { code, document } = await project.run('order', '--set', 'card=declined');
    expect(code).toBe(0);
    expect(document.output).toEqual({ order: 'A-1042', total: 479.9, status: 'declined', booking: null });
    expect(statuses(document)).toMatchObject({
      charge: 'failed',
      apologise: 'completed',
      pack_berlin: 'skipped',
      ship: 'skipped',
      thank: 'skipped',
    });
  });

  test('an order above the limit fails before it is charged', async () => {
    const order = JSON.parse(readFileSync(project.path('examples/data/order.json'), 'utf8'));
    order.items = [{ title: 'Observatory', warehouse: 'turin', grams: 1, price: 9000, quantity: 1 }];
    writeFileSync(project.path('examples/data/large-order.json'), JSON.stringify(order));
    const { code, document } = await project.run('order', '--set', 'file=examples/data/large-order.json');
    expect(code).toBe(1);
    expect(document.error).toMatchObject({
      code: 'ASSERTION_FAILED',
      node: 'limit',
      message: expect.stringContaining('9000 EUR'),
    });
    expect(document.nodes.charge).toMatchObject({ attempts: 0 });
  });

  test('a warehouse without items is skipped, and the parcel of the other is sent', async () => {
    const order = JSON.parse(readFileSync(project.path('examples/data/order.json'), 'utf8'));
    order.items = order.items.filter((item: { warehouse: string }) => item.warehouse === 'turin');
    writeFileSync(project.path('examples/data/small-order.json'), JSON.stringify(order));
    const { document } = await project.run('order', '--set', 'file=examples/data/small-order.json');
    expect(document.output).toMatchObject({ status: 'shipped', total: 13.5 });
    expect(statuses(document)).toMatchObject({ pack_berlin: 'skipped', pack_lyon: 'skipped', pack_turin: 'completed' });
    expect(document.nodes.ship).toMatchObject({ output: { parcels: 1 } });
  });

  test('killed while it packs, it continues from there: the card is charged once', async () => {
    const { before, document } = await killAndResume((heard) => heard.includes('pack_turin completed'));
    expect(before).toContain('✓ charge completed');
    expect(document).toMatchObject({ status: 'completed', output: { status: 'shipped' } });
    expect(document.nodes.charge).toMatchObject({ attempts: 1 });
    expect(document.nodes.pack_turin).toMatchObject({ attempts: 1 });
    expect(document.nodes.pack_berlin).toMatchObject({ attempts: 2 });
  });

  test('killed before the courier has the booking, it books', async () => {
    const { document } = await killAndResume((heard) => heard.includes('ship started'));
    expect(document).toMatchObject({ status: 'completed', output: { status: 'shipped' } });
    expect(bookingsOf(document.executionId)).toHaveLength(1);
  });

  test('killed after the courier has the booking, it finds it and does not book again', async () => {
    const { document } = await killAndResume((_, executionId) => bookingsOf(executionId).length > 0);
    expect(document).toMatchObject({ status: 'completed', output: { status: 'shipped' } });
    expect(document.nodes.ship, 'found by verify, not run again').toMatchObject({ attempts: 1 });
    expect(bookingsOf(document.executionId)).toHaveLength(1);
  });
});
