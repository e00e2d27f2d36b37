/** Rules about keys that depend on each other, which the tables cannot express. */
import { parseDuration } from '../duration.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, memberOf } from '../value.ts';
import { RETRY_POLICIES } from './attempt-keys.ts';
import {
  checkBranch,
  checkCase,
  checkForEach,
  checkKindKeys,
  checkStart,
  checkSubWorkflow,
  checkTerminate,
  checkWait,
  type RuleContext,
} from './kind-rules.ts';
import type { NodeKind, RetryDefinition } from './model.ts';
import { NODE, NODE_KINDS } from './node-keys.ts';
import { checkInterval, checkSchedule, checkSignature, checkTrigger, checkWebhook } from './trigger-rules.ts';

/** By the name of the record. */
export const RULES: Readonly<Record<string, (context: RuleContext) => void>> = {
  node: checkKind,
  edge: checkMatch,
  retry: (context) => {
    checkRetry(context);
    checkAttempts(context);
  },
  backoff: checkRetry,
  branch: checkBranch,
  case: checkCase,
  forEach: checkForEach,
  subWorkflow: checkSubWorkflow,
  wait: checkWait,
  waitOne: checkWait,
  start: checkStart,
  trigger: checkTrigger,
  schedule: checkSchedule,
  interval: checkInterval,
  webhook: checkWebhook,
  signature: checkSignature,
  workflow: checkHasNodes,
  body: checkHasNodes,
};

/** The kind of the node; undefined for a draft that has none or several. */
export function kindOf(node: object): NodeKind | undefined {
  const kinds = NODE_KINDS.filter((kind) => Object.hasOwn(node, kind));
  return kinds.length === 1 ? kinds[0] : undefined;
}

function checkKind(context: RuleContext): void {
  const { value, meant, report } = context;
  const kinds = NODE_KINDS.filter((kind) => Object.hasOwn(value, kind));
  if (kinds.length === 0 && !NODE_KINDS.some((kind) => meant.has(kind))) {
    const hint = `add a kind (${NODE_KINDS.join(', ')}), e.g. ${NODE.keys.action?.example}`;
    report({ code: 'MISSING_KIND', message: 'the node has no kind', hint, at: 'key' });
  }
  const [first, second] = kinds;
  if (first === undefined) return;
  if (second === undefined) {
    checkKindKeys(context, first);
    checkOwnAttempts(context, first);
    if (first === 'terminate') checkTerminate(context);
    return;
  }
  const message = `a node has one kind, but this one has ${kinds.map((kind) => `'${kind}'`).join(' and ')}`;
  const hint = `make it two nodes, or remove '${second}'`;
  report({ code: 'SEVERAL_KINDS', message, hint, path: [second], at: 'key' });
}

function checkMatch({ value, report }: RuleContext): void {
  const on = value.on ?? 'success';
  const hasMatch = Object.hasOwn(value, 'match');
  if (on === 'result' && !hasMatch) {
    const hint = 'add a match, e.g. match: { status: ok }';
    report({ code: 'MISSING_MATCH', message: "an edge with on: result needs 'match'", hint, path: ['on'] });
  }
  if (hasMatch && (on === 'success' || on === 'always')) {
    const hint = "add 'on: error' to match the error, or 'on: result' to match the output";
    report({
      code: 'UNUSED_MATCH',
      message: `'match' has no meaning on an edge with on: ${on}`,
      hint,
      path: ['match'],
      at: 'key',
    });
  }
}

/** The policy, explicit or implied: `delay` alone means fixed, anything else exponential. */
export function retryPolicyOf(retry: RetryDefinition): string {
  return retry.policy ?? (retry.delay !== undefined && retry.initial === undefined ? 'fixed' : 'exponential');
}

