/** Commands of `nebula executions` that read one thing and print it. */

import type { QueryOf } from '@nebula/client';
import {
  didYouMean,
  formatDuration,
  idsInOrder,
  NebulaError,
  type RunDocument,
  type RunError,
  type RunStatus,
  type UndoPlan,
} from '@nebula/core';
import type { Explanation } from '@nebula/engine';
import { unlessAbsent, withApi } from '../api.ts';
import { filterOf } from '../bulk.ts';
import { countOption, definedMembers, textOption } from '../command-options.ts';
import { type Links, linkLines, linksOf, present } from '../links.ts';
import { unknownExecution } from '../location.ts';
import { print, printList } from '../print.ts';
import { causeOf } from '../report-runs.ts';
import { stepHere } from '../retry-commands.ts';
import { journalOf, requested, runNamed, timelineOf } from '../runs.ts';
import type { Call, Command } from '../services.ts';
import { readingWidth, type View } from '../terminal/io.ts';
import { printableLine } from '../terminal/width.ts';
import { explanationLines } from '../views/explanation.ts';
import { journalLines } from '../views/journal.ts';
import { tableLines } from '../views/table.ts';
import { timelineEventLines, timelineLines } from '../views/timeline.ts';

/** The number of bars shown without `--all`. */
const MAX_BARS = 100;
const SHA256 = /^[0-9a-f]{64}$/;

type Iterations = QueryOf<'listIterations'>;

const reading = ({ io: { out } }: Call) => ({ colors: out.colors, width: readingWidth(out) });

export const count: Command = (call) =>
  withApi(call, 'read', async ({ api }) => {
    const { counts } = await api.call('countExecutions', { query: filterOf(call.options) });
    const rows = Object.entries(counts).flatMap(([status, runs]) =>
      runs > 0 ? [[status, runs.toLocaleString('en')]] : [],
    );
    return printList(call, { counts }, ['STATUS', { title: 'RUNS', align: 'right' }], rows, 'no run matches');
  });

export const timeline: Command = (call, [executionId = '']) =>
  withApi(call, 'read', async (open) => {
    const { io, options } = call;
    const { colors } = io.out;
    await runNamed(open, executionId);
    const events = await timelineOf(open.api, executionId);
    const maxRows = options.all === true ? {} : { maxRows: MAX_BARS };
    return print(call, { executionId, events }, () =>
      options.events === true
        ? timelineEventLines(events, colors)
        : timelineLines(events, { colors, width: io.out.columns(), now: io.now(), ...maxRows }),
    );
  });

export const iterations: Command = (call, [executionId = '', node = '']) =>
  withApi(call, 'read', async (open) => {
    const { options } = call;
    const cursor = textOption(options, 'cursor');
    const document = await runNamed(open, executionId);
    const status = textOption(options, 'status') as Iterations['status'];
    const query = { node, limit: countOption(options, 'limit', 1_000), ...definedMembers({ cursor, status }) };
    const page = await unlessAbsent(open.api.call('listIterations', { params: { executionId }, query }));
    if (page === undefined) return unknownNode(node, idsInOrder(document));
    const rows = page.items.map(({ iteration, status, startedAt, endedAt, error }) => [
      String(iteration),
      status,
      endedAt === null ? '' : formatDuration(Date.parse(endedAt) - Date.parse(startedAt)),
      printableLine((error as RunError | undefined)?.message ?? ''),
    ]);
    return print(call, page, () => {
      if (rows.length === 0) return [status === undefined ? 'no iteration has begun' : `no iteration is ${status}`];
      const lines = tableLines(
        [{ title: 'ITERATION', align: 'right' }, 'STATUS', 'TOOK', 'ERROR'],
        rows,
        reading(call),
      );
      return page.next === null ? lines : [...lines, call.io.out.colors.dim(`more: --cursor ${page.next}`)];
    });
  });

export const outputs: Command = (call, [executionId = '']) =>
  withApi(call, 'read', async (open) => {
    const { options } = call;
    const query = {
      limit: countOption(options, 'limit', 20),
      ...definedMembers({ cursor: textOption(options, 'cursor') }),
    };
    const listed = open.api.call('listOutputs', { params: { executionId }, query });
    const page = await requested(open, executionId, listed);
    const rows = page.items.map(({ node, status, output, preview, error }) => [
      node,
      status,
      printableLine(error?.code ?? preview ?? (status === 'completed' ? JSON.stringify(output ?? null) : '')),
    ]);
    return print(call, page, () => {
      if (rows.length === 0) return ['no node has ended'];
      const lines = tableLines(['NODE', 'STATUS', 'OUTPUT'], rows, reading(call));
      return page.next === null ? lines : [...lines, call.io.out.colors.dim(`more: --cursor ${page.next}`)];
    });
  });

