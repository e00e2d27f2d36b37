/** Compiles waits: their conditions and their deadline. */
import type { OneWaitDefinition, WaitDefinition } from '../../definition/model.ts';
import { isDate } from '../../expression/library/calendar.ts';
import type { DocumentPath } from '../../problem.ts';
import type { Steps } from '../../steps.ts';
import type { NodeReader } from '../node-reader.ts';
import { checkedSchema } from '../parameters.ts';
import type { WaitPlan, WaitWork } from '../plan.ts';

export function* waitWork(reader: NodeReader, wait: WaitDefinition): Steps<WaitWork> {
  const waits: (WaitPlan | undefined)[] = [];
  if (wait.any === undefined) waits.push(oneWait(reader, wait, ['wait']));
  for (const [index, one] of (wait.any ?? []).entries()) {
    // Each may have a schema of its own.
    yield;
    waits.push(oneWait(reader, one, ['wait', 'any', index]));
  }
  return {
    kind: 'wait',
    waits: waits.filter((one) => one !== undefined),
    deadline: reader.value(wait.deadline, ['wait', 'deadline']),
  };
}

function oneWait(reader: NodeReader, wait: OneWaitDefinition, keys: DocumentPath): WaitPlan | undefined {
  if (wait.for !== undefined) {
    return { kind: 'for', name: 'for', for: reader.value(wait.for, [...keys, 'for']) };
  }
  if (wait.until !== undefined) {
    const at = [...keys, 'until'];
    const until = isDate(wait.until) ? reader.value(wait.until, at) : reader.condition(wait.until, at);
    return { kind: 'until', name: 'until', until };
  }
  if (wait.signal !== undefined) return signalWait(reader, wait, wait.signal, keys);
  if (wait.approval !== undefined) return approvalWait(reader, wait.approval, [...keys, 'approval']);
  if (wait.callback !== true) return undefined;
  reader.parts.context.workflows.uses.callbacks = true;
  return { kind: 'callback', name: 'callback' };
}

function signalWait(reader: NodeReader, wait: OneWaitDefinition, signal: string, keys: DocumentPath): WaitPlan {
  const { context, path } = reader.parts;
  return {
    kind: 'signal',
    name: signal,
    signal,
    key: reader.value(wait.key, [...keys, 'key']),
    check: checkedSchema(context.problems, wait.schema, [...path, ...keys, 'schema']),
  };
}

function approvalWait(
  reader: NodeReader,
  { title, who, form }: NonNullable<OneWaitDefinition['approval']>,
  keys: DocumentPath,
): WaitPlan {
  const { context, path } = reader.parts;
  return {
    kind: 'approval',
    name: 'approval',
    title: reader.value(title, [...keys, 'title']),
    who: reader.value(who, [...keys, 'who']),
    form,
    check: checkedSchema(context.problems, form, [...path, ...keys, 'form']),
  };
}