function checkRetry(context: RuleContext): void {
  const { value, report } = context;
  const policy = retryPolicyOf(value as RetryDefinition);
  const conflict = (key: string, message: string, hint: string, at: 'key' | 'value' = 'key'): void =>
    report({ code: 'RETRY_CONFLICT', message, hint, path: [key], at });
  if (policy === 'fixed') {
    for (const key of ['initial', 'max', 'multiplier']) {
      const hint =
        key === 'initial' ? "use 'delay', or the policy exponential" : 'use the policy exponential, or remove it';
      if (Object.hasOwn(value, key))
        conflict(key, `'${key}' conflicts with the policy fixed, which always waits 'delay'`, hint);
    }
  } else if (RETRY_POLICIES.some((known) => known === policy) && Object.hasOwn(value, 'delay')) {
    conflict(
      'delay',
      `'delay' conflicts with the policy ${policy}, which starts with 'initial'`,
      "use 'initial', or the policy fixed",
    );
  }
  const initialMs = durationOf(value, 'initial');
  const maxMs = durationOf(value, 'max');
  if (initialMs !== undefined && maxMs !== undefined && maxMs < initialMs) {
    conflict(
      'max',
      `'max' (${String(value.max)}) is shorter than 'initial' (${String(value.initial)})`,
      'swap them, or raise max',
      'value',
    );
  }
}

const WITHOUT_ATTEMPTS = {
  code: 'RETRY_WITHOUT_ATTEMPTS',
  message: "without 'attempts' no error is retried",
  hint: 'add e.g. attempts: 3, which includes the first attempt',
  at: 'key',
} as const;

/** Warns of a retry with delays but without attempts, which never retries an error. */
function checkAttempts({ value, workflow, warn }: RuleContext): void {
  const defaults = defaultAttempts(workflow);
  if (lacksAttempts(value) && (defaults === undefined || defaults === value)) warn(WITHOUT_ATTEMPTS);
}

/** The attempts of the workflow complete a single rule of an action node, but no list and no other kind. */
function checkOwnAttempts({ value: { retry }, workflow, warn }: RuleContext, kind: NodeKind): void {
  if (retry === undefined || defaultAttempts(workflow) === undefined) return;
  if (isJsonList(retry)) {
    for (const [index, rule] of retry.entries()) {
      if (isJsonObject(rule) && lacksAttempts(rule)) warn({ ...WITHOUT_ATTEMPTS, path: ['retry', index] });
    }
  } else if (kind !== 'action' && isJsonObject(retry) && lacksAttempts(retry)) {
    warn({ ...WITHOUT_ATTEMPTS, path: ['retry'] });
  }
}

/** `lost` alone is valid: it limits repeats after crashes. */
function lacksAttempts(retry: JsonObject): boolean {
  return !Object.hasOwn(retry, 'attempts') && Object.keys(retry).some((key) => key !== 'lost');
}

/** The retry of the workflow, if it is a single rule with attempts. */
function defaultAttempts(workflow: JsonObject): JsonObject | undefined {
  const config = memberOf(workflow, 'config');
  const retry = isJsonObject(config) ? memberOf(config, 'retry') : undefined;
  return isJsonObject(retry) && Object.hasOwn(retry, 'attempts') ? retry : undefined;
}

function durationOf(value: JsonObject, key: string): number | undefined {
  const text: Json | undefined = memberOf(value, key);
  const ms = typeof text === 'string' ? parseDuration(text) : undefined;
  return typeof ms === 'number' ? ms : undefined;
}

function checkHasNodes({ record, value, meant, warn }: RuleContext): void {
  if (meant.has('nodes')) return;
  const nodes = memberOf(value, 'nodes');
  // Already reported as a missing key.
  if (record.name === 'body' && nodes === undefined) return;
  if (nodes !== undefined && !(isJsonObject(nodes) && Object.keys(nodes).length === 0)) return;
  const hint = 'add nodes: { first: { action: … } }';
  warn({
    code: 'NO_NODES',
    message: `the ${record.name} has no nodes, so it does nothing`,
    hint,
    path: nodes === undefined ? [] : ['nodes'],
    at: 'key',
  });
}
