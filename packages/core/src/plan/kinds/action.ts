/** Compiles nodes that run an action, and compensating actions. */
import type { Action, Capabilities } from '../../action.ts';
import { entriesOf, joinCapabilities, narrow, overCeiling } from '../../capability/narrow.ts';
import type { CapabilityList } from '../../capability/pattern.ts';
import type { ActionCall, NodeDefinition } from '../../definition/model.ts';
import { type DocumentPath, didYouMean } from '../../problem.ts';
import type { Json } from '../../value.ts';
import { findAction } from '../actions.ts';
import type { CompileContext } from '../context.ts';
import type { NodeReader } from '../node-reader.ts';
import { checkParameters } from '../parameters.ts';
import type { ActionWork, CompensationPlan } from '../plan.ts';
import { retryPlan, timeoutsOf } from '../retry-plan.ts';
import { routeOf } from '../route.ts';
import { hasSettings } from '../settings.ts';

export function actionWork(reader: NodeReader, action: Action | undefined): ActionWork | undefined {
  const { definition } = reader.parts;
  const parts = callParts(reader, definition, action, []);
  return parts && { kind: 'action', ...parts, effect: definition.effect };
}

/** The action, its parameters and its grants. `keys` lead to the call. */
export function callParts(
  reader: NodeReader,
  call: Pick<ActionCall, 'with'>,
  action: Action | undefined,
  keys: DocumentPath,
  self = false,
): Pick<ActionWork, 'action' | 'with' | 'granted' | 'credentials'> | undefined {
  const { context, definition, path } = reader.parts;
  const parameters = reader.value(call.with ?? {}, [...keys, 'with'], self ? { self, after: true } : undefined);
  if (action === undefined) return undefined;
  checkParameters(context.problems, action, call.with ?? {}, [...path, ...keys, 'with']);
  checkCredentials(reader, action, keys);
  if (!self) checkSecrets(reader);
  if (!self && definition.capabilities !== undefined) {
    checkCeiling(context, definition.capabilities, entryPath([...path, 'capabilities']));
  }
  const { credentials = {} } = definition;
  return { action, with: parameters, granted: grantedTo(context, definition), credentials };
}

/** The capabilities that the node asks for; the ceiling of the run is applied when the node starts. */
function grantedTo({ granted, bound }: CompileContext, { capabilities }: NodeDefinition): Capabilities {
  if (capabilities === undefined) return granted;
  const asked = joinCapabilities(granted, capabilities);
  return bound === undefined ? asked : narrow(asked, bound);
}

export function compensation(reader: NodeReader): CompensationPlan | undefined {
  const { context, definition, path } = reader.parts;
  const { compensate } = definition;
  if (compensate === undefined) return undefined;
  for (const key of ['retry', 'timeout'] as const) {
    if (!hasSettings(key, compensate[key] as Json)) continue;
    const message = `'${key}' of a compensation cannot contain expressions`;
    reader.error('MISPLACED_EXPRESSION', message, 'write the number or duration', ['compensate', key]);
  }
  const action = findAction(context, compensate.action, [...path, 'compensate', 'action']);
  const parts = callParts(reader, compensate, action, ['compensate'], true);
  return (
    parts && {
      ...parts,
      effect: compensate.effect,
      route: routeOf(context.catalog, parts.action, definition.labels),
      retry: retryPlan(compensate.retry, context.defaultRetry, reader, [...path, 'compensate', 'retry']),
      timeouts: timeoutsOf(compensate.timeout),
    }
  );
}

/**
 * Warns of capabilities beyond the ceiling of the project. The definition runs, and access beyond the ceiling is
 * denied.
 */
export function checkCeiling(
  { ceiling, problems }: Pick<CompileContext, 'ceiling' | 'problems'>,
  asked: Capabilities | undefined,
  pathOf: (list: CapabilityList, index: number) => DocumentPath,
): void {
  if (asked === undefined) return;
  for (const { list, entry } of overCeiling(asked, ceiling)) {
    const allowed = ceiling === 'all' ? [] : entriesOf(ceiling, list);
    problems.warning({
      code: 'OVER_CEILING',
      message: `'${entry}' in ${list} exceeds the ceiling of the project, which allows ${allowed.length === 0 ? 'none' : allowed.join(', ')}`,
      hint: `an owner of the project can allow it: nebula projects set PROJECT --allow ${list}=${entry}`,
      path: pathOf(list, entriesOf(asked, list).indexOf(entry)),
    });
  }
}

/** A graph that an action returned uses the secrets of its dynamic node, and no others. */
function checkSecrets(reader: NodeReader): void {
  const { context, definition } = reader.parts;
  if (context.secrets === undefined) return;
  for (const [alias, name] of Object.entries(definition.credentials ?? {})) {
    if (context.secrets.has(name)) continue;
    const message = `the secret '${name}' is not one of the dynamic node that returned this graph`;
    const hint = `add it to the dynamic node: credentials: { ${alias}: ${name} }`;
    reader.error('SECRET_NOT_SHARED', message, hint, ['credentials', alias]);
  }
}

/** The path of an entry in the capabilities at this path. */
export function entryPath(path: DocumentPath): (list: CapabilityList, index: number) => DocumentPath {
  return (list, index) => [...path, ...list.split('.'), index];
}

/** Checks that a node maps a secret to every credential that its action reads. `keys` lead to the action call. */
function checkCredentials(reader: NodeReader, action: Action, keys: DocumentPath): void {
  const { credentials: wanted } = action;
  if (wanted === undefined) return;
  const { credentials: given = {}, compensate, dynamic } = reader.parts.definition;
  const named = Object.keys(given);
  const problemKeys = reader.parts.definition.credentials === undefined ? [...keys, 'action'] : ['credentials'];
  for (const alias of wanted.filter((one) => !named.includes(one))) {
    const message = `${action.id} needs the credential '${alias}', but the node maps no secret to it`;
    reader.error('MISSING_CREDENTIAL', message, `add credentials: { ${alias}: <name of a secret> }`, problemKeys);
  }
  // The compensating action shares the node's credentials, and so does a returned graph: they may read it.
  if (compensate !== undefined || dynamic !== undefined) return;
  for (const alias of named.filter((one) => !wanted.includes(one))) {
    const near = didYouMean(alias, wanted);
    const hint = near === undefined ? 'remove it' : `did you mean '${near}'?`;
    reader.warning(
      'UNUSED_CREDENTIAL',
      `${action.id} never reads the credential '${alias}'`,
      hint,
      ['credentials', alias],
      'key',
    );
  }
}
