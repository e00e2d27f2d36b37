import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { NebulaError } from '@nebula/core';
import type { Spans } from '@nebula/ports';
import type { WorkerEvent } from '@nebula/worker';
import { countOption, definedMembers, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { labelsIn } from '../jobs-file.ts';
import { writeLines } from '../print.ts';
import type { Command } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';

const DEFAULT_CONCURRENCY = 4;
/** How long the last spans may take to be sent when the worker stops. */
const LAST_SPANS_MS = 2_000;

export const execute: Command = async ({ io, services, options }) => {
  const project = await services.openProject(definedMembers({ dataDir: textOption(options, 'dataDir') }));
  const server = textOption(options, 'server') ?? io.env['NEBULA_SERVER'];
  if (server === undefined) {
    throw new NebulaError('SERVER_MISSING', 'no server is given', {
      hint: 'give --server http://127.0.0.1:7777, or set NEBULA_SERVER',
    });
  }
  const token = await tokenOf(io, project.dataDir);
  const tell = (event: WorkerEvent): void => {
    if (options['quiet'] !== true) writeLines(io.err, [lineOf(event, server)]);
  };
  const traces = await openTraces(io.env, (error) => tell({ type: 'trouble', error }));
  const { createWorker } = await import('@nebula/worker');
  const worker = createWorker({
    server,
    actions: await services.actions(project),
    labels: labelsIn(textOption(options, 'labels')) ?? project.config.labels ?? [],
    concurrency: countOption(options, 'concurrency', DEFAULT_CONCURRENCY),
    sandbox: await services.sandbox(project),
    ...definedMembers({ token, workerId: textOption(options, 'id'), project: textOption(options, 'project') }),
    onEvent: tell,
  });
  const interrupt = listenForInterrupt();
  try {
    const running = worker.run();
    const signal = await Promise.race([interrupt.happened, running.then(() => undefined)]);
    await worker.stop();
    return signal === undefined ? EXIT.completed : EXIT.interrupted;
  } finally {
    interrupt.release();
    await traces?.close(LAST_SPANS_MS);
  }
};

/** Exports spans of the actions' own code. The server exports the spans of runs. */
async function openTraces(env: Io['env'], onTrouble: (error: unknown) => void): Promise<Spans | undefined> {
  const { openTelemetry, wantsTraces } = await import('@nebula/drivers/opentelemetry');
  return wantsTraces(env) ? openTelemetry({ resource: { 'service.name': 'nebula-worker' }, onTrouble }) : undefined;
}

async function tokenOf({ env }: Io, dataDir: string): Promise<string | undefined> {
  if (env['NEBULA_TOKEN'] !== undefined) return env['NEBULA_TOKEN'];
  try {
    return (await readFile(path.join(dataDir, 'token'), 'utf8')).trim();
  } catch {
    // The server may be on another machine; it reports a missing token itself.
    return undefined;
  }
}

function lineOf(event: WorkerEvent, server: string): string {
  switch (event.type) {
    case 'ready':
      return `${event.workerId} waits for work from ${server}`;
    case 'refused':
      return `! the server rejected ${event.action}: ${event.message}`;
    case 'started':
      return `${event.work.executionId} ${event.work.node}  ${event.work.action}  attempt ${event.work.attempt}`;
    case 'ended':
      return `${event.work.executionId} ${event.work.node}  ${event.outcome}`;
    case 'trouble':
      return `! ${event.error instanceof Error ? event.error.message : String(event.error)}`;
  }
}
