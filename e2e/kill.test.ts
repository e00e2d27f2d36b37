import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { effectActions } from './actions.ts';
import { type Campaign, runCampaign, startLife } from './campaign.ts';
import { databaseIn, effectsIn, openServiceIn } from './data-folder.ts';
import { type EffectLine, EffectLog } from './effect-log.ts';
import { chanceFrom, killPlan, type Moment } from './kill-plan.ts';
import { executionIdOf, expectedRun, ONCE } from './order.ts';

const RUNS = 80;
const KILLS = 20;
const DEADLINE_MS = 900_000;
/** `E2E_SEED=… npm test -- e2e` draws the same moments again; what the process is doing then is its own. */
const SEED = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 32));

const root = mkdtempSync(path.join(tmpdir(), 'nebula-e2e-'));
const compileCache = path.join(root, 'compiled');
let startMs = 0;

/** Nothing is killed here: it fills the cache of compiled code, and says how long a start takes on this machine. */
beforeAll(async () => {
  const folder = folderOf('warm');
  for (const number of [1, 2]) {
    const begin = performance.now();
    const life = startLife({ folder, runs: 0, compileCache }, { number, effectsBefore: 0, stays: false });
    expect({ ...(await life.ended), stderr: life.stderr() }).toMatchObject({ code: 0, stderr: '' });
    startMs = performance.now() - begin;
  }
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.concurrent(`a worker that is interrupted (E2E_SEED=${SEED})`, () => {
  test(
    `[E2E-1, E2E-2, E2E-3, E2E-4, E2E-5, E2E-8] brings ${RUNS} runs to their end through ${KILLS} × SIGKILL`,
    async () => {
      const { audit, lives } = await play('kill', SEED, RUNS, KILLS, () => 'SIGKILL');
      expect(sorted(audit.lost)).toEqual(sorted(audit.cutOff));
      expect([...audit.handedBack]).toEqual([]);
      for (const { signal, exit } of lives) expect(exit).toEqual({ code: signal === null ? 0 : null, signal });
      // The kills did harm, and each part of a life had its share.
      expect(audit.cutOff.size).toBeGreaterThan(KILLS);
      expect([...audit.lost].some(isOnce)).toBe(true);
      expect(lives.filter(({ wasOpen }) => !wasOpen).length).toBeGreaterThan(0);
      expect(lives.filter(({ effects: done }) => done > 0).length).toBeGreaterThan(KILLS / 3);
    },
    DEADLINE_MS,
  );

  test(
    `[E2E-6, E2E-8] brings ${RUNS} runs to their end through ${KILLS} × SIGTERM, and loses nothing`,
    async () => {
      const { audit, lives, effects } = await play('term', SEED + 1, RUNS, KILLS, () => 'SIGTERM');
      expect([...audit.lost, ...audit.cutOff]).toEqual([]);
      expect(audit.handedBack.size).toBeGreaterThan(KILLS);
      const begun = new Set(effects.map(({ executionId, node, attempt }) => `${executionId}/${node}/${attempt}`));
      expect([...audit.handedBack].filter((attempt) => isOnce(attempt) && begun.has(attempt))).toEqual([]);
      for (const { signal, exit, wasOpen, number } of lives.slice(0, -1)) {
        // Before it listens for signals it has touched nothing, and simply ends.
        const touched = wasOpen || effects.some((line) => line.life === number);
        if (touched || exit.code !== null)
          expect({ number, exit }).toEqual({ number, exit: { code: 130, signal: null } });
        else expect({ number, exit }).toEqual({ number, exit: { code: null, signal } });
      }
      expect(lives.filter(({ exit }) => exit.code === 130).length).toBeGreaterThan(KILLS / 2);
    },
    DEADLINE_MS,
  );

  test(
    '[E2E-7, E2E-8] brings its runs to their end through SIGKILL and SIGTERM in any order',
    async () => {
      const chance = chanceFrom(SEED + 3);
      let works = 0;
      const { audit } = await play('both', SEED + 2, RUNS / 2, KILLS / 2, ({ when }) => {
        const isKill = when === 'work' ? works++ % 2 === 0 : chance() < 0.5;
        return isKill ? 'SIGKILL' : 'SIGTERM';
      });
      expect(sorted(audit.lost)).toEqual(sorted(audit.cutOff));
      expect(Math.min(audit.lost.size, audit.handedBack.size)).toBeGreaterThan(0);
    },
    DEADLINE_MS,
  );
});

function folderOf(name: string): string {
  const folder = path.join(root, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

interface Played extends Campaign {
  readonly runs: number;
  readonly effects: readonly EffectLine[];
}

/** Plays a campaign to its end; the invariants of all campaigns are checked here. */
async function play(
  name: string,
  seed: number,
  runs: number,
  kills: number,
  signalOf: (moment: Moment) => NodeJS.Signals,
): Promise<Played> {
  const folder = folderOf(name);
  // Several of them share the machine, so starts take longer than the one that was measured alone.
  const plan = killPlan(chanceFrom(seed), kills, expectedKeys(runs).length, 2 * startMs);
  const campaign = await runCampaign({ folder, runs, plan, signalOf, compileCache });
  const played = { ...campaign, runs, effects: new EffectLog(effectsIn(folder)).read() };
  const { audit, lives } = played;
  expect(lives.map(({ stderr }) => stderr).join('')).toBe('');
  expect(lives).toHaveLength(kills + 1);
  expect(lives.at(-1)?.exit).toEqual({ code: 0, signal: null });
  expect(audit.problems).toEqual([]);
  expect(audit.openAttempts()).toEqual([]);
  expect(integrityOf(folder)).toBe('ok');
  await expectDocuments(folder, runs);
  expectEffects(played);
  return played;
}

function expectedKeys(runs: number): string[] {
  const keysOf = (n: number) => [...expectedRun(n).completed].map((node) => `${executionIdOf(n)}:${node}:0`);
  return Array.from({ length: runs }, (_, n) => keysOf(n)).flat();
}

async function expectDocuments(folder: string, runs: number): Promise<void> {
  const { executions, close } = await openServiceIn(
    folder,
    effectActions(new EffectLog(effectsIn(folder)), 0, () => {}),
  );
  try {
    const { rows } = await executions.list({ limit: runs + 1 });
    expect(rows).toHaveLength(runs);
    for (let n = 0; n < runs; n++) {
      const document = await executions.document(executionIdOf(n));
      const expected = expectedRun(n);
      expect({ n, status: document?.status, output: document?.output }).toEqual({
        n,
        status: 'completed',
        output: expected.output,
      });
      for (const [node, { status }] of Object.entries(document?.nodes ?? {})) {
        const statuses = ['completed', 'failed', 'skipped'] as const;
        expect({ n, node, status }).toEqual({ n, node, status: statuses.find((name) => expected[name].has(node)) });
      }
    }
  } finally {
    await close();
  }
}

/** The raw log against the journal. */
function expectEffects({ effects, audit, lives, runs }: Played): void {
  const keys = new Set(effects.filter(({ what }) => what === 'done').map(({ key }) => key));
  expect(sorted(keys)).toEqual(sorted(expectedKeys(runs)));

  const problems: string[] = [];
  const called = new Map<string, EffectLine>();
  const failed = new Set<string>();
  const onceDone = new Set<string>();
  for (const line of effects) {
    const nodeKey = `${line.executionId}/${line.node}`;
    const attempt = `${nodeKey}/${line.attempt}`;
    if (line.what === 'failed') failed.add(attempt);
    if (line.what === 'done' && ONCE.has(line.node)) {
      if (onceDone.has(line.key)) problems.push(`${attempt} took effect twice`);
      onceDone.add(line.key);
    }
    if (line.what !== 'begin') continue;
    if (!audit.started.has(attempt)) problems.push(`${attempt} was called before it was recorded as started`);
    if (lives[line.life - 2]?.finished.has(nodeKey)) problems.push(`${attempt} was called after its node had finished`);
    const before = called.get(nodeKey);
    called.set(nodeKey, line);
    if (before === undefined) continue;
    const earlier = `${nodeKey}/${before.attempt}`;
    if (before.attempt >= line.attempt) problems.push(`${attempt} was called after ${earlier}`);
    const mayRepeat = failed.has(earlier) || audit.cutOff.has(earlier) || audit.handedBack.has(earlier);
    if (!mayRepeat) problems.push(`${attempt} repeats ${earlier}, which was not in flight when its process ended`);
  }
  expect(problems).toEqual([]);
}

/** `execution/node/attempt` */
function isOnce(attempt: string): boolean {
  return ONCE.has(attempt.split('/')[1] as string);
}

function integrityOf(folder: string): unknown {
  const database = new Database(databaseIn(folder));
  try {
    return database.pragma('integrity_check', { simple: true });
  } finally {
    database.close();
  }
}

function sorted(values: Iterable<string>): string[] {
  return [...values].sort();
}
