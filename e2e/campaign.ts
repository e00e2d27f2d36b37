/** Lives of one worker on one data folder: started, ended by a signal, checked, started again, until its work is done. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseIn, openServiceIn } from './data-folder.ts';
import { JournalAudit } from './journal-audit.ts';
import type { Moment } from './kill-plan.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

export interface Life {
  readonly number: number;
  /** Null: it was left alone. */
  readonly signal: NodeJS.Signals | null;
  readonly exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null };
  readonly wasOpen: boolean;
  /** Effects that were seen while it lived. */
  readonly effects: number;
  readonly openAttempts: readonly string[];
  /** `execution/node` of all that was recorded as finished when it had ended. */
  readonly finished: ReadonlySet<string>;
  readonly stderr: string;
}

interface Workplace {
  readonly folder: string;
  readonly runs: number;
  /** Keeps compiled code between lives: a start takes 150 ms instead of 400. */
  readonly compileCache: string;
}

interface CampaignOptions extends Workplace {
  readonly plan: readonly Moment[];
  readonly signalOf: (moment: Moment) => NodeJS.Signals;
}

export interface Campaign {
  readonly lives: readonly Life[];
  readonly audit: JournalAudit;
}

export async function runCampaign(options: CampaignOptions): Promise<Campaign> {
  const audit = new JournalAudit();
  const lives: Life[] = [];
  let effects = 0;
  for (const moment of [...options.plan, null]) {
    const number = lives.length + 1;
    const life = startLife(options, { number, effectsBefore: effects, stays: moment !== null });
    const signal = moment === null ? null : options.signalOf(moment);
    if (moment !== null) await Promise.race([life.reached(moment), life.ended]);
    if (signal !== null) life.kill(signal);
    const exit = await life.ended;
    effects += life.effects();
    await look(options.folder, audit);
    const { stderr, wasOpen } = life;
    const openAttempts = audit.openAttempts();
    audit.lifeEnded();
    lives.push({
      number,
      signal,
      exit,
      wasOpen: wasOpen(),
      effects: life.effects(),
      openAttempts,
      finished: new Set(audit.finished),
      stderr: stderr(),
    });
  }
  return { lives, audit };
}

async function look(folder: string, audit: JournalAudit): Promise<void> {
  if (!existsSync(databaseIn(folder))) return;
  const { store, close } = await openServiceIn(folder, []);
  try {
    await audit.catchUp(store);
  } finally {
    await close();
  }
}

interface LifeOptions {
  readonly number: number;
  readonly effectsBefore: number;
  /** The process does not end by itself, so that a signal always reaches it. */
  readonly stays: boolean;
}

export function startLife({ folder, runs, compileCache }: Workplace, { number, effectsBefore, stays }: LifeOptions) {
  const child = spawn(process.execPath, [WORKER, folder, String(runs), String(number), ...(stays ? ['stay'] : [])], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, NODE_NO_WARNINGS: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [effects, isOpen, stderr] = [0, false, ''];
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('latin1').on('data', (letters: string) => {
    for (const letter of letters) {
      if (letter === 'd') effects++;
      if (letter === 'o') isOpen = true;
    }
    for (const watcher of watchers) watcher();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Life['exit']>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const seen = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        if (!isOpen || effectsBefore + effects < count) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
    });
  return {
    ended,
    effects: () => effects,
    wasOpen: () => isOpen,
    stderr: () => stderr,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async reached(moment: Moment): Promise<void> {
      if (moment.when === 'work') await seen(moment.effects);
      await sleep(moment.when === 'work' ? moment.plusMs : moment.afterMs);
    },
  };
}
