/** The hostile suite for workflows: each run fails with its code, and has no effect. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import type { Action } from '@nebula/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Booted } from '../support/boot.ts';
import { type Answer, ask, type Headers } from '../support/users.ts';
import { echo } from '../support/workflows.ts';
import { type HostileRun, hostileRuns, type RunSetting } from './run-cases.ts';
import { runStage } from './run-stage.ts';

const SECRET = `it's "beta's" own \\ value, 40 characters`;

let kept = '';
const inLines = (text: string): string => text.replaceAll(/.{16}/g, '$&\n');
const FORMS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  inspected: (value) => inspect(value),
  'inspected in an object': (value) => inspect({ deep: [{ value }] }, { depth: 5 }),
  JSON: (value) => JSON.stringify(JSON.stringify({ value })),
  'base64 over lines': (value) => inLines(Buffer.from(value).toString('base64')),
  'base64 over lines of a longer text': (value) => inLines(Buffer.from(`user:${value}`).toString('base64')),
  'hexadecimal over lines': (value) => inLines(Buffer.from(value).toString('hex')),
};
const leak: Action = {
  id: 'test.leak',
  version: '1',
  effect: 'pure',
  run: async (ctx, input) => {
    const { form, how } = input as { form: string; how: string };
    kept = await ctx.credential('key');
    return leaving((FORMS[form] as (value: string) => string)(kept), how, ctx);
  },
};
const leakKept: Action = {
  id: 'test.leak-kept',
  version: '1',
  effect: 'pure',
  run: (ctx, input) => leaving(kept, (input as { how: string }).how, ctx),
};
function leaving(text: string, how: string, ctx: Parameters<Action['run']>[0]): string {
  if (how === 'throw') throw new Error(text);
  if (how === 'log') ctx.log.info(text, { text });
  return how === 'return' ? text : 'done';
}
const projectDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-hostile-')));
const setting = (port: number): RunSetting => ({ marker: path.join(projectDir, 'marker'), port, projectDir });

let booted: Booted;
let listener: Server;
let port = 0;
let heard = 0;
let as: Record<string, Headers> = {};

beforeAll(async () => {
  listener = createServer((_request, response) => {
    heard++;
    response.end('reached');
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  ({ port } = listener.address() as AddressInfo);
  ({ booted, as } = await runStage(projectDir, SECRET, { actions: [leak, leakKept] }));
});
afterAll(async () => {
  await booted.close();
  listener.close();
  rmSync(projectDir, { recursive: true, force: true });
});

const call = (who: string, line: string, body?: unknown): Promise<Answer> =>
  ask(booted, line.replace(' /', ' /api/v1/'), { headers: as[who] as Headers, ...(body !== undefined && { body }) });

async function must(who: string, line: string, body?: unknown): Promise<Answer> {
  const answer = await call(who, line, body);
  expect(answer.status, `${who} ${line} ${answer.text}`).toBeLessThan(300);
  return answer;
}

/** The complaint; undefined if the run was refused as it should be. */
async function refuse(id: string, { project, config, nodes, codes }: HostileRun): Promise<string | undefined> {
  const definition = { id, ...(config && { config }), nodes };
  const registered = await call(`${project}-editor`, 'POST /workflows', { definition, project });
  if (registered.status >= 500) return registered.text;
  if (registered.status >= 400) return codes.includes(registered.json.code) ? undefined : registered.text;
  const { json, text } = await call(`${project}-editor`, 'POST /executions?wait=20s', { workflowId: id });
  return json.status === 'failed' && codes.includes(json.error?.code) ? undefined : text;
}

const threats = [...new Set(hostileRuns(setting(0)).map(({ threat }) => threat))];

describe('hostile workflows', () => {
  it('[SRV-501] are at least 100', () => {
    expect(hostileRuns(setting(0)).length).toBeGreaterThanOrEqual(100);
  });

  it.each(threats)(
    '[SRV-501] %s: each run is refused, and the server continues',
    { timeout: 90_000 },
    async (threat) => {
      const failures: string[] = [];
      const runs = hostileRuns(setting(port)).filter((one) => one.threat === threat);
      for (const [index, run] of runs.entries()) {
        const problem = await refuse(`hostile-${threat}-${index}`, run);
        if (problem !== undefined) failures.push(`${run.name}: ${problem.slice(0, 400)}`);
      }
      expect(failures).toEqual([]);
      expect(existsSync(setting(port).marker)).toBe(false);
      expect(heard).toBe(0);
      expect(readdirSync(path.join(projectDir, 'workflows'))).toEqual([]);
      for (const file of ['nebula.config.ts', '.nebula/token']) {
        expect(readFileSync(path.join(projectDir, file), 'utf8')).toBe('as it was');
      }
      expect((await must('beta', 'GET /executions')).json.items).toEqual([]);
      await goesOn();
    },
  );

  it.each(Object.keys(FORMS))('[SRV-501] a secret that leaves %s is taken out of everything', async (form) => {
    for (const how of ['return', 'throw', 'log']) await expectHidden({ action: 'test.leak', with: { form, how } }, how);
  });

  it('[SRV-501] a secret that one node keeps and another one reveals is redacted everywhere', async () => {
    await expectHidden({ action: 'test.leak', with: { form: 'plain', how: 'none' } }, 'none');
    expect(kept).toBe(SECRET);
    for (const how of ['return', 'throw', 'log']) {
      const node = { action: 'test.leak-kept', with: { how } };
      await expectHidden(node, how, {});
    }
  });
});

async function goesOn(): Promise<void> {
  expect((await ask(booted, 'GET /health')).status).toBe(200);
  await must('alpha-editor', 'POST /workflows', { definition: echo('alpha-echo'), project: 'alpha' });
  const { json } = await must('alpha-editor', 'POST /executions?wait=10s', { workflowId: 'alpha-echo' });
  expect(json.status).toBe('completed');
}

let hidden = 0;
async function expectHidden(node: object, how: string, credentials: object = { key: 'press' }): Promise<void> {
  const id = `hidden-${hidden++}`;
  await must('beta-editor', 'POST /workflows', {
    definition: { id, nodes: { a: { ...node, credentials } } },
    project: 'beta',
  });
  const { json } = await must('beta-editor', 'POST /executions?wait=20s', { workflowId: id });
  expect(json.status).toBe(how === 'throw' ? 'failed' : 'completed');
  let all = '';
  for (const view of ['', '/result', '/journal', '/timeline', '/explain?node=a', '/logs']) {
    all += (await must('beta-editor', `GET /executions/${json.executionId}${view}`)).text;
  }
  if (how !== 'none') expect(all).toContain('[redacted]');
  const joined = all.replaceAll(/\\+n/g, '');
  const middle = Buffer.from(SECRET.slice(2, 38)).toString('base64').slice(4, -4);
  for (const trace of ['own \\', 'own \\\\', `value, 40`, middle, Buffer.from('value, 40').toString('hex')]) {
    expect(joined, `${how} ${JSON.stringify(node)}`).not.toContain(trace);
  }
  await must('beta', `DELETE /executions/${json.executionId}`);
}
