/**
 * The checking thread, seen from the process.
 *
 *  1. One job at a time; others wait, and more than `maxWaiting` are rejected.
 *  2. A job that takes too much CPU time or memory ends the thread; the next job gets a new one. CPU time is measured, so
 *     a busy machine does not fail a job.
 *  3. An idle thread ends after a while, and never keeps the process alive.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Json, NebulaError } from '@nebula/core';
import { CHECK_LIMITS } from '../limits.ts';
import type { Done, Job, Question } from './questions.ts';

export type CheckLimits = { readonly [K in 'maxMs' | 'maxMemoryMb' | 'maxWaiting']: number };

/** The hint for a definition that is too large for an upload. */
export const DIVIDE = 'Put the file into the folder of workflows, or divide it into workflows that run each other.';

/** The least time between reads of the thread's CPU time. */
const MIN_CHECK_MS = 100;

export type Answering = (question: Question) => Promise<unknown> | unknown;

interface Open {
  answer(question: Question): Promise<unknown> | unknown;
  done(answer: string, usedMs: number): void;
  lost(): void;
}

/** A message from the thread. */
interface Message {
  readonly question?: Question;
  readonly done?: string;
  readonly usedMs?: number;
}

interface Thread {
  readonly worker: Worker;
  readonly answers: MessagePort;
  readonly bell: Int32Array;
  readonly maxMemoryMb: number;
  /** The CPU time of earlier jobs. */
  usedMs: number;
  /** The current job. */
  open: Open | undefined;
}

const FILE = new URL('./thread.ts', import.meta.url);

let thread: Thread | undefined;
let idle: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** Files of the project have no time limit. Only tests pass other `limits`. */
export async function checkInThread(job: Job, answer: Answering, limits: CheckLimits = CHECK_LIMITS): Promise<Done> {
  if (waiting >= limits.maxWaiting) {
    throw new NebulaError('BUSY', 'Too many large definitions are being checked.', {
      hint: 'Try again.',
      retryable: true,
    });
  }
  waiting++;
  const turn = last.then(() => work(job, answer, limits));
  last = turn.catch(() => undefined);
  return await turn.finally(() => waiting--);
}

function work(job: Job, answer: Answering, limits: CheckLimits): Promise<Done> {
  clearTimeout(idle);
  if (thread?.maxMemoryMb !== limits.maxMemoryMb) {
    if (thread !== undefined) end(thread);
    thread = start(limits.maxMemoryMb);
  }
  const current = thread;
  current.worker.ref();
  return new Promise<Done>((resolve, reject) => {
    const lost = (): void => {
      clearTimeout(limit);
      end(current);
      reject(tooCostly());
    };
    const checkTime = async (): Promise<void> => {
      const left = limits.maxMs - ((await cpuMs(current)) - current.usedMs);
      if (current.open !== open) return;
      if (left <= 0) lost();
      else limit = setTimeout(() => void checkTime(), Math.max(left, MIN_CHECK_MS));
    };
    let limit = job.isBounded ? setTimeout(() => void checkTime(), limits.maxMs) : undefined;
    const done = (text: string, usedMs: number): void => {
      clearTimeout(limit);
      current.usedMs = usedMs;
      startIdleTimer(current);
      resolve(JSON.parse(text) as Done);
    };
    const open = { answer, done, lost };
    current.open = open;
    current.worker.postMessage(job);
  });
}

function end(ended: Thread): void {
  ended.open = undefined;
  if (thread === ended) thread = undefined;
  void ended.worker.terminate();
}

/** A failed question gets an empty answer, so that the thread does not wait for ever. */
async function reply({ answers, bell, open }: Thread, question: Question): Promise<void> {
  const found = await Promise.resolve()
    .then(() => open?.answer(question))
    .catch(() => undefined);
  answers.postMessage(found === undefined ? {} : { answer: JSON.stringify(found as Json) });
  Atomics.store(bell, 0, 1);
  Atomics.notify(bell, 0);
}

async function cpuMs({ worker }: Thread): Promise<number> {
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1_000;
}

function start(maxMemoryMb: number): Thread {
  const { port1: answers, port2 } = new MessageChannel();
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(FILE, {
    workerData: { answers: port2, bell },
    transferList: [port2],
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  const started: Thread = { worker, answers, bell, maxMemoryMb, usedMs: 0, open: undefined };
  worker.on('message', ({ question, done, usedMs = 0 }: Message) => {
    if (done !== undefined) started.open?.done(done, usedMs);
    else if (question !== undefined) void reply(started, question);
  });
  const lost = (): void => (started.open === undefined ? end(started) : started.open.lost());
  worker.on('error', lost);
  worker.on('exit', lost);
  return started;
}

function startIdleTimer(idling: Thread): void {
  idling.open = undefined;
  idling.worker.unref();
  idle = setTimeout(() => end(idling), CHECK_LIMITS.idleMs);
  idle.unref();
}

function tooCostly(): NebulaError {
  return new NebulaError('TOO_LARGE', 'Checking the definition takes more time or memory than this server allows.', {
    hint: DIVIDE,
  });
}