export const explain: Command = (call, [executionId = '', node]) =>
  withApi(call, 'read', async (open) => {
    const { api } = open;
    const { out } = call.io;
    const document = await runNamed(open, executionId);
    const query = node === undefined ? {} : { node };
    const explained = await unlessAbsent(api.call('explainExecution', { params: { executionId }, query }));
    if (explained === undefined) return unknownNode(node ?? '', idsInOrder(document));
    const explanation = explained as Explanation;
    const next = await Promise.all(explanation.next.map((step) => stepHere(open, step)));
    const links = linksFor(await linksOf(api, document), node);
    const cause = await causeOf(open, { executionId, error: errorOf(document, node) });
    return print(call, { executionId, ...explanation, next, ...present(links) }, () => {
      const view = { colors: out.colors, width: out.columns() };
      const isParked =
        node === undefined && document.status === 'running' && document.finishedAt === null && document.parked;
      const shown = { ...explanation, next, ...(isParked && { status: 'parked' }) };
      const blocks = [explanationLines(shown, view), cause, linkLines(links, view)];
      return blocks.filter((block) => block.length > 0).flatMap((block, at) => (at === 0 ? block : ['', ...block]));
    });
  });

/** The error of the run, or of one of its nodes. */
function errorOf({ error, nodes }: RunDocument, node: string | undefined): RunError | null {
  if (node === undefined) return error;
  const own = Object.hasOwn(nodes, node) ? (nodes[node]?.error ?? null) : null;
  return own && { ...own, node };
}

/** The links of a single node: only the child execution that runs for it. */
function linksFor({ parent, children }: Links, node: string | undefined): Links {
  if (node === undefined) return { parent, children };
  return { parent: null, children: children.filter((child) => child.node === node) };
}

export function unknownNode(node: string, nodes: readonly string[]): never {
  const guess = didYouMean(node, nodes);
  throw new NebulaError('UNKNOWN_NODE', `the run has no node ${node}`, {
    hint: guess === undefined ? `its nodes are ${nodes.slice(0, 10).join(', ')}` : `did you mean ${guess}?`,
  });
}

/** Lists the runs that hold a concurrency key of this run, and those that wait for it, in the order of granting. */
export const permits: Command = (call, [executionId = '', key = '']) =>
  withApi(call, 'read', async (open) => {
    const { colors } = call.io.out;
    const answer = open.api.call('listPermits', { params: { executionId }, query: { key } });
    const { items } = await requested(open, executionId, answer);
    const rows = items.map(({ executionId: id, node, isHeld }) => [
      isHeld ? colors.green('held') : colors.dim('waits'),
      id,
      node === '' ? colors.dim('the run') : printableLine(node),
    ]);
    const none = `no run holds the key ${printableLine(key)} or waits for it`;
    return printList(call, { executionId, key, items }, ['KEY', 'EXECUTION', 'NODE'], rows, none);
  });

/** Prints a large value as it is stored. */
export const value: Command = async (call, [executionId = '', sha256 = '']) => {
  if (!SHA256.test(sha256)) {
    throw new NebulaError('USAGE', 'the name of a large value has 64 hexadecimal digits', {
      hint: 'documents show a large value as { "blob": NAME }',
    });
  }
  return await withApi(call, 'read', async (open) => {
    const bytes = await requested(open, executionId, open.api.blob(executionId, sha256));
    call.io.out.write(new TextDecoder().decode(bytes));
    return 0;
  });
};

export const journal: Command = (call, [executionId = '']) =>
  withApi(call, 'read', async ({ api, project }) => {
    const frames = await journalOf(api, executionId);
    if (frames.length === 0) unknownExecution(project, executionId);
    return print(call, { executionId, frames }, () => journalLines(frames, reading(call)));
  });

/** Shows the compensations that would run, in order, if the run failed or were cancelled now. */
export const undoPlan: Command = (call, [executionId = '']) =>
  withApi(call, 'read', async (open) => {
    const { status } = await runNamed(open, executionId);
    const plan = (await open.api.call('getUndoPlan', { params: { executionId } })) as UndoPlan;
    return print(call, { executionId, status, ...plan }, () => undoPlanLines(status, plan, reading(call)));
  });

export function undoPlanLines(status: RunStatus, { toUndo, undone }: UndoPlan, view: View): string[] {
  const { colors } = view;
  const done =
    undone.length === 0 ? [] : [`${colors.green('✓')} undone already: ${undone.map(printableLine).join(', ')}`];
  if (toUndo.length === 0) {
    const isOver = ['completed', 'failed', 'cancelled', 'timed-out'].includes(status);
    const why = isOver
      ? `the run has ended (${status}): nothing will be undone`
      : 'nothing that can be undone is done yet';
    return [...done, done.length > 0 && isOver ? `the run has ended (${status})` : why];
  }
  const headings = [{ title: '', align: 'right' as const }, 'UNDOES', 'BY', 'WITH'];
  const rows = toUndo.map(({ node, action, with: input, problem }, at) => [
    colors.dim(String(at + 1)),
    colors.bold(printableLine(node)),
    action,
    problem === null
      ? printableLine(JSON.stringify(input))
      : colors.red(printableLine(`cannot be resolved: ${problem}`)),
  ]);
  const when =
    status === 'compensating' ? 'still to be undone:' : 'if the run failed now, this would be undone, in this order:';
  return [...done, when, ...tableLines(headings, rows, view)];
}
