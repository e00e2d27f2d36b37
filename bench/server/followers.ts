/** Clients that begin to follow at the same moment, and how long that blocks the server's event loop. */
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVER_TOKEN } from '../../e2e/server-process.ts';
import { round } from '../measure.ts';
import { openTarget, type Target } from './load.ts';

const RUNS = 600;
const FOLLOWERS = 200;
const STEPS = {
  id: 'steps',
  nodes: Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => [`n${n}`, { action: 'noop@1', ...(n > 0 && { needs: [`n${n - 1}`] }) }]),
  ),
};

/**
 * 200 clients follow all runs from now on, then all from the first one, then an ended run each. A client is live when it
 * has an event of a run that began after all have asked; a follower of an ended run, when it has the end.
 */
export async function s4(): Promise<Record<string, number>> {
  const file = path.join(tmpdir(), `nebula-loop-${process.pid}.json`);
  process.env.BENCH_LOOP_FILE = file;
  const preload = fileURLToPath(new URL('loop-delay.ts', import.meta.url));
  const target = await openTarget({ flags: ['--import', preload] });
  delete process.env.BENCH_LOOP_FILE;
  await target.client.call('registerWorkflow', { body: { definition: STEPS } });
  const ids = Array.from({ length: RUNS }, () => run(target));
  const runs = await Promise.all(ids);
  const first = await firstEvent(target, runs[0] as string);
  const rounds: { readonly name: string; readonly from: number; readonly to: number }[] = [];
  const open = async (name: string, paths: readonly string[], isOver?: string): Promise<void> => {
    const from = Date.now();
    const stop = new AbortController();
    const answers = paths.map((one) => fetch(`${target.server.url}/api/v1${one}`, { headers, signal: stop.signal }));
    const marker = isOver ?? Promise.all(answers).then(() => run(target));
    await Promise.all(answers.map(async (answer) => until((await answer).body, await marker)));
    rounds.push({ name, from, to: Date.now() });
    stop.abort();
  };
  const times = <T>(value: (index: number) => T): T[] => Array.from({ length: FOLLOWERS }, (_, index) => value(index));
  await open(
    'of all, from now on',
    times(() => '/events?after=now'),
  );
  await open(
    'of all, from the first run',
    times(() => `/events?after=${first}`),
  );
  const ended = times((index) => `/executions/${runs[index]}/events`);
  await open('of an ended run each', ended, 'WorkflowCompleted');
  await target.close();
  const { blocks } = JSON.parse(readFileSync(file, 'utf8')) as Seen;
  rmSync(file, { force: true });
  return Object.fromEntries(
    rounds.flatMap(({ name, from, to }) => [
      [`${name}: CPU time in one piece, max ms`, round(longest(blocks, from, to), 1)],
      [`${name}: until all are live, ms`, to - from],
    ]),
  );
}

interface Seen {
  /** Pieces above 20 ms. */
  readonly blocks: readonly { readonly from: number; readonly to: number; readonly cpuMs: number }[];
}

function longest(blocks: Seen['blocks'], from: number, to: number): number {
  return Math.max(0, ...blocks.filter((block) => block.to >= from && block.from <= to).map(({ cpuMs }) => cpuMs));
}

const headers = { authorization: `Bearer ${SERVER_TOKEN}` };

async function run({ client }: Target): Promise<string> {
  const started = await client.call('startExecution', { body: { workflowId: 'steps' }, query: { wait: '60s' } });
  return started.executionId;
}

async function firstEvent({ client }: Target, executionId: string): Promise<string> {
  const stop = new AbortController();
  for await (const { id } of client.events(executionId, { signal: stop.signal })) if (id !== undefined) return id;
  throw new Error(`${executionId} has no event`);
}

/** Resolves when the stream has sent the text. */
async function until(body: ReadableStream<Uint8Array> | null, text: string): Promise<void> {
  const decoder = new TextDecoder();
  let tail = '';
  for await (const chunk of body ?? []) {
    const seen = tail + decoder.decode(chunk, { stream: true });
    if (seen.includes(text)) return;
    tail = seen.slice(-text.length);
  }
  throw new Error(`A stream ended without ${text}`);
}
