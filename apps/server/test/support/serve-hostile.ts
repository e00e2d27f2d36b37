/**
 * `node serve-hostile.ts`: the servers that the hostile suite is sent to, in one process, on SQLite. On stdout, as JSON:
 * where they are, who may do what there, and the leases that are out. It ends when its stdin does.
 */
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Action, Json } from '@nebula/core';
import { runStage } from '../hostile/run-stage.ts';
import { boot, sqliteKeeping, TOKEN } from './boot.ts';
import { echo, remote } from './workflows.ts';

process.stdin.on('close', () => process.exit(1)).resume();

const listener = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
await once(listener, 'listening');
const projectDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-hostile-')));
const [first, second] = [await sqliteKeeping(), await sqliteKeeping()];
/** The schema of `bench/server/checked-values.ts`. */
const texts = { items: { allOf: Array(4).fill({ type: 'string', minLength: 1, maxLength: 9 }) } };
const checked: Action = {
  id: 'test.checked',
  version: '1',
  effect: 'pure',
  input: { type: 'object', properties: { l: texts } },
  output: texts,
  run: (_, input) => (input as { l: Json }).l,
};
const desktop = await boot({ keeping: first.keeping, actions: [checked] });
const { client } = desktop;
await client.call('registerWorker', {
  body: { workerId: 'far', labels: ['far'], actions: [{ id: 'far.work', effect: 'idempotent' }] },
});
const hooked = { ...echo('hooked'), triggers: [{ webhook: { path: '/hostile', method: 'POST' } }] };
for (const definition of [remote(), echo(), hooked]) await client.call('registerWorkflow', { body: { definition } });
await client.call('startExecution', { body: { workflowId: 'remote' } });
const { work } = await client.call('claimWork', { params: { workerId: 'far' }, body: { wait: '10s', lease: '10m' } });
const { booted: team, as } = await runStage(projectDir, 'of beta only, and of nobody else', {
  keeping: second.keeping,
});
process.stdout.write(
  `${JSON.stringify({
    desktop: desktop.server.url,
    team: team.server.url,
    token: TOKEN,
    leaseId: work[0]?.leaseId,
    as,
    setting: {
      marker: path.join(projectDir, 'marker'),
      port: (listener.address() as AddressInfo).port,
      projectDir,
    },
  })}\n`,
);

process.once('SIGTERM', () => void end());

async function end(): Promise<void> {
  await desktop.close();
  await team.close();
  await first.remove();
  await second.remove();
  rmSync(projectDir, { recursive: true, force: true });
  process.exit(0);
}
