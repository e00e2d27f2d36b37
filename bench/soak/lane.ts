/**
 * One data folder and the lives of its worker: runs are ordered at a steady pace; a worker that ends is started again
 * and told of all runs that are under way.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drawKind, PROBE } from './kinds.ts';
import { Ledger } from './ledger.ts';
import type { Line, Order } from './line.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));
const PACE_MS = 25;
/** While the worker is down, or slow, no more runs than these wait for it. */
const MAX_OPEN = 64;
/** A run that takes longer does not end. Only time with an open worker counts: a busy machine starts them slowly. */
const STUCK_MS = 45_000;
const EARLY_SHARE = 0.25;
const EARLY_MS = 500;
const LONGEST_LIFE_MS = 5_000;

export interface LaneOptions {
  readonly folder: string;
  readonly retentionMs: number;
  readonly kills: boolean;
  readonly chance: () => number;
}

export class Lane {
  readonly ledger: Ledger;
  readonly signals = { SIGKILL: 0, SIGTERM: 0 };
  readonly #options: LaneOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #life = 0;
  #runs = 0;
  #isOpen = false;
  /** How long workers were open before this one, and since when it is. */
  #openMs = 0;
  #openSince = 0;
  readonly #stuck = new Set<string>();
  #isStopping = false;
  #pacer: NodeJS.Timeout | undefined;
  #latencies: number[] = [];
  #onMemory: ((line: Extract<Line, { what: 'memory' }>) => void) | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.ledger = new Ledger(path.join(options.folder, 'effects'));
  }

  start(): void {
    this.#live();
    this.#pacer = setInterval(() => this.#order(), PACE_MS);
  }

  /** Everything that is under way is brought to its end first. */
  async stop(deadlineMs: number): Promise<void> {
    clearInterval(this.#pacer);
    this.#isStopping = true;
    const deadline = Date.now() + deadlineMs;
    while (this.ledger.open.length > 0 && Date.now() < deadline) await sleep(20);
    for (const executionId of this.ledger.open) this.#problem(`${executionId} did not end`);
    this.#child?.kill('SIGTERM');
    await this.#ended;
  }

  /** The latencies of the probes since the last call. */
  takeLatencies(): number[] {
    return this.#latencies.splice(0);
  }

  memory(): Promise<Extract<Line, { what: 'memory' }>> {
    return new Promise((resolve) => {
      this.#onMemory = resolve;
      this.#send({ measure: true });
    });
  }

  #live(): void {
    const { folder, retentionMs, kills, chance } = this.#options;
    const life = ++this.#life;
    const child = spawn(process.execPath, ['--expose-gc', WORKER, folder, String(retentionMs)], {
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    let asked: NodeJS.Signals | null = null;
    let wasOpen = false;
    child.stdin.on('error', () => undefined);
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if (line.what === 'open') wasOpen = true;
      this.#hear(line, life);
    });
    const kill = (): void => {
      if (this.#isStopping) return;
      const signal = chance() < 0.5 ? 'SIGKILL' : 'SIGTERM';
      asked = signal;
      this.signals[signal]++;
      child.kill(signal);
    };
    const afterMs = chance() < EARLY_SHARE ? chance() * EARLY_MS : EARLY_MS + chance() * LONGEST_LIFE_MS;
    const killer = kills ? setTimeout(kill, afterMs) : undefined;
    this.#ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        clearTimeout(killer);
        this.#openMs = this.#workedMs();
        this.#isOpen = false;
        if (asked === null && !this.#isStopping) this.#problem(`the worker ended by itself: ${code ?? signal}`);
        if (asked === 'SIGTERM' && wasOpen && code !== 130) this.#problem(`SIGTERM ended it with ${code ?? signal}`);
        if (!this.#isStopping || this.ledger.open.length > 0) this.#live();
        resolve();
      });
    });
  }

  #hear(line: Line, life: number): void {
    switch (line.what) {
      case 'open':
        this.#isOpen = true;
        this.#openSince = Date.now();
        for (const executionId of this.ledger.open) this.#send({ run: executionId });
        return;
      case 'ended':
        this.ledger.end(line.executionId, line.status, line.error);
        if (line.ms !== null && line.executionId.startsWith(`${PROBE}-`)) this.#latencies.push(line.ms);
        this.#findStuckRuns();
        return;
      case 'memory':
        this.#onMemory?.(line);
        return;
      case 'trouble':
        this.#problem(line.message);
        return;
      default:
        this.ledger.trace(line, life);
    }
  }

  #workedMs(): number {
    return this.#openMs + (this.#isOpen ? Date.now() - this.#openSince : 0);
  }

  #findStuckRuns(): void {
    for (const executionId of this.ledger.openedBefore(this.#workedMs() - STUCK_MS)) {
      if (this.#stuck.has(executionId)) continue;
      this.#stuck.add(executionId);
      this.#problem(`${executionId} is stuck`);
    }
  }

  #order(): void {
    if (this.ledger.open.length >= MAX_OPEN) return;
    const executionId = `${drawKind(this.#options.chance())}-${++this.#runs}`;
    this.ledger.begin(executionId, this.#workedMs());
    if (this.#isOpen) this.#send({ run: executionId });
  }

  #send(order: Order): void {
    this.#child?.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  #problem(text: string): void {
    this.ledger.problems.push(text);
  }
}
