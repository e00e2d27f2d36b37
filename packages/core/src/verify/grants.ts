/** Finds actions that need a capability that is not granted; their attempts are certain to be denied. */
import type { Action, Capabilities, Reaches } from '../action.ts';
import { entriesOf, grantLine, patternsOf } from '../capability/narrow.ts';
import { type CapabilityList, isOutOfReach } from '../capability/pattern.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { isJsonObject, type Json, type JsonObject } from '../value.ts';
import { definitionOf, nodePath, type Verification } from './verification.ts';

/**
 * Replaces an expression in a text, because its result is unknown. No host, path or program contains this character.
 */
const OPEN = '\u{E000}';

interface Call {
  readonly action: Action;
  readonly granted: Capabilities;
  readonly parameters: JsonObject;
  readonly path: DocumentPath;
}

export function* checkGrants(verification: Verification, record: GraphRecord): Steps<void> {
  for (const node of record.plan.nodes) {
    yield;
    if (!node.enabled) continue;
    for (const call of callsOf(record, node)) checkCall(verification, node, call);
  }
}

function* callsOf(record: GraphRecord, node: NodePlan): Generator<Call> {
  const { work, compensate } = node;
  const { with: own, dynamic, compensate: undo } = definitionOf(record, node);
  const path = nodePath(record, node);
  if (work.kind === 'action') yield { ...work, parameters: own ?? {}, path: [...path, 'with'] };
  if (work.kind === 'dynamic') yield { ...work, parameters: dynamic?.with ?? {}, path: [...path, 'dynamic', 'with'] };
  if (compensate !== undefined)
    yield { ...compensate, parameters: undo?.with ?? {}, path: [...path, 'compensate', 'with'] };
}

function checkCall({ problems }: Verification, { id }: NodePlan, { action, granted, parameters, path }: Call): void {
  for (const [list, tell] of Object.entries(action.reaches ?? {}) as [
    CapabilityList,
    Reaches<Json>[CapabilityList],
  ][]) {
    const wanted = reachedResource(tell, parameters);
    const entries = entriesOf(granted, list);
    const isDenied = entries.every(
      (entry) => wanted !== undefined && patternsOf(entry).some((pattern) => isOutOfReach(list, pattern, wanted.text)),
    );
    if (!isDenied) continue;
    const asks = `${DOING[list]}${wanted === undefined ? '' : ` ${wanted.text}`}`;
    const has =
      entries.length === 0 ? 'no such capability is granted' : `the grant is ${entries.slice(0, 5).join(', ')}`;
    problems.warning({
      code: 'CAPABILITY_DENIED',
      message: `'${id}' is not allowed to ${asks}: ${has}`,
      hint: `add ${grantLine(list, wanted?.text ?? EXAMPLES[list])}${wanted === undefined ? ', with the entry that the action needs' : ''}`,
      path: wanted?.key === undefined ? path : [...path, wanted.key],
    });
  }
}

const DOING: Readonly<Record<CapabilityList, string>> = {
  network: 'reach',
  'files.read': 'read',
  'files.write': 'write',
  shell: 'run',
  env: 'see',
};

const EXAMPLES: Readonly<Record<CapabilityList, string>> = {
  network: 'api.example.com',
  'files.read': 'data/**',
  'files.write': 'out/**',
  shell: 'git',
  env: 'HOME',
};

/** Returns undefined when the resource depends on expressions. */
function reachedResource(
  tell: ((input: Json) => string | undefined) | undefined,
  parameters: JsonObject,
): { readonly text: string; readonly key: string | undefined } | undefined {
  try {
    const text = tell?.(written(parameters));
    if (typeof text !== 'string' || text.includes(OPEN)) return undefined;
    const key = Object.keys(parameters).find((name) => JSON.stringify(parameters[name]).includes(text));
    return { text, key };
  } catch {
    // `reaches` expects complete parameters.
    return undefined;
  }
}

/** The parameters with a placeholder for everything from the first to the last expression of a text. */
function written(value: Json): Json {
  if (typeof value === 'string') {
    const from = value.indexOf('{{');
    return from < 0
      ? value
      : `${value.slice(0, from)}${OPEN}${value.slice(Math.max(from, value.lastIndexOf('}}')) + 2)}`;
  }
  if (Array.isArray(value)) return value.map(written);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, written(one)]));
}
