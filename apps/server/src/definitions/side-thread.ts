/**
 * The checking thread, seen from the process.
 *
 *  1. One job at a time; the others wait for it, and beyond `maxWaiting` they are refused.
 *  2. A job that takes too long, or too much memory, costs the thread; the next one gets a new thread.
 *  3. The thread ends when nothing was asked of it for a while, and never keeps the process alive.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Json, NebulaError } from '@nebula/core';
import { CHECK_LIMITS } from '../limits.ts';
import type { Done, Job, Question } from './questions.ts';

export type Answering = (question: Question) => Promise<unknown> | unknown;

interface Open {
  answer(question: Question): Promise<unknown> | unknown;
  done(answer: string): void;
  lost(): void;
}

interface Thread {
  readonly worker: Worker;
  readonly answers: MessagePort;
  readonly bell: Int32Array;
  /** The job that it works on. */
  open: Open | undefined;
}

const FILE = new URL('./thread.ts', import.meta.url);

let thread: Thread | undefined;
let idle: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** `isBounded`: false for files of the project, which may take their time. */
export async function checkInThread(job: Job, answer: Answering, isBounded: boolean): Promise<Done> {
  if (waiting >= CHECK_LIMITS.maxWaiting) {
    throw new NebulaError('BUSY', 'Too many large definitions are being checked.', {
      hint: 'Try again.',
      retryable: true,
    });
  }
  waiting++;
  const turn = last.then(() => work(job, answer, isBounded));
  last = turn.catch(() => undefined);
  return await turn.finally(() => waiting--);
}

function work(job: Job, answer: Answering, isBounded: boolean): Promise<Done> {
  clearTimeout(idle);
  thread ??= start();
  const own = thread;
  own.worker.ref();
  return new Promise<Done>((resolve, reject) => {
    const lost = (): void => {
      clearTimeout(limit);
      end(own);
      reject(tooCostly());
    };
    const limit = isBounded ? setTimeout(lost, CHECK_LIMITS.maxMs) : undefined;
    const done = (text: string): void => {
      clearTimeout(limit);
      rest(own);
      resolve(JSON.parse(text) as Done);
    };
    own.open = { answer, done, lost };
    own.worker.postMessage(job);
  });
}

function end(own: Thread): void {
  own.open = undefined;
  if (thread === own) thread = undefined;
  void own.worker.terminate();
}

/** A question that cannot be answered is answered with nothing: the thread must not wait for ever. */
async function reply({ answers, bell, open }: Thread, question: Question): Promise<void> {
  const found = await Promise.resolve()
    .then(() => open?.answer(question))
    .catch(() => undefined);
  answers.postMessage(found === undefined ? {} : { answer: JSON.stringify(found as Json) });
  Atomics.store(bell, 0, 1);
  Atomics.notify(bell, 0);
}

function start(): Thread {
  const { port1: answers, port2 } = new MessageChannel();
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(FILE, {
    workerData: { answers: port2, bell },
    transferList: [port2],
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: CHECK_LIMITS.maxMemoryMb },
  });
  const own: Thread = { worker, answers, bell, open: undefined };
  worker.on('message', ({ question, done }: { readonly question?: Question; readonly done?: string }) => {
    if (done !== undefined) own.open?.done(done);
    else if (question !== undefined) void reply(own, question);
  });
  const lost = (): void => (own.open === undefined ? end(own) : own.open.lost());
  worker.on('error', lost);
  worker.on('exit', lost);
  return own;
}

function rest(own: Thread): void {
  own.open = undefined;
  own.worker.unref();
  idle = setTimeout(() => end(own), CHECK_LIMITS.idleMs);
  idle.unref();
}

function tooCostly(): NebulaError {
  return new NebulaError('TOO_LARGE', 'Checking the definition takes more time or memory than this server gives it.', {
    hint: 'Put the file into the folder of workflows, or divide it into workflows that run each other.',
  });
}
